/* udf_host.c - a program that applies formulas of its users to its data. Each line of standard input is
 *    name(x, y) = expression
 * or a whole kernel, (x, y) { .. }. The parameters are the columns of the table below, in order. For a line that cannot
 * be used the program prints why, and reads the next one. A formula that does not end is stopped. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ufunc.h>

enum {
    ROWS = 6,
    COLUMNS = 3,
    STEPS = 1000000 /* steps that a formula may take for a row */
};

static const double distance[ROWS] = {0, 0.5, 1, 2.5, 10, 42.195};
static const float speed[ROWS] = {1, 2, 0.25f, 5, 12.5f, 3};
static const int count[ROWS] = {0, 1, 2, -3, 7, 100};

/* Splits "name(x) = e" into a name and a kernel "(x) { return e; }"; any other text is a kernel. The caller frees
 * *kernel. */
static void read_line(char *line, const char **name, char **kernel) {
    char *list = strchr(line, '('), *end = list ? strchr(list, ')') : NULL;
    char *equals = end ? end + 1 + strspn(end + 1, " \t") : NULL;
    size_t size = strlen(line) + sizeof " { return ; }";
    *name = "formula";
    *kernel = malloc(size);
    if (!*kernel)
        abort();
    if (equals && equals[0] == '=' && equals[1] != '=') {
        char *stop = line + strcspn(line, " \t(");
        snprintf(*kernel, size, "%.*s { return %s; }", (int)(end + 1 - list), list,
                 equals + 1 + strspn(equals + 1, " \t"));
        *stop = 0;
        *name = line;
    } else {
        strcpy(*kernel, line);
    }
}

static uf_status apply(const uf_func *formula, const char *name) {
    double result[ROWS];
    DLTensor args[COLUMNS + 1] = {UF_ARRAY(distance, ROWS), UF_ARRAY(speed, ROWS), UF_ARRAY(count, ROWS)};
    uf_description about = {.size = sizeof about};
    /* one thread goes through the rows in their order, so that an error names the first row that has it */
    uf_options options = {.size = sizeof options, .threads = 1};
    uf_status status = uf_describe(formula, &about);
    if (!status && (about.nin > COLUMNS || about.nout != 1)) {
        printf("%s: takes %d columns and returns %d; there are %d to take, and one is to return\n", name, about.nin,
               about.nout, COLUMNS);
        return UF_OK;
    }
    if (!status) {
        args[about.nin] = UF_ARRAY(result, ROWS);
        status = uf_call(formula, about.nin + 1, args, &options);
    }
    if (status)
        return status;
    printf("%s:", name);
    for (int i = 0; i < ROWS; i++)
        printf(" %g", result[i]);
    printf("\n");
    return UF_OK;
}

static void use_line(char *line) {
    const char *name;
    char *kernel;
    uf_func *formula;
    read_line(line, &name, &kernel);
    /* signatures NULL: the formula takes the types that the columns have */
    uf_section section = {.signatures = NULL, .source = kernel};
    uf_status status = uf_define(
        &formula,
        &(uf_definition){
            .size = sizeof(uf_definition), .name = name, .nsections = 1, .sections = &section, .max_steps = STEPS});
    if (!status)
        status = apply(formula, name);
    if (status)
        printf("%s: %s: %s\n", name, uf_status_text(status), uf_last_error()->message);
    uf_free(formula);
    free(kernel);
}

int main(void) {
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, stdin) > 0) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] && line[0] != '#')
            use_line(line);
    }
    free(line);
}
