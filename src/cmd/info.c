/* info.c - `ufunc info`: which libraries and devices were found on this machine, where, in which version, and what is
 * missing. */
#include <getopt.h>
#include <stddef.h>

#include "cmd.h"

int run_info(int argc, char **argv) {
    static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {0}};
    opterr = 0;
    switch (getopt_long(argc, argv, "h", options, NULL)) {
    case 'h':
        return print_usage("info");
    case '?':
        return bad_usage("info", "unknown option \"%s\"", argv[optind - 1]);
    }
    if (optind < argc)
        return bad_usage("info", "unexpected \"%s\"", argv[optind]);
    char *text;
    return uf_system_info(&text) ? library_failed() : print_text(text);
}
