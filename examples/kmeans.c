/* kmeans.c - points in the plane, divided into groups by k-means: one kernel over the points finds the nearest centre of each and adds
 * the point to the sums of that centre's group, another one over the centres takes the means, until no point changes its group.
 * Coordinates are integers, so that the sums are exact in any order, and every engine finds the same groups. The picture has the
 * points in the colours of their groups, and the ways of the centres. Runs on the CPU and, if there is one, on the GPU, and compares
 * both with plain C, bit by bit.
 *    kmeans [FILE.png [POINTS]] */
#include "example.h"
#include "picture.h"

enum {
    GROUPS = 8,
    SIZE = 512, /* of the picture, in pixels */
    FINE = 64,  /* coordinates in a pixel */
    MOST = 100  /* rounds */
};

/* sums[g] has both coordinates and the number of points. */
static const char assign_source[] = UF_SOURCE([i](points, centres, groups, sums, changes) {
    int64 best = 1099511627776, group = 0;
    for (int64 g = 0; g < len(centres); g++) {
        int64 dx = points[i][0] - centres[g][0], dy = points[i][1] - centres[g][1], d = dx * dx + dy * dy;
        group = d < best ? g : group;
        best = min(d, best);
    }
    atomic_add(sums[group][0], points[i][0]);
    atomic_add(sums[group][1], points[i][1]);
    atomic_add(sums[group][2], 1);
    if (groups[i] != group)
        atomic_add(changes[0], 1);
    groups[i] = group;
});

static const char means_source[] = UF_SOURCE([g, axis](sums, centres) {
    if (sums[g][2] > 0)
        centres[g][axis] = sums[g][axis] / sums[g][2];
});

static int64_t n;

/* One round in plain C: how many points changed their group. */
static int64_t round_plainly(int32_t (*points)[2], int32_t (*centres)[2], int32_t *groups) {
    int64_t sums[GROUPS][3] = {{0}}, changes = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t best = INT64_MAX;
        int32_t group = 0;
        for (int32_t g = 0; g < GROUPS; g++) {
            int64_t dx = points[i][0] - centres[g][0], dy = points[i][1] - centres[g][1], d = dx * dx + dy * dy;
            group = d < best ? g : group;
            best = d < best ? d : best;
        }
        for (int axis = 0; axis < 2; axis++)
            sums[group][axis] += points[i][axis];
        sums[group][2]++;
        changes += groups[i] != group;
        groups[i] = group;
    }
    for (int g = 0; g < GROUPS; g++)
        for (int axis = 0; axis < 2 && sums[g][2]; axis++)
            centres[g][axis] = (int32_t)(sums[g][axis] / sums[g][2]);
    return changes;
}

static uint32_t state = 7;
static int32_t draw(int32_t below) {
    state = state * 1664525 + 1013904223;
    return (int32_t)((uint64_t)state * (uint32_t)below >> 32);
}

/* Heaps of points, whose coordinates are means of four random numbers. The first points of the heaps' list are the first centres. */
static void heap_up(int32_t (*points)[2]) {
    int32_t heaps[2 * GROUPS][3], most = SIZE * FINE;
    for (int h = 0; h < 2 * GROUPS; h++)
        for (int axis = 0; axis < 3; axis++)
            heaps[h][axis] = draw(most * 3 / 4);
    for (int64_t i = 0; i < n; i++)
        for (int axis = 0; axis < 2; axis++) {
            const int32_t *heap = heaps[i % (2 * GROUPS)];
            int32_t wide = most / 16 + heap[2] / 6, x = heap[axis] + most / 8;
            for (int k = 0; k < 4; k++)
                x += draw(wide) / 2 - wide / 4;
            points[i][axis] = x < 0 ? 0 : x < most ? x : most - 1;
        }
}

typedef struct way {
    int32_t centres[MOST + 1][GROUPS][2];
    int rounds;
} way;

static void divide(const uf_func *assign, const uf_func *means, DLDevice device, DLTensor points, DLTensor groups,
                   way *w) {
    static const int64_t zeros[GROUPS][3], zero[1];
    int64_t changes[1] = {1};
    DLManagedTensor *p = copy_to(device, points), *g = copy_to(device, groups);
    DLManagedTensor *centres = copy_to(device, UF_ARRAY(w->centres[0])), *sums = copy_to(device, UF_ARRAY(zeros));
    DLManagedTensor *changed = copy_to(device, UF_ARRAY(zero));
    for (w->rounds = 0; changes[0] && w->rounds < MOST; w->rounds++) {
        UF_CHECK(uf_copy(&sums->dl_tensor, &UF_ARRAY(zeros), NULL));
        UF_CHECK(uf_copy(&changed->dl_tensor, &UF_ARRAY(zero), NULL));
        UF_CHECK(UF_FORALL(assign, (n), p->dl_tensor, centres->dl_tensor, g->dl_tensor, sums->dl_tensor,
                           changed->dl_tensor));
        UF_CHECK(UF_FORALL(means, (GROUPS, 2), sums->dl_tensor, centres->dl_tensor));
        UF_CHECK(uf_copy(&UF_ARRAY(w->centres[w->rounds + 1]), &centres->dl_tensor, NULL));
        UF_CHECK(uf_copy(&UF_ARRAY(changes), &changed->dl_tensor, NULL));
    }
    take_back(groups, g);
    p->deleter(p), centres->deleter(centres), sums->deleter(sums), changed->deleter(changed);
}

static void dot(uint8_t *pixels, int64_t y, int64_t x, int half, const uint8_t *colour) {
    for (int64_t i = y - half; i <= y + half; i++)
        for (int64_t j = x - half; j <= x + half; j++)
            if (i >= 0 && i < SIZE && j >= 0 && j < SIZE)
                memcpy(pixels + 3 * (i * SIZE + j), colour, 3);
}

static void paint(uint8_t *pixels, int32_t (*points)[2], const int32_t *groups, const way *w) {
    static const uint8_t colours[GROUPS][3] = {{230, 80, 70},   {80, 160, 230}, {110, 200, 90},  {240, 190, 60},
                                               {180, 110, 220}, {70, 200, 190}, {240, 130, 180}, {150, 150, 150}};
    memset(pixels, 16, 3 * SIZE * SIZE);
    for (int64_t i = 0; i < n; i++)
        dot(pixels, points[i][1] / FINE, points[i][0] / FINE, 0, colours[groups[i]]);
    for (int r = 0; r <= w->rounds; r++)
        for (int g = 0; g < GROUPS; g++)
            dot(pixels, w->centres[r][g][1] / FINE, w->centres[r][g][0] / FINE, r < w->rounds ? 1 : 4,
                (const uint8_t[]){255, 255, 255});
}

int main(int argc, char **argv) {
    n = number(argc, argv, 2, 50000);
    int32_t(*points)[2] = allocate(n, sizeof *points), *groups = allocate(n, sizeof *groups),
    *want = allocate(n, sizeof *want);
    uint8_t *pixels = allocate(SIZE * SIZE, 3);
    static way plain, got;
    heap_up(points);
    for (int g = 0; g < GROUPS; g++)
        memcpy(plain.centres[0][g], points[g % n], sizeof *points);
    double start = seconds();
    for (int64_t changes = 1; changes && plain.rounds < MOST; plain.rounds++) {
        memcpy(plain.centres[plain.rounds + 1], plain.centres[plain.rounds], sizeof plain.centres[0]);
        changes = round_plainly(points, plain.centres[plain.rounds + 1], want);
    }
    printf("kmeans  plain C %8.2f ms\n", 1e3 * (seconds() - start));

    uf_func *assign, *means;
    UF_CHECK(uf_kernel(&assign, "assign", "int32[,], int32[,], int32[], int64[,], int64[]", assign_source));
    UF_CHECK(uf_kernel(&means, "means", "int64[,], int32[,]", means_source));
    DLDevice device;
    for (int k = 0; find_device(k, &device); k++) {
        double took = 0;
        for (int warm = 0; warm < 2; warm++) { /* the first time compiles */
            memset(groups, 0, (size_t)n * sizeof *groups);
            memcpy(got.centres[0], plain.centres[0], sizeof got.centres[0]);
            start = seconds();
            divide(assign, means, device, UF_ARRAY(points[0], n, 2), UF_ARRAY(groups, n), &got);
            took = seconds() - start;
        }
        check(got.rounds == plain.rounds, "how many rounds it took");
        check(memcmp(got.centres, plain.centres, sizeof got.centres) == 0, "the centres");
        check(memcmp(groups, want, (size_t)n * sizeof *groups) == 0, "the groups");
        printf("kmeans  %-7s %8.2f ms, %d rounds\n", name_of(device), 1e3 * took, got.rounds);
    }
    paint(pixels, points, groups, &got);
    write_png(argc > 1 ? argv[1] : "kmeans.png", pixels, SIZE, SIZE, 3);
    uf_free(assign);
    uf_free(means);
    free(points);
    free(groups);
    free(want);
    free(pixels);
}
