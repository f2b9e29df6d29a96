/* ranges.c - NVTX: names for what the public functions do, on the time line of Nsight Systems and other tools. They are
 * off unless the environment variable UFUNC_NVTX is 1.
 *
 * NVTX 3 has no library. A tool names a library of its own in NVTX_INJECTION64_PATH. The program opens it and calls
 * its InitializeInjectionNvtx2 with a function that hands out tables; in these the tool replaces the pointers of the
 * functions that it wants to have called. That is the protocol of the public headers (NVIDIA/NVTX,
 * nvtxDetail/nvtxTypes.h and nvtxInit.h). What is needed of them is written down here: the functions of domains, a
 * domain of our own, and ranges that are pushed and popped by each thread. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/core.h"

enum {
    NVTX_VERSION = 3,
    NVTX_TABLE_CALLBACKS = 1,
    NVTX_TABLE_VERSION = 3,
    NVTX_MODULE_CORE = 1,
    NVTX_MODULE_DOMAINS = 5, /* CORE2 */
    NVTX_CORE_FUNCTIONS = 16,
    NVTX_DOMAIN_PUSH = 4,
    NVTX_DOMAIN_POP = 5,
    NVTX_DOMAIN_CREATE = 12,
    NVTX_DOMAIN_FUNCTIONS = 16,
    NVTX_MESSAGE_ASCII = 1
};

/* nvtxEventAttributes_t */
typedef struct nvtx_event {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const char *message;
} nvtx_event;

typedef void nvtx_any(void);
typedef void *nvtx_create(const char *name);
typedef int nvtx_push(void *domain, const nvtx_event *event);
typedef int nvtx_pop(void *domain);
typedef const void *nvtx_get_table(uint32_t id);
typedef int nvtx_initialize(nvtx_get_table *get);

/* Where a tool puts its functions. Those that it does not want stay NULL. */
static nvtx_any *core[NVTX_CORE_FUNCTIONS], *domains[NVTX_DOMAIN_FUNCTIONS];
static nvtx_any **core_table[NVTX_CORE_FUNCTIONS + 1], **domains_table[NVTX_DOMAIN_FUNCTIONS + 1];

static int get_module(int module, nvtx_any ****table, unsigned *count) {
    bool is_core = module == NVTX_MODULE_CORE;
    if (!is_core && module != NVTX_MODULE_DOMAINS)
        return 0;
    if (table)
        *table = is_core ? core_table : domains_table;
    if (count)
        *count = is_core ? NVTX_CORE_FUNCTIONS : NVTX_DOMAIN_FUNCTIONS;
    return 1;
}

static void set_tool_version(uint32_t version) { (void)version; }

static const struct {
    size_t size;
    int (*get_module)(int module, nvtx_any ****table, unsigned *count);
} callbacks = {sizeof callbacks, get_module};

static const struct {
    size_t size;
    uint32_t version, reserved;
    void (*set_tool_version)(uint32_t version);
} version = {sizeof version, NVTX_VERSION, 0, set_tool_version};

static const void *get_table(uint32_t id) {
    return id == NVTX_TABLE_CALLBACKS ? (const void *)&callbacks : id == NVTX_TABLE_VERSION ? &version : NULL;
}

/* Fills the tables that are handed out, in which entry 0 is not used. */
static void tables_make(void) {
    for (int k = 1; k < NVTX_CORE_FUNCTIONS; k++)
        core_table[k] = &core[k];
    for (int k = 1; k < NVTX_DOMAIN_FUNCTIONS; k++)
        domains_table[k] = &domains[k];
}

/* ---- The tool ---- */

struct range_tool {
    nvtx_push *push;
    nvtx_pop *pop;
    void *domain;
};

/* While it is not opened, nobody knows yet whether a tool listens. */
static range_tool tool;
_Atomic(range_tool *) range_listener = &tool;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char found[512]; /* what uf_system_info says */

static bool is_wanted(void) {
    const char *value = secure_getenv("UFUNC_NVTX");
    return value && !strcmp(value, "1");
}

/* Lets the tool at a path listen; the reason why that failed, or NULL. */
static const char *attach(const char *path) {
    const char *why;
    void *handle = library_load(path, 0, &why);
    if (!handle)
        return why;
    nvtx_initialize *initialize = (nvtx_initialize *)(uintptr_t)dlsym(handle, "InitializeInjectionNvtx2");
    tables_make();
    if (!initialize || !initialize(get_table)) {
        dlclose(handle);
        return initialize ? "the tool refused to start" : "has no function InitializeInjectionNvtx2";
    }
    tool.push = (nvtx_push *)domains[NVTX_DOMAIN_PUSH];
    tool.pop = (nvtx_pop *)domains[NVTX_DOMAIN_POP];
    nvtx_create *create = (nvtx_create *)domains[NVTX_DOMAIN_CREATE];
    tool.domain = create ? create("libufunc") : NULL;
    return tool.push && tool.pop ? NULL : "the tool does not ask for ranges";
}

static uf_status open_tool(void *unused) {
    (void)unused;
    const char *path = secure_getenv("NVTX_INJECTION64_PATH"),
               *why = "the tool sets NVTX_INJECTION64_PATH; it is not set";
    if (path && *path)
        why = attach(path);
    if (why)
        snprintf(found, sizeof found, "on, but nobody listens: %s%s%s", path ? path : "", path ? ": " : "", why);
    else
        snprintf(found, sizeof found, "on, %s", path);
    atomic_store_explicit(&range_listener, why ? NULL : &tool, memory_order_release);
    return UF_OK;
}

/* Looks for a tool, on a big stack: opening a library takes more than a caller may have. Without memory for that
 * there are no ranges. */
static void find_tool(void) {
    if (is_wanted() && !on_big_stack(open_tool, NULL))
        return;
    snprintf(found, sizeof found, is_wanted() ? "on, but there was not enough memory for it" : "off (UFUNC_NVTX)");
    atomic_store_explicit(&range_listener, NULL, memory_order_release);
}

bool range_push(const char *verb, const uf_func *func) {
    char name[160];
    pthread_once(&once, find_tool);
    const range_tool *t = atomic_load_explicit(&range_listener, memory_order_acquire);
    if (!t)
        return false;
    snprintf(name, sizeof name, func ? "%s %s" : "%s", verb, func ? func->name : "");
    nvtx_event event = {
        .version = NVTX_VERSION, .size = sizeof event, .message_type = NVTX_MESSAGE_ASCII, .message = name};
    t->push(t->domain, &event);
    return true;
}

void range_pop(void) { tool.pop(tool.domain); }

void ranges_info(text *out) {
    pthread_once(&once, find_tool);
    text_printf(out, "NVTX         %s\n", found);
}
