/* docs/function-files.md: a file that a program reads. */
#include <sys/stat.h>

static void fresh(void) {
    mkdir("filters", 0777);
    FILE *file = fopen("filters/blur.uf", "w");
    if (!file)
        abort();
    fputs("gufunc blur\nlayout (n)->(n)\nsignatures f->f\nkernel (x) -> (y) { forall (i : n) y[i] = (x[i > 0 ? i - 1 : "
          "0] + x[i]) / 2; }\n",
          file);
    fclose(file);
}
