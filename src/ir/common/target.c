/* target.c - what differs between the CPU and NVPTX: data layout, spelling of pointers, names of functions, libmvec. */
#include "ir/common/target.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>

#include "base/base.h"

/* The long data layout: both dialects of libNVVM take it. */
const char *target_head(const code_target *t) {
    return !t->gpu ? ""
                   : "target datalayout = "
                     "\"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-"
                     "f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64\"\n"
                     "target triple = \"nvptx64-nvidia-cuda\"\n";
}

const char *target_pointer(const code_target *t) { return t->gpu ? " addrspace(1)*" : "*"; }

const char *target_math_name(const code_target *t, const math_row *row) { return t->gpu ? row->gpu : row->cpu; }

#if defined(__x86_64__)
static const struct {
    int bits;
    char isa;
} vector_isas[] = {{512, 'e'}, {256, 'd'}, {128, 'b'}};
#elif defined(__aarch64__)
static const struct {
    int bits;
    char isa;
} vector_isas[] = {{128, 'n'}};
#else
static const struct {
    int bits;
    char isa;
} vector_isas[] = {{0, 0}};
#endif

int target_lanes(const code_target *t, dtype type, char *isa) {
    for (size_t i = 0; i < COUNT(vector_isas); i++)
        if (!t->gpu && t->vector_bits && vector_isas[i].bits == t->vector_bits) {
            *isa = vector_isas[i].isa;
            return t->vector_bits / 8 / dtypes[type].size;
        }
    return 0;
}

enum {
    AVX2_BITS = 256,
    AVX512_BITS = 512
};

bool target_has_lane_conditions(const code_target *t, int bytes) {
    return !t->gpu && (t->vector_bits == AVX512_BITS || (t->vector_bits == AVX2_BITS && (bytes == 4 || bytes == 8)));
}

bool target_masks_freely(const code_target *t) { return !t->gpu && t->vector_bits == AVX512_BITS; }

bool target_has_wide_conversion(const code_target *t) { return t->gpu || t->vector_bits != AVX2_BITS; }

bool target_has_fixed_products(void) {
#if defined(__x86_64__)
    return true;
#else
    return false;
#endif
}

static void *libmvec;
static pthread_once_t libmvec_once = PTHREAD_ONCE_INIT;

static void libmvec_open(void) {
    const char *why; /* math functions then run one element at a time */
    libmvec = library_load("libmvec.so.1", 0, &why);
}

const void *target_vector_symbol(const char *name) {
    pthread_once(&libmvec_once, libmvec_open);
    return libmvec ? dlsym(libmvec, name) : NULL;
}

/* What instruction selection falls back on: rounding without SSE4.1, fma without FMA, blocks of memory. */
#define FUNCTION(name) \
    { #name, __extension__(const void *) name }
#define BOTH(name) FUNCTION(name), FUNCTION(name##f)

const code_symbol target_symbols[] = {
    BOTH(floor), BOTH(ceil),  BOTH(trunc),      BOTH(rint),       BOTH(nearbyint),
    BOTH(round), BOTH(fma),   BOTH(fmod),       BOTH(fmin),       BOTH(fmax),
    BOTH(sqrt),  BOTH(ldexp), FUNCTION(memset), FUNCTION(memcpy), FUNCTION(memmove),
};
const int target_symbol_count = COUNT(target_symbols);
