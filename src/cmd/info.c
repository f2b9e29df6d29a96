/* info.c - `ufunc info`: which libraries and devices were found on this machine, where, in which version, and what is
 * missing. */
#include "cmd.h"

int run_info(const job *j) {
    char *text;
    return uf_system_info(&text) ? library_failed(j->verb->bit) : print_text(text);
}
