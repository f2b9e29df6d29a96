/* text_write.c - writes an array of at most two dimensions as text: a row a line, with a character between its numbers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

enum {
    ROOM = 1 << 16
};

static bool put_text(int to, const DLTensor *array, char between) {
    char text[ROOM];
    size_t used = 0;
    int64_t columns = array->ndim == 2 ? array->shape[1] : 1;
    int64_t rows = array->ndim ? array->shape[0] : 1;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            used += (size_t)format_element(array, i * columns + j, text + used);
            text[used++] = j + 1 < columns ? between : '\n';
            if (used + CELL + 1 < sizeof text)
                continue;
            if (!write_all(to, text, used))
                return false;
            used = 0;
        }
    }
    return write_all(to, text, used);
}

bool csv_put(int to, const DLTensor *array, const char *descr) { return (void)descr, put_text(to, array, ','); }
bool tsv_put(int to, const DLTensor *array, const char *descr) { return (void)descr, put_text(to, array, '\t'); }
bool txt_put(int to, const DLTensor *array, const char *descr) { return (void)descr, put_text(to, array, ' '); }
