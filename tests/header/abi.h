/* abi.h - what programs compiled against version 0.1.0 rely on: values, layouts (of 64-bit Linux) and prototypes. C and C++.
 * Rows are added here when the interface grows; none is ever changed but the sizes of structs, which grow at their ends,
 * and UF_FAST_ALL, which has all bits that there are. */
#ifdef __cplusplus
#define SAME(a, b) static_assert((long long)(a) == (long long)(b), #a)
#else
#define SAME(a, b) _Static_assert((long long)(a) == (long long)(b), #a)
#endif
#define AT(type, member, offset) SAME(offsetof(type, member), offset)

SAME(UF_VERSION_MAJOR, 0);
SAME(UF_MAX_NDIM, 64);
SAME(UF_MAX_OPERANDS, 64);
SAME(UF_MAX_STATE, 16);
SAME(UF_BOOL_CODE, 6);

SAME(UF_OK, 0);
SAME(UF_ERR_ARGUMENT, 1);
SAME(UF_ERR_SYNTAX, 2);
SAME(UF_ERR_TYPE, 3);
SAME(UF_ERR_SIGNATURE, 4);
SAME(UF_ERR_SHAPE, 5);
SAME(UF_ERR_CAST, 6);
SAME(UF_ERR_DEVICE, 7);
SAME(UF_ERR_LIBRARY, 8);
SAME(UF_ERR_COMPILE, 9);
SAME(UF_ERR_KERNEL, 10);
SAME(UF_ERR_MEMORY, 11);
SAME(UF_ERR_IO, 12);

SAME(UF_FAST_CONTRACT, 1);
SAME(UF_FAST_DIVIDE, 2);
SAME(UF_FAST_FLUSH, 4);
SAME(UF_FAST_TF32, 8);
SAME(UF_FAST_ALL, 15);
SAME(UF_UNCHECKED, 1);
SAME(UF_DEBUG, 2);
SAME(UF_LINES, 4);
SAME(UF_KERNEL, 0x100);
SAME(UF_ORDERED, 0x10);
SAME(UF_SERIAL, 0x20);
SAME(UF_WIDEN, 0x80);

SAME(UF_CAST_DEFAULT, 0);
SAME(UF_CAST_NO, 1);
SAME(UF_CAST_EQUIV, 2);
SAME(UF_CAST_SAFE, 3);
SAME(UF_CAST_SAME_KIND, 4);
SAME(UF_CAST_UNSAFE, 5);
SAME(UF_NO_AXES, -1);
SAME(UF_NO_AXIS, -2147483647 - 1);
SAME(UF_FIRST_MATCH, 1);
SAME(UF_STRONG_NUMBERS, 2);
SAME(UF_STAGE, 4);
SAME(UF_DETERMINISTIC, 0x40);
SAME(UF_UNEVEN, 8);

SAME(UF_VIEW_TREE, 0);
SAME(UF_VIEW_IR, 1);
SAME(UF_VIEW_PTX, 2);
SAME(UF_VIEW_ASSEMBLY, 3);
SAME(UF_VIEW_RESOURCES, 4);

#if defined(__linux__) && defined(__LP64__)
SAME(sizeof(uf_status), 4);
SAME(sizeof(uf_casting), 4);
SAME(sizeof(uf_view), 4);

SAME(sizeof(uf_error), 5140);
AT(uf_error, status, 0);
AT(uf_error, argument, 4);
AT(uf_error, dimension, 8);
AT(uf_error, line, 12);
AT(uf_error, column, 16);
AT(uf_error, message, 20);
AT(uf_error, source, 4116);

SAME(sizeof(uf_section), 16);
AT(uf_section, signatures, 0);
AT(uf_section, source, 8);

SAME(sizeof(uf_definition), 136);
AT(uf_definition, size, 0);
AT(uf_definition, name, 8);
AT(uf_definition, doc, 16);
AT(uf_definition, nsections, 24);
AT(uf_definition, sections, 32);
AT(uf_definition, fast, 40);
AT(uf_definition, flags, 44);
AT(uf_definition, max_registers, 48);
AT(uf_definition, layout, 56);
AT(uf_definition, blas, 64);
AT(uf_definition, identity, 72);
AT(uf_definition, reduction, 80);
AT(uf_definition, max_steps, 88);
AT(uf_definition, nmodules, 96);
AT(uf_definition, modules, 104);
AT(uf_definition, nfunctions, 112);
AT(uf_definition, functions, 120);
AT(uf_definition, max_extent, 128);

SAME(sizeof(uf_reduction_def), 88);
AT(uf_reduction_def, size, 0);
AT(uf_reduction_def, map, 8);
AT(uf_reduction_def, combine, 16);
AT(uf_reduction_def, finish, 24);
AT(uf_reduction_def, state, 32);
AT(uf_reduction_def, identity, 40);
AT(uf_reduction_def, flags, 48);
AT(uf_reduction_def, unused, 52);
AT(uf_reduction_def, nmodules, 56);
AT(uf_reduction_def, modules, 64);
AT(uf_reduction_def, nfunctions, 72);
AT(uf_reduction_def, functions, 80);

SAME(sizeof(uf_field), 56);
AT(uf_field, size, 0);
AT(uf_field, name, 8);
AT(uf_field, type, 16);
AT(uf_field, dtype, 24);
AT(uf_field, offset, 32);
AT(uf_field, ndim, 40);
AT(uf_field, shape, 48);

SAME(sizeof(uf_record), 48);
AT(uf_record, size, 0);
AT(uf_record, name, 8);
AT(uf_record, bytes, 16);
AT(uf_record, align, 24);
AT(uf_record, nfields, 28);
AT(uf_record, fields, 32);
AT(uf_record, nscalars, 40);
AT(uf_record, dtype, 44);

SAME(sizeof(uf_module_definition), 48);
AT(uf_module_definition, size, 0);
AT(uf_module_definition, name, 8);
AT(uf_module_definition, doc, 16);
AT(uf_module_definition, source, 24);
AT(uf_module_definition, nmodules, 32);
AT(uf_module_definition, modules, 40);

SAME(sizeof(uf_module_description), 40);
AT(uf_module_description, size, 0);
AT(uf_module_description, name, 8);
AT(uf_module_description, doc, 16);
AT(uf_module_description, records, 24);
AT(uf_module_description, helpers, 32);

SAME(sizeof(uf_axis_list), 16);
AT(uf_axis_list, count, 0);
AT(uf_axis_list, axes, 8);

SAME(sizeof(uf_axes), 40);
AT(uf_axes, size, 0);
AT(uf_axes, count, 8);
AT(uf_axes, lists, 16);
AT(uf_axes, axis, 24);
AT(uf_axes, keepdims, 32);

SAME(sizeof(uf_options), 104);
AT(uf_options, size, 0);
AT(uf_options, stream, 8);
AT(uf_options, device, 16);
AT(uf_options, casting, 24);
AT(uf_options, signature, 32);
AT(uf_options, where, 40);
AT(uf_options, threads, 48);
AT(uf_options, flags, 52);
AT(uf_options, axes, 56);
AT(uf_options, scratch, 64);
AT(uf_options, scratch_size, 72);
AT(uf_options, block, 80);
AT(uf_options, elements, 84);
AT(uf_options, cancel, 88);
AT(uf_options, progress, 96);

SAME(sizeof(uf_reduce_options), 112);
AT(uf_reduce_options, size, 0);
AT(uf_reduce_options, stream, 8);
AT(uf_reduce_options, casting, 16);
AT(uf_reduce_options, signature, 24);
AT(uf_reduce_options, naxes, 32);
AT(uf_reduce_options, axes, 40);
AT(uf_reduce_options, keepdims, 48);
AT(uf_reduce_options, initial, 56);
AT(uf_reduce_options, where, 64);
AT(uf_reduce_options, scratch, 72);
AT(uf_reduce_options, scratch_size, 80);
AT(uf_reduce_options, threads, 88);
AT(uf_reduce_options, flags, 92);
AT(uf_reduce_options, cancel, 96);
AT(uf_reduce_options, progress, 104);

SAME(sizeof(uf_description), 72);
AT(uf_description, size, 0);
AT(uf_description, name, 8);
AT(uf_description, doc, 16);
AT(uf_description, kind, 24);
AT(uf_description, nin, 32);
AT(uf_description, nout, 36);
AT(uf_description, signatures, 40);
AT(uf_description, layout, 48);
AT(uf_description, identity, 56);
AT(uf_description, order, 64);
AT(uf_description, nstate, 68);

SAME(UF_STAGED_COUNTERS, 1);
SAME(UF_STAGED_ROWS, 2);
SAME(UF_STAGED_PAIRS, 4);
SAME(sizeof(uf_launch), 72);
AT(uf_launch, size, 0);
AT(uf_launch, grid, 8);
AT(uf_launch, block, 16);
AT(uf_launch, elements, 20);
AT(uf_launch, vector, 24);
AT(uf_launch, registers, 28);
AT(uf_launch, shared_bytes, 32);
AT(uf_launch, local_bytes, 36);
AT(uf_launch, blocks_per_processor, 40);
AT(uf_launch, occupancy, 48);
AT(uf_launch, threads, 56);
AT(uf_launch, across, 60);
AT(uf_launch, interior, 64);
AT(uf_launch, staged, 68);
SAME(sizeof(uf_call_args), 136);
AT(uf_call_args, size, 0);
AT(uf_call_args, room, 8);
AT(uf_call_args, axis, 12);
AT(uf_call_args, stream, 16);
AT(uf_call_args, device, 24);
AT(uf_call_args, casting, 32);
AT(uf_call_args, threads, 36);
AT(uf_call_args, signature, 40);
AT(uf_call_args, where, 48);
AT(uf_call_args, flags, 56);
AT(uf_call_args, keepdims, 60);
AT(uf_call_args, axes, 64);
AT(uf_call_args, cancel, 72);
AT(uf_call_args, progress, 80);
AT(uf_call_args, args, 88);
SAME(sizeof(uf_reduce_args), 160);
AT(uf_reduce_args, size, 0);
AT(uf_reduce_args, room, 8);
AT(uf_reduce_args, axis, 12);
AT(uf_reduce_args, axes, 16);
AT(uf_reduce_args, keepdims, 32);
AT(uf_reduce_args, flags, 36);
AT(uf_reduce_args, initial, 40);
AT(uf_reduce_args, where, 48);
AT(uf_reduce_args, stream, 56);
AT(uf_reduce_args, casting, 64);
AT(uf_reduce_args, threads, 68);
AT(uf_reduce_args, signature, 72);
AT(uf_reduce_args, scratch, 80);
AT(uf_reduce_args, scratch_size, 88);
AT(uf_reduce_args, cancel, 96);
AT(uf_reduce_args, progress, 104);
AT(uf_reduce_args, args, 112);
SAME(sizeof(uf_accumulate_args), 128);
AT(uf_accumulate_args, size, 0);
AT(uf_accumulate_args, room, 8);
AT(uf_accumulate_args, axis, 12);
AT(uf_accumulate_args, stream, 16);
AT(uf_accumulate_args, casting, 24);
AT(uf_accumulate_args, threads, 28);
AT(uf_accumulate_args, signature, 32);
AT(uf_accumulate_args, scratch, 40);
AT(uf_accumulate_args, scratch_size, 48);
AT(uf_accumulate_args, flags, 56);
AT(uf_accumulate_args, cancel, 64);
AT(uf_accumulate_args, progress, 72);
AT(uf_accumulate_args, args, 80);
SAME(sizeof(uf_forall_args), 112);
AT(uf_forall_args, size, 0);
AT(uf_forall_args, room, 8);
AT(uf_forall_args, threads, 12);
AT(uf_forall_args, stream, 16);
AT(uf_forall_args, signature, 24);
AT(uf_forall_args, flags, 32);
AT(uf_forall_args, block, 36);
AT(uf_forall_args, elements, 40);
AT(uf_forall_args, cancel, 48);
AT(uf_forall_args, progress, 56);
AT(uf_forall_args, args, 64);

/* DLPack's part. */
SAME(sizeof(DLTensor), 48);
AT(DLTensor, data, 0);
AT(DLTensor, device, 8);
AT(DLTensor, ndim, 16);
AT(DLTensor, dtype, 20);
AT(DLTensor, shape, 24);
AT(DLTensor, strides, 32);
AT(DLTensor, byte_offset, 40);
#endif

/* Declared again: a compiler refuses what differs. */
#ifdef __cplusplus
extern "C" {
#endif
const uf_error *uf_last_error(void);
const char *uf_status_text(uf_status);
const char *uf_version(void);
uf_status uf_vectorize(uf_func **, const char *, const char *, const char *);
uf_status uf_guvectorize(uf_func **, const char *, const char *, const char *, const char *);
uf_status uf_reduction(uf_func **, const char *, const char *, const uf_reduction_def *);
uf_status uf_kernel(uf_func **, const char *, const char *, const char *);
uf_status uf_define(uf_func **, const uf_definition *);
uf_status uf_compose(uf_func **, const char *, const char *, const char *, int, uf_func *const *);
uf_status uf_derivative(uf_func **, const uf_func *, int);
uf_status uf_load(uf_func **, const char *);
const char *uf_catalogue(int64_t);
void uf_free(uf_func *);
uf_status uf_module_new(uf_module **, const uf_module_definition *);
uf_status uf_module_load(uf_module **, const char *);
void uf_module_free(uf_module *);
uf_status uf_module_describe(const uf_module *, uf_module_description *);
const char *uf_catalogue_module(int64_t);
uf_status uf_record_layout(const uf_module *, const char *, uf_record *);
uf_status uf_function_record(const uf_func *, const char *, uf_record *);
uf_status uf_as_records(DLTensor *, const DLTensor *, const uf_record *);
uf_status uf_as_fields(DLTensor *, const DLTensor *, const uf_record *);
uf_status uf_call(const uf_func *, int, const DLTensor *, const uf_options *);
uf_status uf_infer(const uf_func *, int, DLTensor *, const uf_options *);
uf_status uf_reduce(const uf_func *, int, const DLTensor *, const uf_reduce_options *);
uf_status uf_accumulate(const uf_func *, int, const DLTensor *, int, const uf_options *);
uf_status uf_reduceat(const uf_func *, int, const DLTensor *, const DLTensor *, int, const uf_options *);
uf_status uf_reduce_infer(const uf_func *, int, DLTensor *, const uf_reduce_options *);
uf_status uf_accumulate_infer(const uf_func *, int, DLTensor *, int, const uf_options *);
uf_status uf_reduce_scratch_size(size_t *, const uf_func *, int, const DLTensor *, const uf_reduce_options *);
uf_status uf_accumulate_scratch_size(size_t *, const uf_func *, int, const DLTensor *, int, const uf_options *);
uf_status uf_reduceat_scratch_size(size_t *, const uf_func *, int, const DLTensor *, const DLTensor *, int,
                                   const uf_options *);
uf_status uf_reduce_plan(uf_plan **, const uf_func *, int, const DLTensor *, const uf_reduce_options *);
uf_status uf_accumulate_plan(uf_plan **, const uf_func *, int, const DLTensor *, int, const uf_options *);
uf_status uf_reduceat_plan(uf_plan **, const uf_func *, int, const DLTensor *, const DLTensor *, int,
                           const uf_options *);
uf_status uf_outer(const uf_func *, int, const DLTensor *, const uf_options *);
uf_status uf_at(const uf_func *, const DLTensor *, int, const DLTensor *, const DLTensor *, const uf_options *);
uf_status uf_at_plan(uf_plan **, const uf_func *, const DLTensor *, int, const DLTensor *, const DLTensor *,
                     const uf_options *);
uf_status uf_forall(const uf_func *, int, const int64_t *, int, const DLTensor *, const uf_options *);
uf_status uf_forall_plan(uf_plan **, const uf_func *, int, const int64_t *, int, const DLTensor *, const uf_options *);
uf_status uf_launch_info(const uf_func *, int, const int64_t *, int, const DLTensor *, const uf_options *, uf_launch *);
uf_status uf_plan_new(uf_plan **, const uf_func *, int, const DLTensor *, const uf_options *);
uf_status uf_plan_run(const uf_plan *, void *const *, void *);
void uf_plan_free(uf_plan *);
uf_status uf_empty(DLManagedTensor **, DLDevice, DLDataType, int, const int64_t *);
uf_status uf_copy(const DLTensor *, const DLTensor *, void *);
uf_status uf_sync(DLDevice, void *);
uf_status uf_describe(const uf_func *, uf_description *);
uf_status uf_inspect(const uf_func *, const char *, DLDevice, uf_view, char **);
uf_status uf_system_info(char **);
void uf_check(uf_status, const char *, int);
uf_status uf_new(DLManagedTensor **, const uf_func *, int, const DLTensor *, const uf_options *);
uf_status uf_reduce_new(DLManagedTensor **, const uf_func *, int, const DLTensor *, const uf_reduce_options *);
uf_status uf_accumulate_new(DLManagedTensor **, const uf_func *, int, const DLTensor *, int, const uf_options *);
uf_status uf_call_with(const uf_func *, const uf_call_args *);
uf_status uf_plan_with(uf_plan **, const uf_func *, const uf_call_args *);
uf_status uf_new_with(DLManagedTensor **, const uf_func *, const uf_call_args *);
uf_status uf_reduce_with(const uf_func *, const uf_reduce_args *);
uf_status uf_reduce_plan_with(uf_plan **, const uf_func *, const uf_reduce_args *);
uf_status uf_reduce_new_with(DLManagedTensor **, const uf_func *, const uf_reduce_args *);
uf_status uf_accumulate_with(const uf_func *, const uf_accumulate_args *);
uf_status uf_accumulate_plan_with(uf_plan **, const uf_func *, const uf_accumulate_args *);
uf_status uf_accumulate_new_with(DLManagedTensor **, const uf_func *, const uf_accumulate_args *);
uf_status uf_forall_with(const uf_func *, int, const int64_t *, const uf_forall_args *);
uf_status uf_forall_plan_with(uf_plan **, const uf_func *, int, const int64_t *, const uf_forall_args *);
extern const int64_t uf_number_shape[1];
#ifdef __cplusplus
}
#endif
