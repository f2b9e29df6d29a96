/* What the tables of docs/from.md take for granted: arrays, functions of the catalogue, and what is left of a row. */
static float x[6], y[6], r[6], m[3][4], m2[3][4], v[4], w[3], w1[3][1], t[4][3], g[3][3], o[6][6], s;
static double n[6];
static int32_t i[6];
static int64_t k[6], h[8], at;
static bool mask[6];
static uf_func *f;
static DLManagedTensor *managed;
static char *text;
static size_t bytes;
static void *stream;

static uf_func *add, *subtract, *multiply, *sqrt_, *greater, *negative, *sum, *max, *mean, *argmax, *std_, *maximum,
    *vecdot, *matvec, *matmul;
static const struct {
    uf_func **f;
    const char *name;
} functions[] = {{&add, "add"},         {&subtract, "subtract"}, {&multiply, "multiply"}, {&sqrt_, "sqrt"},
                 {&greater, "greater"}, {&negative, "negative"}, {&sum, "sum"},           {&max, "max"},
                 {&mean, "mean"},       {&argmax, "argmax"},     {&std_, "std"},          {&maximum, "maximum"},
                 {&vecdot, "vecdot"},   {&matvec, "matvec"},     {&matmul, "matmul"}};

static void fresh(void) {
    for (size_t j = 0; j < sizeof functions / sizeof *functions; j++)
        if (!*functions[j].f)
            UF_CHECK(uf_load(functions[j].f, functions[j].name));
    static const float some[6] = {0.5f, 3, 1, 4, 1.5f, 5}, others[6] = {2, 7, 1, 8, 2.5f, 9};
    static const int64_t places[6] = {5, 0, 2, 2, 1, 5};
    for (int j = 0; j < 6; j++) {
        x[j] = some[j];
        y[j] = others[j];
        k[j] = places[j];
        r[j] = 0;
    }
    for (int j = 0; j < 12; j++)
        m[j / 4][j % 4] = t[j / 3][j % 3] = (float)j / 2;
    for (int j = 0; j < 8; j++)
        h[j] = 0;
    for (int j = 0; j < 4; j++)
        v[j] = (float)j + 1;
    for (int j = 0; j < 3; j++)
        w[j] = 10 * ((float)j + 1);
    s = 0;
    at = 0;
    memset(m2, 0, sizeof m2);
    memset(w1, 0, sizeof w1);
    memset(g, 0, sizeof g);
    memset(o, 0, sizeof o);
    memset(n, 0, sizeof n);
    memset(i, 0, sizeof i);
    (void)mask, (void)f, (void)managed, (void)text, (void)bytes, (void)stream;
}

static void show(const char *name, DLTensor a) {
    double values[64];
    DLTensor to = a;
    to.data = values;
    to.dtype = UF_DTYPE_OF(values[0]);
    to.strides = NULL;
    UF_CHECK(uf_copy(&to, &a, NULL));
    int64_t count = 1;
    for (int d = 0; d < a.ndim; d++)
        count *= a.shape[d];
    printf("%s", name);
    for (int64_t j = 0; j < count; j++)
        printf(" %.9g", values[j]);
    puts("");
}

#define SHOW(a) show(#a, UF_ARRAY(a))
static inline void dump(void) {
    SHOW(x), SHOW(y), SHOW(r), SHOW(m), SHOW(m2), SHOW(v), SHOW(w), SHOW(w1), SHOW(t), SHOW(g), SHOW(o), SHOW(n),
        SHOW(i), SHOW(k), SHOW(h);
    show("s", UF_OUT(s));
    show("at", UF_OUT(at));
}
