/* mandelbrot.c - the Mandelbrot set as an elementwise function of (x, y, limit): a row of x, a column of y and a number
 * broadcast to a picture. Runs on the CPU and, if there is one, on the GPU, and compares both with plain C, pixel by
 * pixel.
 *
 *    mandelbrot [FILE.png [WIDTH HEIGHT LIMIT]] */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ufunc.h>

static const char source[] = UF_SOURCE((x, y, limit) {
    float64 re = 0, im = 0;
    for (int32 i = 0; i < limit; i++) {
        float64 t = re * re - im * im + x;
        im = 2 * re * im + y;
        re = t;
        if (re * re + im * im >= 4)
            return 255 * i / limit;
    }
    return 255;
});

static uint8_t in_plain_c(double x, double y, int limit) {
    double re = 0, im = 0;
    for (int i = 0; i < limit; i++) {
        double t = re * re - im * im + x;
        im = 2 * re * im + y;
        re = t;
        if (re * re + im * im >= 4)
            return (uint8_t)(255 * i / limit);
    }
    return 255;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *allocate(int64_t size) {
    void *block = size > 0 ? calloc((size_t)size, 1) : NULL;
    if (!block)
        exit(1);
    return block;
}

static double *spread(double from, double to, int64_t n) {
    double *points = allocate(n * (int64_t)sizeof *points);
    for (int64_t i = 0; i < n; i++)
        points[i] = from + (to - from) * (double)i / (double)n;
    return points;
}

/* The time of one call in seconds: the best of three rounds, each long enough for the clock. */
static double call_time(const uf_func *mandelbrot, const DLTensor args[4]) {
    double best = 1e9, start = seconds();
    UF_CHECK(uf_call(mandelbrot, 4, args, NULL)); /* the first call compiles */
    UF_CHECK(uf_sync(args[3].device, NULL));
    int repeat = 1 + (int)(0.05 / (seconds() - start + 1e-6));
    for (int round = 0; round < 3; round++) {
        start = seconds();
        for (int i = 0; i < repeat; i++)
            UF_CHECK(uf_call(mandelbrot, 4, args, NULL));
        UF_CHECK(uf_sync(args[3].device, NULL));
        double time = (seconds() - start) / repeat;
        best = time < best ? time : best;
    }
    return best;
}

/* Computes the picture on the GPU into host[3], and sets *time; says why, if there is no GPU. */
static void on_gpu(const uf_func *mandelbrot, const DLTensor host[4], double *time) {
    const DLDevice gpu = {kDLCUDA, 0};
    DLManagedTensor *x, *y, *picture;
    if (uf_empty(&x, gpu, host[0].dtype, host[0].ndim, host[0].shape)) {
        const char *why = uf_last_error()->message;
        printf("cuda:0   left out: %.*s\n", (int)strcspn(why, "\n"), why);
        return;
    }
    UF_CHECK(uf_empty(&y, gpu, host[1].dtype, host[1].ndim, host[1].shape));
    UF_CHECK(uf_empty(&picture, gpu, host[3].dtype, host[3].ndim, host[3].shape));
    UF_CHECK(uf_copy(&x->dl_tensor, &host[0], NULL));
    UF_CHECK(uf_copy(&y->dl_tensor, &host[1], NULL));
    const DLTensor args[4] = {x->dl_tensor, y->dl_tensor, host[2], picture->dl_tensor};
    *time = call_time(mandelbrot, args);
    memset(host[3].data, 0, (size_t)(host[3].shape[0] * host[3].shape[1]));
    UF_CHECK(uf_copy(&host[3], &picture->dl_tensor, NULL));
    x->deleter(x);
    y->deleter(y);
    picture->deleter(picture);
}

static void report(const char *device, double time, double plain_time, const uint8_t *picture, const uint8_t *plain,
                   int64_t width, int64_t height) {
    for (int64_t i = 0; i < width * height; i++)
        if (picture[i] != plain[i]) {
            fprintf(stderr, "mandelbrot: %s: pixel (%lld, %lld) is %d, in plain C %d\n", device, (long long)(i % width),
                    (long long)(i / width), picture[i], plain[i]);
            exit(1);
        }
    printf("%-8s %10.1f Mpixel/s  %7.1f x plain C\n", device, (double)(width * height) / time / 1e6, plain_time / time);
}

int main(int argc, char **argv) {
    const char *file = argc > 1 ? argv[1] : "mandelbrot.png";
    int64_t width = argc > 2 ? atoi(argv[2]) : 3072, height = argc > 3 ? atoi(argv[3]) : 2048;
    int limit = argc > 4 ? atoi(argv[4]) : 100;
    double *x = spread(-2, 1, width), *y = spread(-1, 1, height);
    uint8_t *plain = allocate(width * height), *picture = allocate(width * height);

    double start = seconds();
    for (int64_t row = 0; row < height; row++)
        for (int64_t column = 0; column < width; column++)
            plain[row * width + column] = in_plain_c(x[column], y[row], limit);
    double plain_time = seconds() - start, gpu_time = 0;
    printf("Mandelbrot set, %lld x %lld, %d iterations, float64\n", (long long)width, (long long)height, limit);
    report("plain C", plain_time, plain_time, plain, plain, width, height);

    uf_func *mandelbrot;
    UF_CHECK(uf_vectorize(&mandelbrot, "mandelbrot", "float64,float64,int32->uint8", source));
    const DLTensor args[4] = {UF_ARRAY(x, width), UF_ARRAY(y, height, 1), UF_SCALAR(limit),
                              UF_ARRAY(picture, height, width)};
    double cpu_time = call_time(mandelbrot, args);
    report("cpu", cpu_time, plain_time, picture, plain, width, height);
    on_gpu(mandelbrot, args, &gpu_time);
    if (gpu_time > 0)
        report("cuda:0", gpu_time, plain_time, picture, plain, width, height);
    uf_free(mandelbrot);

    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = (png_uint_32)width,
                       .height = (png_uint_32)height,
                       .format = PNG_FORMAT_GRAY};
    if (!png_image_write_to_file(&image, file, 0, picture, 0, NULL)) {
        fprintf(stderr, "mandelbrot: %s: %s\n", file, image.message);
        exit(1);
    }
    printf("wrote %s\n", file);
    free(x);
    free(y);
    free(plain);
    free(picture);
}
