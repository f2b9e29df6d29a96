/* check.c - checks that one DLTensor is well formed. Of an array that passes, elements and the bytes that they span are
 * fewer than 2^63, so that arithmetic on its extents and strides cannot overflow later. */
#include <stdio.h>

#include "nd/nd.h"

uf_status nd_fail(uf_status status, int argument, int dimension, const char *format, ...) {
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (argument >= 0)
        return fail_argument(status, argument, dimension, "%s", message);
    static const char *const names[] = {
        [-ND_MASK] = "where", [-ND_STARTS] = "starts", [-ND_INITIAL] = "initial value 0"};
    const char *name = names[-argument];
    if (dimension < 0)
        return fail(status, "%s: %s", name, message);
    fail(status, "%s: dimension %d %s", name, dimension, message);
    error_slot()->dimension = dimension;
    return status;
}

int nd_dimension(const nd_array *array, int d) {
    int dimension = 0;
    while (array->core >> dimension & 1)
        dimension++;
    for (; d > 0; d--)
        do
            dimension++;
        while (array->core >> dimension & 1);
    return dimension;
}

const char *nd_rank(const nd_array *array) { return array->core ? "rank without core dimensions" : "rank"; }

/* No extent may be negative. *count is their product, which is 0 if one of them is, whatever the others are. */
static uf_status check_shape(const DLTensor *array, int argument, int64_t *count) {
    bool overflow = false, empty = false;
    *count = 1;
    for (int d = 0; d < array->ndim; d++) {
        int64_t extent = array->shape[d];
        if (extent < 0)
            return nd_fail(UF_ERR_ARGUMENT, argument, d, "is %lld, but an extent is 0 or more", (long long)extent);
        empty |= extent == 0;
        overflow |= __builtin_mul_overflow(*count, extent, count);
    }
    if (empty)
        *count = 0;
    else if (overflow)
        return nd_fail(UF_ERR_ARGUMENT, argument, -1, "its extents multiply to 2^63 elements or more");
    return UF_OK;
}

/* The bytes that the elements span, as offsets from element 0: *lowest is 0 or negative. False: they span 2^63 bytes or
 * more. */
static bool byte_range(const DLTensor *array, int64_t count, int size, int64_t *lowest, int64_t *highest) {
    int64_t span = 0;
    *lowest = *highest = 0;
    if (!array->strides)
        return !__builtin_mul_overflow(count, size, highest);
    for (int d = 0; d < array->ndim; d++) {
        int64_t extent = array->shape[d], reach;
        if (extent == 1)
            continue;
        if (__builtin_mul_overflow(extent - 1, array->strides[d], &reach))
            return false;
        int64_t *side = reach < 0 ? lowest : highest;
        if (__builtin_add_overflow(*side, reach, side))
            return false;
    }
    return !__builtin_sub_overflow(*highest, *lowest, &span) && !__builtin_add_overflow(span, 1, &span) &&
           !__builtin_mul_overflow(span, size, &span) && !__builtin_mul_overflow(*lowest, size, lowest) &&
           !__builtin_mul_overflow(*highest + 1, size, highest);
}

static uf_status check_data(const DLTensor *array, int argument, int align, int64_t count, int64_t lowest,
                            int64_t highest) {
    uintptr_t address = (uintptr_t)array->data, first, last;
    if (!array->data)
        return nd_fail(UF_ERR_ARGUMENT, argument, -1, "its data is NULL, but it has %lld element%s", (long long)count,
                       count == 1 ? "" : "s");
    if (__builtin_add_overflow(address, array->byte_offset, &address) ||
        __builtin_sub_overflow(address, (uintptr_t)-lowest, &first) ||
        __builtin_add_overflow(address, (uintptr_t)highest - 1, &last))
        return nd_fail(UF_ERR_ARGUMENT, argument, -1, "its elements leave the address space");
    if (address & (uintptr_t)(align - 1))
        return nd_fail(UF_ERR_ARGUMENT, argument, -1, "its element 0 is at 0x%llx, but must be aligned to %d bytes",
                       (unsigned long long)address, align);
    return UF_OK;
}

/* Is it what most arrays are: aligned, with elements, of which the first has the lowest address, in the address space? */
static bool is_plain(const DLTensor *array, int size, int align) {
    enum {
        RANK = 8
    };
    uintptr_t address = (uintptr_t)array->data + array->byte_offset;
    int64_t count = 1, end = 1, reach;
    if ((unsigned)array->ndim > RANK || (array->ndim && !array->shape) || !array->data)
        return false;
    for (int d = 0; d < array->ndim; d++) {
        if (array->shape[d] <= 0 || __builtin_mul_overflow(count, array->shape[d], &count))
            return false;
        if (array->strides &&
            (array->strides[d] < 0 || __builtin_mul_overflow(array->shape[d] - 1, array->strides[d], &reach) ||
             __builtin_add_overflow(end, reach, &end)))
            return false;
    }
    if (__builtin_mul_overflow(array->strides ? end : count, size, &end))
        return false;
    return !(address & (uintptr_t)(align - 1)) && address >= array->byte_offset &&
           address + (uintptr_t)end - 1 >= address;
}

static __attribute__((noinline)) uf_status check_any(const DLTensor *array, int argument, int size, int align,
                                                     bool with_data) {
    int64_t count, lowest, highest;
    if (array->ndim < 0 || array->ndim > UF_MAX_NDIM)
        return nd_fail(UF_ERR_ARGUMENT, argument, -1, "its rank is %d, but must be from 0 to %d", array->ndim,
                       UF_MAX_NDIM);
    if (array->ndim > 0 && !array->shape)
        return nd_fail(UF_ERR_ARGUMENT, argument, -1, "its shape is NULL, but its rank is %d", array->ndim);
    TRY(check_shape(array, argument, &count));
    if (count == 0)
        return UF_OK;
    if (!byte_range(array, count, size, &lowest, &highest))
        return nd_fail(UF_ERR_ARGUMENT, argument, -1, "its elements span 2^63 bytes or more");
    return with_data ? check_data(array, argument, align, count, lowest, highest) : UF_OK;
}

uf_status nd_check(const DLTensor *array, int argument, int size, int align, bool with_data) {
    return is_plain(array, size, align) ? UF_OK : check_any(array, argument, size, align, with_data);
}
