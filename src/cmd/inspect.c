/* inspect.c - `ufunc inspect`: shows the code that a kernel or a function is compiled to. */
#include <getopt.h>
#include <string.h>

#include "cmd.h"

typedef struct request {
    function_request function;
    const char *types;
    DLDevice device;
    uf_view view;
} request;

static const struct option options[] = {
    {"expression", required_argument, NULL, 'e'},
    {"signatures", required_argument, NULL, 's'},
    {"parameters", required_argument, NULL, 'p'},
    {"layout", required_argument, NULL, 'l'},
    {"types", required_argument, NULL, 't'},
    {"device", required_argument, NULL, 'd'},
    {"view", required_argument, NULL, 'v'},
    {"fast", no_argument, NULL, 'f'},
    {"debug", no_argument, NULL, 'g'},
    {"lines", no_argument, NULL, 'L'},
    {"max-registers", required_argument, NULL, 'r'},
    {"max-steps", required_argument, NULL, 'M'},
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

/* A device as read_device has it, or an architecture without a device, sm_NN. */
static bool read_target(const char *name, DLDevice *out) {
    int n = 0;
    if (strncmp(name, "sm_", 3) != 0)
        return read_device(name, out);
    bool good = read_count(name + 3, &n) && n > 0;
    *out = (DLDevice){kDLCUDA, -n};
    return good;
}

/* Stores one option in the request: DONE, HELP or BAD_USAGE. */
static int take_option(request *r, int option, char **argv) {
    switch (option) {
    case 'e':
        r->function.kernel = optarg;
        return DONE;
    case 's':
        r->function.signatures = optarg;
        return DONE;
    case 'p':
        r->function.signatures = optarg;
        r->function.flags |= UF_KERNEL;
        return DONE;
    case 'l':
        r->function.layout = optarg;
        return DONE;
    case 't':
        r->types = optarg;
        return DONE;
    case 'd':
        return read_target(optarg, &r->device) ? DONE : bad_usage("inspect", "unknown device \"%s\"", optarg);
    case 'v':
        return read_view(optarg, &r->view) ? DONE : bad_usage("inspect", "unknown view \"%s\"", optarg);
    case 'f':
        r->function.fast = UF_FAST_ALL;
        return DONE;
    case 'g':
        r->function.flags |= UF_LINES;
        return DONE;
    case 'L':
        r->function.flags |= UF_LINES;
        return DONE;
    case 'r':
        return read_count(optarg, &r->function.max_registers)
                   ? DONE
                   : bad_usage("inspect", "\"%s\" is no number of registers", optarg);
    case 'M':
        return read_steps(optarg, &r->function.max_steps)
                   ? DONE
                   : bad_usage("inspect", "\"%s\" is no number of steps", optarg);
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
    for (int option; (option = getopt_long(argc, argv, ":e:s:p:l:t:d:v:fgLr:M:h", options, NULL)) != -1;) {
        int status = take_option(r, option, argv);
        if (status != DONE)
            return status;
    }
    if (!r->function.kernel && optind < argc)
        r->function.what = argv[optind++];
    return optind < argc ? bad_usage("inspect", "unexpected \"%s\"", argv[optind]) : DONE;
}

static int show(const request *r) {
    uf_func *func;
    char *text;
    int status = make_function(&r->function, "inspect", &func);
    if (status != DONE)
        return status;
    status = uf_inspect(func, r->types, r->device, r->view, &text) ? library_failed() : print_text(text);
    uf_free(func);
    return status;
}

int run_inspect(int argc, char **argv) {
    request r = {.device = {kDLCPU, 0}, .view = UF_VIEW_IR};
    int status = read_arguments(&r, argc, argv);
    if (status == HELP)
        return print_usage("inspect");
    if (status != DONE)
        return status;
    if (!r.function.kernel && !r.function.what)
        return bad_usage("inspect", "a kernel is needed: -e KERNEL, a file, or a name of the catalogue");
    return show(&r);
}
