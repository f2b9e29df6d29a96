/* docs/tour.md: the functions of the tour, and arrays for its calls. */
enum {
    nimages = 2
};
static float pictures[nimages][3][4], totals[nimages][3], batch[5][3][3], one[3][3], partly[5][3][3];
static void *pixels[nimages] = {pictures[0], pictures[1]}, *results[nimages] = {totals[0], totals[1]};
static struct { float r, g, b; } sky[4], sea[4], out[4];
static int64_t places[3];
static int64_t wide[] = {3, 4}, high[] = {3}, many[] = {5, 3, 3}, square[] = {3, 3};
static DLTensor image, sums, matrices, matrix, partial, rows;
static uf_func *product, *histogram, *darts, *add;
static void *stream;

static DLTensor array(void *data, int ndim, int64_t *shape) {
    return (DLTensor){.data = data, .device = {kDLCPU, 0}, .ndim = ndim, .dtype = {kDLFloat, 32, 1}, .shape = shape};
}

/* `matrix` is what each block takes it for: the rows of one, or the product of many. */
static void fresh(void) {
    static int blocks;
    image = array(pictures, 2, wide);
    sums = array(totals, 1, high);
    matrices = array(batch, 3, many);
    partial = array(partly, 3, many);
    matrix = ++blocks == 2 ? image : array(one, 2, square);
    rows = array(places, 1, high);
    rows.dtype = (DLDataType){kDLInt, 64, 1};
    if (!add)
        UF_CHECK(uf_load(&add, "add"));
    (void)product, (void)histogram, (void)darts, (void)stream, (void)pixels, (void)results, (void)sky, (void)sea,
        (void)out;
}
