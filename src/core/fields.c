/* fields.c - what programs are told of a record's layout, and views of arrays of its scalars as arrays of the record and back. */
#include "core/record.h"

/* A record that was asked for, which lives as long as whom it was asked of. */
typedef struct layout_kept {
    struct layout_kept *next;
    const char *asked;
    arena arena;
    uf_record described;
} layout_kept;

void layouts_free(layout_kept *list) {
    for (layout_kept *next; list; list = next) {
        next = list->next;
        arena_free(&list->arena);
        mem_free(list);
    }
}

/* ---- Describing ---- */

static uf_status field_describe(arena *a, const record_field *f, const uf_field **out) {
    uf_field *to = arena_alloc(a, sizeof *to);
    int64_t *shape = arena_alloc(a, sizeof f->extent);
    if (!to || !shape)
        return UF_ERR_MEMORY;
    memcpy(shape, f->extent, sizeof f->extent);
    *to = (uf_field){.size = sizeof *to,
                     .name = f->name,
                     .type = f->record ? f->record->name : dtypes[f->type].name,
                     .dtype = f->record ? record_dtype(f->record) : dtypes[f->type].dl,
                     .offset = f->offset,
                     .ndim = f->rank,
                     .shape = f->rank ? shape : NULL};
    *out = to;
    return UF_OK;
}

static uf_status record_describe(arena *a, const record *r, uf_record *out) {
    const uf_field **fields = arena_alloc(a, (size_t)r->nfields * sizeof *fields);
    if (!fields)
        return UF_ERR_MEMORY;
    for (int i = 0; i < r->nfields; i++)
        TRY(field_describe(a, &r->fields[i], &fields[i]));
    *out = (uf_record){.name = r->name,
                       .bytes = r->size,
                       .align = r->align,
                       .nfields = r->nfields,
                       .fields = fields,
                       .nscalars = record_scalars(r),
                       .dtype = record_dtype(r)};
    return UF_OK;
}

typedef struct asking {
    const record_texts *texts;
    const char *name;
    layout_kept *made;
} asking;

/* Runs on a big stack, as all that reads texts. */
static uf_status layout_make(void *user) {
    const asking *x = user;
    arena *a = &x->made->arena;
    const record *r;
    x->made->asked = arena_text(a, x->name, strlen(x->name));
    if (!x->made->asked)
        return UF_ERR_MEMORY;
    TRY(texts_record(a, x->texts, x->name, strlen(x->name), &r));
    return record_describe(a, r, &x->made->described);
}

static const layout_kept *layout_known(const layout_kept *list, const char *name) {
    while (list && strcmp(list->asked, name) != 0)
        list = list->next;
    return list;
}

/* Finds or makes the description of a record. Entries are added at the head of the list, and stay. */
static uf_status layout_find(_Atomic(layout_kept *) *list, const record_texts *t, const char *name,
                             const layout_kept **out) {
    layout_kept *head = atomic_load(list);
    *out = layout_known(head, name);
    if (*out)
        return UF_OK;
    layout_kept *made = mem_zero(1, sizeof *made);
    if (!made)
        return fail_memory();
    uf_status status = on_big_stack(layout_make, &(asking){t, name, made});
    if (status) {
        layouts_free(made);
        return status;
    }
    do {
        *out = layout_known(head, name);
        if (*out) {
            layouts_free(made);
            return UF_OK;
        }
        made->next = head;
    } while (!atomic_compare_exchange_weak(list, &head, made));
    *out = made;
    return UF_OK;
}

static uf_status layout_tell(_Atomic(layout_kept *) *list, const record_texts *t, const char *name, uf_record *out) {
    const layout_kept *found;
    TRY(layout_find(list, t, name, &found));
    return struct_write(&found->described, sizeof found->described, out, "uf_record");
}

uf_status uf_record_layout(const uf_module *module, const char *name, uf_record *out) {
    if (!module || !name || !out)
        return fail(UF_ERR_ARGUMENT, "%s is NULL", !module ? "module" : !name ? "record" : "out");
    return layout_tell(module_layouts(module), &(record_texts){1, {module_syntax(module)}}, name, out);
}

uf_status uf_function_record(const uf_func *f, const char *name, uf_record *out) {
    if (!f || !name || !out)
        return fail(UF_ERR_ARGUMENT, "%s is NULL", !f ? "func" : !name ? "record" : "out");
    const record_texts texts = texts_of(f);
    return layout_tell(&((uf_func *)(uintptr_t)f)->layouts, &texts, name, out);
}

/* ---- Views ---- */

static uf_status view_check(const DLTensor *out, const DLTensor *array, const uf_record *from, uf_record *r) {
    if (!out || !array || !from)
        return fail(UF_ERR_ARGUMENT, "%s is NULL", !out ? "out" : !array ? "array" : "record");
    TRY(struct_read(from, r, sizeof *r, "uf_record"));
    if (!out->shape || !out->strides)
        return fail(UF_ERR_ARGUMENT, "out->%s is NULL; storage for UF_MAX_NDIM extents is needed",
                    out->shape ? "strides" : "shape");
    if (r->bytes < 1 || r->align < 1 || !r->dtype.lanes || !r->name)
        return fail(UF_ERR_ARGUMENT, "record: it is none that uf_record_layout described");
    return array_check(array, 0, ARGS_LANES | ARGS_LASTING);
}

static bool same_scalar(DLDataType a, DLDataType b) { return a.code == b.code && a.bits == b.bits; }

/* The stride of dimension d as the caller gave it, or that of a contiguous array. */
static int64_t stride_of(const DLTensor *t, int d) {
    int64_t dense = 1;
    if (t->strides)
        return t->strides[d];
    for (int k = t->ndim - 1; k > d; k--)
        dense *= t->shape[k];
    return dense;
}

static void view_begin(DLTensor *out, const DLTensor *array, DLDataType type, int ndim) {
    out->data = array->data;
    out->byte_offset = array->byte_offset;
    out->device = array->device;
    out->dtype = type;
    out->ndim = ndim;
}

/* Scalars of the array that make a record; 0: its dtype is not one whose elements do. */
static int64_t scalars(const DLTensor *array, const uf_record *r) {
    if (array->dtype.lanes != 1)
        return 0;
    if (same_scalar(array->dtype, r->dtype))
        return r->dtype.lanes;
    return same_scalar(array->dtype, dtypes[DT_UINT8].dl) ? r->bytes : 0;
}

uf_status uf_as_records(DLTensor *out, const DLTensor *array, const uf_record *of) {
    uf_record r;
    TRY(view_check(out, array, of, &r));
    int last = array->ndim - 1;
    int64_t n = scalars(array, &r);
    if (!n)
        return fail(UF_ERR_ARGUMENT, "array: its dtype is neither that of all scalars of %s nor uint8, or it has lanes",
                    r.name);
    if (last < 0 || array->shape[last] != n || (n > 1 && stride_of(array, last) != 1))
        return fail(UF_ERR_ARGUMENT,
                    "array: its last dimension must be contiguous and have %lld elements, which make a %s",
                    (long long)n, r.name);
    if (((uintptr_t)array->data + array->byte_offset) % (uintptr_t)r.align)
        return fail(UF_ERR_ARGUMENT, "array: its element 0 is at 0x%llx, but %s is aligned to %d bytes",
                    (unsigned long long)((uintptr_t)array->data + array->byte_offset), r.name, r.align);
    for (int d = 0; d < last; d++)
        if (array->shape[d] > 1 && stride_of(array, d) % n)
            return fail(UF_ERR_ARGUMENT,
                        "array: the stride of dimension %d is %lld, which is no multiple of the %lld elements of a %s",
                        d, (long long)stride_of(array, d), (long long)n, r.name);
    DLDataType type = array->dtype;
    type.lanes = (uint16_t)n;
    view_begin(out, array, type, last);
    for (int d = 0; d < last; d++) {
        out->shape[d] = array->shape[d];
        out->strides[d] = array->shape[d] > 1 ? stride_of(array, d) / n : 1;
    }
    return UF_OK;
}

uf_status uf_as_fields(DLTensor *out, const DLTensor *array, const uf_record *of) {
    uf_record r;
    TRY(view_check(out, array, of, &r));
    int64_t n = r.dtype.lanes, bytes = (int64_t)array->dtype.bits / 8 * array->dtype.lanes;
    bool fits =
        bytes == r.bytes && (same_scalar(array->dtype, r.dtype) || same_scalar(array->dtype, dtypes[DT_UINT8].dl));
    if (n != r.nscalars)
        return fail(UF_ERR_ARGUMENT, "record: the scalars of %s have several dtypes, or gaps between them", r.name);
    if (!fits)
        return fail(UF_ERR_ARGUMENT, "array: its elements have %d lanes of %d bits; it is no array of %s",
                    array->dtype.lanes, array->dtype.bits, r.name);
    if (array->ndim == UF_MAX_NDIM)
        return fail(UF_ERR_ARGUMENT, "array: its rank is %d; at most %d are possible", array->ndim, UF_MAX_NDIM - 1);
    DLDataType type = r.dtype;
    type.lanes = 1;
    for (int d = 0; d < array->ndim; d++) {
        out->shape[d] = array->shape[d];
        out->strides[d] = stride_of(array, d) * n;
    }
    out->shape[array->ndim] = n;
    out->strides[array->ndim] = 1;
    view_begin(out, array, type, array->ndim + 1);
    return UF_OK;
}
