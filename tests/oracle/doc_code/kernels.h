/* docs/kernels.md */
static int64_t n = 3, m = 4, extents[2] = {3, 4};
static float A[3][4], x[4], y[3], u[3][4], v[3][4];
static uf_func *step, *shift;
static DLTensor args[3];

static void fresh(void) {
    static float k = 0.1f;
    static int64_t plate[2] = {3, 4};
    (void)n, (void)m, (void)A, (void)x, (void)y, (void)shift;
    if (!step)
        UF_CHECK(
            uf_kernel(&step, "step", "float32[,], float32[,], float32", "[i, j](u, v, k) { v[i][j] = k * u[i][j]; }"));
    args[0] = (DLTensor){.data = u, .device = {kDLCPU, 0}, .ndim = 2, .dtype = {kDLFloat, 32, 1}, .shape = plate};
    args[1] = args[0];
    args[1].data = v;
    args[2] = (DLTensor){.data = &k, .device = {kDLCPU, 0}, .dtype = {kDLFloat, 32, 1}};
}
