/* places.c - cities of a CSV file: the distances between all of them, by the haversine formula in an elementwise function of rows and
 * columns; the neighbour of each and the pair farthest apart, by reductions; which lie in a polygon, by a generalized ufunc over its
 * corners. The picture is a map of the world, the brighter the nearer the next city is, with the polygon in green. Runs on the CPU
 * and, if there is one, on the GPU, and compares both with plain C.
 *    places [FILE.csv [FILE.png]] */
#include "example.h"
#include "picture.h"
#include <math.h>

/* Angles are in degrees, distances in km. A polygon's edge counts if it crosses the meridian south of a point; a point in the polygon
 * has an odd number of these. */
#define GEOGRAPHY                                                                                         \
    "const degree = M_PI / 180, radius = 6371.0088;\n"                                                    \
    "square(x) { return x * x; }\n"                                                                       \
    "distance(lat, lon, lat2, lon2) {\n"                                                                  \
    "    auto h = square(sin(0.5 * degree * (lat2 - lat)))\n"                                             \
    "           + cos(degree * lat) * cos(degree * lat2) * square(sin(0.5 * degree * (lon2 - lon)));\n"   \
    "    return 2 * radius * asin(min(sqrt(h), 1));\n"                                                    \
    "}\n"                                                                                                 \
    "crosses(lat, lon, lat2, lon2, y, x) {\n"                                                             \
    "    return (lon > x) != (lon2 > x) && y > lat + (lat2 - lat) * (x - lon) / (lon2 - lon);\n"          \
    "}\n"                                                                                                 \
    "inside(corner[k][d], y, x) {\n"                                                                      \
    "    auto edges = sum(i : k, crosses(corner[i][0], corner[i][1], corner[i < k - 1 ? i + 1 : 0][0],\n" \
    "                                    corner[i < k - 1 ? i + 1 : 0][1], y, x));\n"                     \
    "    return edges % 2 == 1;\n"                                                                        \
    "}\n"

static const char distance_source[] = GEOGRAPHY "(lat, lon, lat2, lon2) { return distance(lat, lon, lat2, lon2); }";
static const char inside_source[] = GEOGRAPHY "(corners, y, x) -> (in) { in = inside(corners, y, x); }";
static const char paint_source[] =
    GEOGRAPHY "[row : rows, column : columns](lat, lon, corners, pixels) {\n"
              "    auto y = 90 - 180 * (row + 0.5) / rows, x = 360 * (column + 0.5) / columns - 180;\n"
              "    auto next = min(i : len(lat), distance(lat[i], lon[i], y, x));\n"
              "    pixels[row][column][0] = 255 * exp(-next / 300);\n"
              "    pixels[row][column][1] = 255 * exp(-next / 900) * 0.6 + (inside(corners, y, x) ? 60 : 0);\n"
              "    pixels[row][column][2] = 255 * exp(-next / 2500);\n"
              "}";

enum {
    MOST = 1000,
    ROWS = 300,
    COLUMNS = 600
};

static struct { char name[40]; } cities[MOST];
static double latitude[MOST], longitude[MOST];
static int64_t n;

/* Africa, roughly. */
enum {
    CORNERS = 27
};
static const double corners[CORNERS][2] = {
    {36.1, -5.9},  {37.5, 9.9},   {37.3, 11.2},  {33.2, 11.8}, {32.9, 22},    {31.4, 29.9},  {31.4, 32.4},
    {27.5, 34.1},  {22, 37},      {15, 39.8},    {11.8, 43.2}, {11.9, 51.3},  {2, 45.6},     {-4.5, 39.9},
    {-15, 40.9},   {-25.9, 33.2}, {-29.9, 31.2}, {-34.4, 26},  {-35, 20},     {-34.5, 18.2}, {-22.9, 14.3},
    {-12.5, 13.2}, {-1, 8.8},     {4, 6.1},      {4.2, -7.7},  {14.7, -17.9}, {27.7, -13.2}};

static void read_cities(const char *path) {
    char line[256];
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(1);
    }
    check(fgets(line, sizeof line, file) && strcmp(line, "city,country,latitude,longitude\n") == 0,
          "the head of the file");
    for (n = 0; n < MOST && fgets(line, sizeof line, file); n++)
        check(sscanf(line, "%39[^,],%*[^,],%lf,%lf", cities[n].name, &latitude[n], &longitude[n]) == 3, line);
    fclose(file);
    check(n > 1, "there are two cities");
}

static double distance_plainly(double lat, double lon, double lat2, double lon2) {
    const double degree = acos(-1) / 180;
    double a = sin(0.5 * degree * (lat2 - lat)), b = sin(0.5 * degree * (lon2 - lon));
    return 2 * 6371.0088 * asin(fmin(sqrt(a * a + cos(degree * lat) * cos(degree * lat2) * b * b), 1));
}

static bool inside_plainly(double y, double x) {
    bool in = false;
    for (int i = 0; i < CORNERS; i++) {
        double lat = corners[i][0], lat2 = corners[(i + 1) % CORNERS][0];
        double lon = corners[i][1], lon2 = corners[(i + 1) % CORNERS][1];
        if ((lon > x) != (lon2 > x) && y > lat + (lat2 - lat) * (x - lon) / (lon2 - lon))
            in = !in;
    }
    return in;
}

static void paint_plainly(int64_t row, int64_t column, double *colour) {
    double y = 90 - 180 * ((double)row + 0.5) / ROWS, x = 360 * ((double)column + 0.5) / COLUMNS - 180, next = INFINITY;
    for (int64_t i = 0; i < n; i++)
        next = fmin(next, distance_plainly(latitude[i], longitude[i], y, x));
    colour[0] = 255 * exp(-next / 300);
    colour[1] = 255 * exp(-next / 900) * 0.6 + (inside_plainly(y, x) ? 60 : 0);
    colour[2] = 255 * exp(-next / 2500);
}

static void check_all(const double *distances, const int64_t *nearest, int64_t farthest, const bool *in,
                      const uint8_t *pixels) {
    int64_t far = 1;
    for (int64_t i = 0; i < n; i++) {
        int64_t near = i ? 0 : 1;
        for (int64_t j = 0; j < n; j++) {
            if (j == i)
                continue;
            const double *row = distances + i * n;
            check(fabs(row[j] - distance_plainly(latitude[i], longitude[i], latitude[j], longitude[j])) < 1e-6,
                  "a distance");
            near = row[j] < row[near] ? j : near;
            far = row[j] > distances[far] ? i * n + j : far;
        }
        check(nearest[i] == near, "a neighbour");
        check(in[i] == inside_plainly(latitude[i], longitude[i]), "in the polygon");
    }
    check(farthest == far, "the pair farthest apart");
    for (int64_t p = 0; p < ROWS * COLUMNS; p += 13) {
        double colour[3];
        paint_plainly(p / COLUMNS, p % COLUMNS, colour);
        for (int c = 0; c < 3; c++)
            check(fabs(pixels[3 * p + c] - floor(colour[c])) <= 1, "the picture");
    }
}

int main(int argc, char **argv) {
    read_cities(argc > 1 ? argv[1] : "examples/cities.csv");
    double *distances = allocate(n * n, sizeof *distances);
    int64_t *nearest = allocate(n, sizeof *nearest), farthest = 0;
    bool *in = allocate(n, sizeof *in);
    uint8_t *pixels = allocate(ROWS * COLUMNS, 3);

    uf_func *distance, *inside, *paint, *argmin, *argmax, *positive;
    UF_CHECK(uf_vectorize(&distance, "distance", "float64,float64,float64,float64->float64", distance_source));
    UF_CHECK(uf_guvectorize(&inside, "inside", "(k,2),(),()->()", "float64,float64,float64->bool", inside_source));
    UF_CHECK(uf_kernel(&paint, "paint", "float64[], float64[], float64[,], uint8[,,]", paint_source));
    UF_CHECK(uf_load(&argmin, "argmin"));
    UF_CHECK(uf_load(&argmax, "argmax"));
    UF_CHECK(uf_load(&positive, "positive"));

    DLDevice device;
    for (int k = 0; find_device(k, &device); k++) {
        DLManagedTensor *lat = copy_to(device, UF_ARRAY(latitude, n)), *lon = copy_to(device, UF_ARRAY(longitude, n));
        DLManagedTensor *polygon = copy_to(device, UF_ARRAY(corners));
        DLManagedTensor *table = copy_to(device, UF_ARRAY(distances, n, n));
        DLManagedTensor *near = copy_to(device, UF_ARRAY(nearest, n)), *far = copy_to(device, UF_OUT(farthest));
        DLManagedTensor *within = copy_to(device, UF_ARRAY(in, n)),
                        *map = copy_to(device, UF_ARRAY(pixels, ROWS, COLUMNS, 3));
        DLTensor y = lat->dl_tensor, x = lon->dl_tensor, column_y = y, column_x = x;
        column_y.ndim = column_x.ndim = 2; /* the same as columns, of n rows */
        column_y.shape = column_x.shape = (int64_t[]){n, 1};
        column_y.strides = column_x.strides = NULL;

        DLTensor diagonal = table->dl_tensor;
        diagonal.ndim = 1;
        diagonal.shape = (int64_t[]){n};
        diagonal.strides = (int64_t[]){n + 1};

        double start = seconds();
        UF_CHECK(UF_CALL(distance, column_y, column_x, y, x, table->dl_tensor));
        UF_CHECK(UF_REDUCE(argmax, table->dl_tensor, far->dl_tensor));
        UF_CHECK(UF_CALL(positive, UF_SCALAR(INFINITY), diagonal)); /* no city is its own neighbour */
        UF_CHECK(UF_REDUCE(argmin, table->dl_tensor, near->dl_tensor, .axis = 1));
        UF_CHECK(UF_CALL(inside, polygon->dl_tensor, y, x, within->dl_tensor));
        UF_CHECK(UF_FORALL(paint, (ROWS, COLUMNS), y, x, polygon->dl_tensor, map->dl_tensor));
        UF_CHECK(uf_sync(device, NULL));
        double took = seconds() - start;

        take_back(UF_ARRAY(distances, n, n), table);
        take_back(UF_ARRAY(nearest, n), near);
        take_back(UF_OUT(farthest), far);
        take_back(UF_ARRAY(in, n), within);
        take_back(UF_ARRAY(pixels, ROWS, COLUMNS, 3), map);
        lat->deleter(lat), lon->deleter(lon), polygon->deleter(polygon);
        check_all(distances, nearest, farthest, in, pixels);
        printf("places  %-7s %8.2f ms, all of it and their compilation\n", name_of(device), 1e3 * took);
    }
    int64_t counted = 0, loneliest = 0;
    for (int64_t i = 0; i < n; i++) {
        counted += in[i];
        if (distances[i * n + nearest[i]] > distances[loneliest * n + nearest[loneliest]])
            loneliest = i;
    }
    printf("places  %lld of %lld cities are in the polygon\n", (long long)counted, (long long)n);
    printf("places  farthest apart: %s and %s, %.0f km\n", cities[farthest / n].name, cities[farthest % n].name,
           distances[farthest]);
    printf("places  farthest from the next one: %s, %.0f km from %s\n", cities[loneliest].name,
           distances[loneliest * n + nearest[loneliest]], cities[nearest[loneliest]].name);
    write_png(argc > 2 ? argv[2] : "places.png", pixels, ROWS, COLUMNS, 3);
    uf_func *all[] = {distance, inside, paint, argmin, argmax, positive};
    for (int i = 0; i < 6; i++)
        uf_free(all[i]);
    free(distances);
    free(nearest);
    free(in);
    free(pixels);
}
