/* list.c - `ufunc list`: the functions of the catalogue, one a line; or all that is known of the given functions. */
#include <stdio.h>
#include <string.h>

#include "cmd.h"

/* Prints the first sentence of a text and ends the line. */
static void print_sentence(const char *text) {
    for (; *text; text++) {
        putchar(*text == '\n' ? ' ' : *text);
        if (*text == '.' && strchr(" \n", text[1])) /* also at the end of the text */
            break;
    }
    putchar('\n');
}

static int list_catalogue(void) {
    for (int64_t i = 0; uf_catalogue(i); i++) {
        uf_func *func;
        uf_description d = {.size = sizeof d};
        if (uf_load(&func, uf_catalogue(i)))
            return library_failed(LIST);
        if (uf_describe(func, &d)) {
            uf_free(func);
            return library_failed(LIST);
        }
        printf("%-18s %-26s ", d.name, d.layout ? d.layout : d.kind);
        print_sentence(d.doc);
        uf_free(func);
    }
    return DONE;
}

/* Prints a value that has several parts, which characters of `ends` end: the first part beside the label, the others
 * below it. */
static void print_value(const char *label, const char *text, const char *ends) {
    for (size_t length; *text; text += length + strspn(text + length, "; \n")) {
        length = strcspn(text, ends);
        printf("%-12s%.*s\n", label, (int)length, text);
        label = "";
    }
}

static const char *order_name(unsigned order) {
    return order & UF_SERIAL ? "as a left fold" : order & UF_ORDERED ? "in order" : "in any order";
}

static int describe(const char *what) {
    uf_func *func;
    uf_description d = {.size = sizeof d};
    if (uf_load(&func, what))
        return library_failed(LIST);
    if (uf_describe(func, &d)) {
        uf_free(func);
        return library_failed(LIST);
    }
    printf("%-12s%s\n", d.kind, d.name);
    if (d.layout)
        printf("layout      %s\n", d.layout);
    if (d.nstate)
        printf("reduces     %s, identity %s\n", order_name(d.order), d.identity ? d.identity : "none");
    print_value("doc", d.doc, "\n");
    print_value(strcmp(d.kind, "kernel") ? "signatures" : "parameters", d.signatures ? d.signatures : "any types", ";");
    uf_free(func);
    return DONE;
}

int run_list(const job *j) {
    int status = j->ninputs ? DONE : list_catalogue();
    for (int i = 0; status == DONE && i < j->ninputs; i++) {
        if (i)
            printf("\n");
        status = describe(j->inputs[i]);
    }
    return status;
}
