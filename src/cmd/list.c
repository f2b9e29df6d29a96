/* list.c - `ufunc list`: the functions and modules of the catalogue, one a line; or all that is known of those given. */
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

static int list_functions(void) {
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

static int list_modules(void) {
    for (int64_t i = 0; uf_catalogue_module(i); i++) {
        uf_module *module;
        uf_module_description d = {.size = sizeof d};
        if (uf_module_load(&module, uf_catalogue_module(i)) || uf_module_describe(module, &d))
            return library_failed(LIST);
        printf("%-18s %-26s ", d.name, "module");
        print_sentence(d.doc);
        uf_module_free(module);
    }
    return DONE;
}

static int list_catalogue(void) {
    int status = list_functions();
    return status == DONE ? list_modules() : status;
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

static bool is_module(const char *what) {
    for (int64_t i = 0; uf_catalogue_module(i); i++)
        if (strcmp(uf_catalogue_module(i), what) == 0)
            return true;
    return false;
}

static int describe_module(const char *what) {
    uf_module *module;
    uf_module_description d = {.size = sizeof d};
    if (uf_module_load(&module, what) || uf_module_describe(module, &d))
        return library_failed(LIST);
    printf("%-12s%s\n", "module", d.name);
    print_value("doc", d.doc, "\n");
    print_value("records", d.records, ";");
    print_value("helpers", d.helpers, "\n");
    uf_module_free(module);
    return DONE;
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
        status = is_module(j->inputs[i]) ? describe_module(j->inputs[i]) : describe(j->inputs[i]);
    }
    return status;
}
