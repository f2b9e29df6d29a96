/* options.c - reads option structs of any version of the header: the member `size` says how much of one the caller's
 * header knew. */
#include "core/core.h"

uf_status struct_read(const void *from, void *to, size_t known, const char *what) {
    size_t size;
    memcpy(&size, from, sizeof size);
    if (size < sizeof size)
        return fail(UF_ERR_ARGUMENT, "%s.size is %zu; set it to sizeof(%s)", what, size, what);
    memset(to, 0, known);
    memcpy(to, from, size < known ? size : known);
    memcpy(to, &known, sizeof known); /* whoever reads the copy gets its own size */
    for (size_t i = known; i < size; i++)
        if (((const unsigned char *)from)[i])
            return fail(UF_ERR_ARGUMENT,
                        "%s.size is %zu, but this library (version %s) knows %zu bytes, and byte %zu is not zero", what,
                        size, uf_version(), known, i);
    return UF_OK;
}

uf_status struct_write(const void *from, size_t known, void *to, const char *what) {
    size_t size;
    memcpy(&size, to, sizeof size);
    if (size < sizeof size)
        return fail(UF_ERR_ARGUMENT, "%s.size is %zu; set it to sizeof(%s)", what, size, what);
    if (size > known)
        memset((char *)to + known, 0, size - known);
    memcpy((char *)to + sizeof size, (const char *)from + sizeof size, (size < known ? size : known) - sizeof size);
    return UF_OK;
}

/* Fails about flags that this call does not take. */
static uf_status flags_refuse(const char *what, unsigned flags, unsigned refused) {
    static const struct {
        unsigned bit;
        const char *name;
    } known[] = {{UF_FIRST_MATCH, "UF_FIRST_MATCH"},
                 {UF_STRONG_NUMBERS, "UF_STRONG_NUMBERS"},
                 {UF_STAGE, "UF_STAGE"},
                 {UF_UNEVEN, "UF_UNEVEN"},
                 {UF_ORDERED, "UF_ORDERED"},
                 {UF_SERIAL, "UF_SERIAL"},
                 {UF_DETERMINISTIC, "UF_DETERMINISTIC"}};
    for (size_t i = 0; i < COUNT(known); i++)
        if (refused & known[i].bit)
            return fail(UF_ERR_ARGUMENT, "%s.flags has %s, which is no flag of this call", what, known[i].name);
    return fail(UF_ERR_ARGUMENT, "%s.flags is 0x%x; bits 0x%x are unknown", what, flags, refused);
}

/* Checks what all calls have. */
static uf_status settings_check(const char *what, unsigned flags, unsigned known, uf_casting casting, int threads) {
    if (flags & ~known)
        return flags_refuse(what, flags, flags & ~known);
    if ((unsigned)casting > UF_CAST_UNSAFE)
        return fail(UF_ERR_ARGUMENT, "%s.casting is %d; known are 0 to %d", what, (int)casting, UF_CAST_UNSAFE);
    if (threads < 0)
        return fail(UF_ERR_ARGUMENT, "%s.threads is %d; it must not be negative", what, threads);
    if (flags & UF_ORDERED && flags & UF_SERIAL)
        return fail(UF_ERR_ARGUMENT, "%s.flags has both UF_ORDERED and UF_SERIAL; one of them is possible", what);
    return UF_OK;
}

static uf_status options_take(const uf_options *options, unsigned known, uf_options *scratch, const uf_options **out) {
    static const uf_options defaults = {.size = sizeof defaults};
    if (!options) {
        *out = &defaults;
        return UF_OK;
    }
    if (options->size != sizeof *options) {
        TRY(struct_read(options, scratch, sizeof *scratch, "uf_options"));
        options = scratch;
    }
    *out = options;
    return settings_check("uf_options", options->flags, known, options->casting, options->threads);
}

/* Checks that what uf_forall alone has was not given. */
static uf_status no_launch_check(const uf_options *o) {
    if (o->block || o->elements)
        return fail(UF_ERR_ARGUMENT, "uf_options.%s is for uf_forall", o->block ? "block" : "elements");
    return UF_OK;
}

enum {
    CALL_FLAGS = UF_FIRST_MATCH | UF_STRONG_NUMBERS | UF_STAGE | UF_DETERMINISTIC
};

uf_status options_read(const uf_options *options, uf_options *scratch, const uf_options **out) {
    TRY(options_take(options, CALL_FLAGS, scratch, out));
    return no_launch_check(*out);
}

static bool power_between(int n, int least, int most) { return n >= least && n <= most && (n & (n - 1)) == 0; }

static uf_status launch_check(const uf_options *o) {
    if (o->block && !power_between(o->block, 32, 1024))
        return fail(UF_ERR_ARGUMENT,
                    "uf_options.block is %d; 32, 64, 128, 256, 512 and 1024 are possible, 0 leaves it to the library",
                    o->block);
    if (o->elements && !power_between(o->elements, 1, 16))
        return fail(UF_ERR_ARGUMENT,
                    "uf_options.elements is %d; 1, 2, 4, 8 and 16 are possible, 0 leaves it to the library",
                    o->elements);
    return UF_OK;
}

uf_status forall_options_read(const uf_options *options, uf_options *scratch, const uf_options **out) {
    TRY(options_take(options, CALL_FLAGS, scratch, out));
    const uf_options *o = *out;
    const char *wrong = o->flags & UF_STAGE           ? "UF_STAGE"
                        : o->flags & UF_DETERMINISTIC ? "UF_DETERMINISTIC"
                        : o->casting                  ? "uf_options.casting: arrays are used in place"
                        : o->where                    ? "uf_options.where"
                        : o->axes                     ? "uf_options.axes"
                        : o->device.device_type       ? "uf_options.device: its arrays decide"
                        : o->scratch                  ? "uf_options.scratch"
                                                      : NULL;
    return wrong ? fail(UF_ERR_ARGUMENT, "uf_forall does not take %s", wrong) : launch_check(o);
}

enum {
    FOLD_FLAGS = UF_FIRST_MATCH | UF_ORDERED | UF_SERIAL | UF_DETERMINISTIC
};

uf_status reduce_options_read(const uf_reduce_options *options, uf_reduce_options *scratch,
                              const uf_reduce_options **out) {
    static const uf_reduce_options defaults = {.size = sizeof defaults};
    if (!options) {
        *out = &defaults;
        return UF_OK;
    }
    if (options->size != sizeof *options) {
        TRY(struct_read(options, scratch, sizeof *scratch, "uf_reduce_options"));
        options = scratch;
    }
    *out = options;
    return settings_check("uf_reduce_options", options->flags, FOLD_FLAGS, options->casting, options->threads);
}

uf_status axis_options_read(const uf_options *options, const char *verb, unsigned more, uf_options *scratch,
                            const uf_options **out) {
    TRY(options_take(options, FOLD_FLAGS | UF_STAGE | more, scratch, out));
    TRY(no_launch_check(*out));
    const uf_options *o = *out;
    const char *wrong = o->flags & UF_STAGE     ? "UF_STAGE"
                        : o->where              ? "uf_options.where"
                        : o->axes               ? "uf_options.axes"
                        : o->device.device_type ? "uf_options.device"
                                                : NULL;
    return wrong ? fail(UF_ERR_ARGUMENT, "%s does not take %s", verb, wrong) : UF_OK;
}
