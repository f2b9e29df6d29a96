/* docs/guide.md: functions of the catalogue that its pieces use. */
static uf_func *add, *multiply, *negative, *sum;

static void fresh(void) {
    if (add)
        return;
    UF_CHECK(uf_load(&add, "add"));
    UF_CHECK(uf_load(&multiply, "multiply"));
    UF_CHECK(uf_load(&negative, "negative"));
    UF_CHECK(uf_load(&sum, "sum"));
}
