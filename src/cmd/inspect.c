/* inspect.c - `ufunc inspect`: registers a kernel, or loads a function, and shows the code it is compiled to. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

typedef struct request {
    const char *kernel, *what; /* one of them */
    const char *signatures, *layout, *types;
    DLDevice device;
    uf_view view;
    unsigned fast, flags;
    int max_registers;
} request;

static const struct option options[] = {
    {"expression", required_argument, NULL, 'e'},
    {"signatures", required_argument, NULL, 's'},
    {"layout", required_argument, NULL, 'l'},
    {"types", required_argument, NULL, 't'},
    {"device", required_argument, NULL, 'd'},
    {"view", required_argument, NULL, 'v'},
    {"fast", no_argument, NULL, 'f'},
    {"debug", no_argument, NULL, 'g'},
    {"max-registers", required_argument, NULL, 'r'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static const struct {
    const char *name;
    uf_view view;
} views[] = {
    {"tree", UF_VIEW_TREE},         {"ir", UF_VIEW_IR},
    {"ptx", UF_VIEW_PTX},           {"asm", UF_VIEW_ASSEMBLY},
    {"assembly", UF_VIEW_ASSEMBLY}, {"resources", UF_VIEW_RESOURCES},
};

static bool read_view(const char *name, uf_view *out) {
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        if (strcmp(views[i].name, name) == 0) {
            *out = views[i].view;
            return true;
        }
    return false;
}

static bool read_count(const char *text, int *out) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    *out = (int)value;
    return *text >= '0' && *text <= '9' && !*end && !errno && value <= INT_MAX;
}

/* cpu, cuda, cuda:N, sm_NN. */
static bool read_device(const char *name, DLDevice *out) {
    int n = 0;
    if (strcmp(name, "cpu") == 0)
        *out = (DLDevice){kDLCPU, 0};
    else if (strcmp(name, "cuda") == 0)
        *out = (DLDevice){kDLCUDA, 0};
    else if (strncmp(name, "cuda:", 5) == 0 && read_count(name + 5, &n))
        *out = (DLDevice){kDLCUDA, n};
    else if (strncmp(name, "sm_", 3) == 0 && read_count(name + 3, &n) && n > 0)
        *out = (DLDevice){kDLCUDA, -n};
    else
        return false;
    return true;
}

/* One option into the request: DONE, HELP or BAD_USAGE. */
static int take_option(request *r, int option, char **argv) {
    switch (option) {
    case 'e':
        r->kernel = optarg;
        return DONE;
    case 's':
        r->signatures = optarg;
        return DONE;
    case 'l':
        r->layout = optarg;
        return DONE;
    case 't':
        r->types = optarg;
        return DONE;
    case 'd':
        return read_device(optarg, &r->device) ? DONE : bad_usage("inspect", "unknown device \"%s\"", optarg);
    case 'v':
        return read_view(optarg, &r->view) ? DONE : bad_usage("inspect", "unknown view \"%s\"", optarg);
    case 'f':
        r->fast = UF_FAST_ALL;
        return DONE;
    case 'g':
        r->flags |= UF_DEBUG;
        return DONE;
    case 'r':
        return read_count(optarg, &r->max_registers) ? DONE
                                                     : bad_usage("inspect", "\"%s\" is no number of registers", optarg);
    case 'h':
        return HELP;
    case ':':
        return bad_usage("inspect", "option \"%s\" needs a value", argv[optind - 1]);
    default:
        return bad_usage("inspect", "unknown option \"%s\"", argv[optind - 1]);
    }
}

static int read_arguments(request *r, int argc, char **argv) {
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":e:s:l:t:d:v:fgr:h", options, NULL)) != -1;) {
        int status = take_option(r, option, argv);
        if (status != DONE)
            return status;
    }
    if (!r->kernel && optind < argc)
        r->what = argv[optind++];
    return optind < argc ? bad_usage("inspect", "unexpected \"%s\"", argv[optind]) : DONE;
}

/* The content of a file, NUL-terminated; NULL with errno set. */
static char *read_all(FILE *from) {
    size_t length = 0, capacity = 4096;
    char *content = malloc(capacity);
    while (content) {
        length += fread(content + length, 1, capacity - 1 - length, from);
        if (length < capacity - 1)
            break;
        char *larger = realloc(content, capacity *= 2);
        if (!larger)
            free(content);
        content = larger;
    }
    if (content && ferror(from)) {
        free(content);
        return NULL;
    }
    if (content)
        content[length] = 0;
    return content;
}

static char *read_file(const char *path) {
    bool standard = strcmp(path, "-") == 0;
    FILE *from = standard ? stdin : fopen(path, "r");
    char *content = from ? read_all(from) : NULL;
    int error = errno;
    if (from && !standard)
        fclose(from);
    errno = error;
    return content;
}

static int show(const request *r, uf_func *func) {
    char *text;
    int status = uf_inspect(func, r->types, r->device, r->view, &text) ? library_failed() : print_text(text);
    uf_free(func);
    return status;
}

static int show_kernel(const request *r, const char *source) {
    uf_func *func;
    uf_section section = {.signatures = r->signatures, .source = source};
    uf_definition definition = {.size = sizeof definition,
                                .name = "kernel",
                                .nsections = 1,
                                .sections = &section,
                                .fast = r->fast,
                                .flags = r->flags,
                                .max_registers = r->max_registers,
                                .layout = r->layout};
    return uf_define(&func, &definition) ? library_failed() : show(r, func);
}

static int show_file(const request *r) {
    char *source = read_file(r->what);
    if (!source)
        return failed("%s: %s", r->what, strerror(errno));
    int status = show_kernel(r, source);
    free(source);
    return status;
}

static int show_loaded(const request *r) {
    uf_func *func;
    if (r->signatures || r->layout || r->fast || r->flags || r->max_registers)
        return bad_usage("inspect", "-s, -l, -f, -g and -r are for kernels; \"%s\" has its own", r->what);
    return uf_load(&func, r->what) ? library_failed() : show(r, func);
}

int run_inspect(int argc, char **argv) {
    request r = {.device = {kDLCPU, 0}, .view = UF_VIEW_IR};
    int status = read_arguments(&r, argc, argv);
    if (status == HELP)
        return print_usage("inspect");
    if (status != DONE)
        return status;
    if (r.kernel)
        return show_kernel(&r, r.kernel);
    if (!r.what)
        return bad_usage("inspect", "a kernel is needed: -e KERNEL, a file, or a name of the catalogue");
    return is_function(r.what) ? show_loaded(&r) : show_file(&r);
}
