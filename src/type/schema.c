/* schema.c - how many parameters each row of schema.h stands for, and which rows the kernel classes of the engines have. */
#include "type/schema.h"

/* ---- Repeats: values of a row. ---- */

#define REPEAT(name, value)                                        \
    static int name(const variant *v, const core_layout *layout) { \
        (void)v, (void)layout;                                     \
        return (value);                                            \
    }

static int count_arrays(const variant *v) {
    int n = 0;
    for (int k = 0; k < variant_operands(v); k++)
        n += operand_has_strides(v, k);
    return n;
}

static int count_if(const variant *v, bool (*holds)(const variant *v, int k)) {
    int n = 0;
    for (int k = 0; k < variant_operands(v); k++)
        n += holds(v, k);
    return n;
}

static bool is_staged(const variant *v, int k) { return v->operand[k].staged; }

static int operands(const variant *v, const core_layout *layout) {
    int n = 0;
    (void)layout;
    for (int k = 0; k < variant_operands(v); k++)
        n += operand_parameters(v, k);
    return n;
}

REPEAT(once, 1)
REPEAT(two, 2)
REPEAT(inner, v->ndim - 1)
REPEAT(between, v->ndim > 3 ? v->ndim - 3 : 0)
REPEAT(array, count_arrays(v))
REPEAT(halo, v->tile.halo != 0)
REPEAT(by_vectors, v->general.vector != 0)
REPEAT(two_array, 2 * count_arrays(v))
REPEAT(array_row, count_arrays(v) * v->ndim)
REPEAT(array_row_inner, count_arrays(v) * (v->ndim - 1))
REPEAT(reporting, v->reports != 0)
REPEAT(core, layout->nparameters)
REPEAT(indices, v->nindices)
REPEAT(staged, v->gufunc.unrolled ? 0 : count_if(v, is_staged))
REPEAT(coop_slots, v->gufunc.coop == COOP_GRID || v->gufunc.split > 0)
REPEAT(coop_blocks, v->gufunc.coop == COOP_GRID || v->gufunc.tile)
REPEAT(grid_across, variant_grid_across(v))
REPEAT(privatised, variant_privatised(v))
REPEAT(nontemporal, variant_has_nontemporal(v))
REPEAT(levels, SCAN_LEVELS)
REPEAT(parts, v->reduction.to_states)
REPEAT(segmented, v->segmented)
REPEAT(deferring, variant_defers_segments(v))
REPEAT(splitting, v->fold.split)
REPEAT(at_elements, !variant_at_rows(v))
REPEAT(halves_target, variant_adds_halves(v))
REPEAT(columns, v->reduction.columns)
REPEAT(reduced_inner, v->reduction.reduced - 1)
REPEAT(reduced_many, v->reduction.reduced > 1 && !v->reduction.empty)
REPEAT(reduced_most, v->reduction.empty ? 0 : v->reduction.reduced - 1)
REPEAT(placed, count_if(v, variant_places) * v->ndim)
REPEAT(moving, count_if(v, variant_moves) * v->reduction.reduced)
REPEAT(reading, v->reduction.empty ? 0 : count_if(v, variant_moves) * v->reduction.reduced)

/* ---- Kinds ---- */

static const struct {
    int parts;
    parameter_type narrow[KIND_PARTS], wide[KIND_PARTS];
} kinds[PARAMETER_KINDS] = {
    [KIND_OPERAND] = {1, {TYPE_I64}, {TYPE_I64}},
    [KIND_INT64] = {1, {TYPE_I64}, {TYPE_I64}},
    [KIND_INT32] = {1, {TYPE_I32}, {TYPE_I32}},
    [KIND_INDEX] = {1, {TYPE_I32}, {TYPE_I64}},
    [KIND_FLAG] = {1, {TYPE_I1}, {TYPE_I1}},
    [KIND_ADDRESS] = {1, {TYPE_I64}, {TYPE_I64}},
    [KIND_STRIDE] = {1, {TYPE_I64}, {TYPE_I64}},
    [KIND_DIVISOR] = {3, {TYPE_I32, TYPE_I32, TYPE_I32}, {TYPE_I64, TYPE_I64, TYPE_I64}},
    [KIND_DIVISOR32] = {3, {TYPE_I32, TYPE_I32, TYPE_I32}, {TYPE_I32, TYPE_I32, TYPE_I32}},
    [KIND_STAGED] = {3, {TYPE_I32, TYPE_I32, TYPE_I64}, {TYPE_I32, TYPE_I32, TYPE_I64}},
    [KIND_INDEXED] = {2, {TYPE_I64, TYPE_I64}, {TYPE_I64, TYPE_I64}},
};

/* ---- Rows ---- */

/* clang-format off */

#define PARAMETER_ROW(id, kind, repeat, what) [id] = {#id, what, KIND_##kind, repeat},
const parameter_row parameter_rows[PARAMETER_IDS] = {ALL_ROWS(PARAMETER_ROW)};

#define SCHEMA(name, ...) static const uint8_t name[] = {OPERAND_ROWS(PARAMETER_ID) __VA_ARGS__};
SCHEMA(cpu_flat,    CPU_FLAT_ROWS(PARAMETER_ID))
SCHEMA(cpu_strided, CPU_LOOP_ROWS(PARAMETER_ID))
SCHEMA(cpu_gufunc,  CPU_LOOP_ROWS(PARAMETER_ID) CPU_GUFUNC_ROWS(PARAMETER_ID) REPORT_ROWS(PARAMETER_ID) CORE_ROWS(PARAMETER_ID))
SCHEMA(cpu_fold,    CPU_FOLD_ROWS(PARAMETER_ID) REPORT_ROWS(PARAMETER_ID))
SCHEMA(cpu_scan,    CPU_SCAN_ROWS(PARAMETER_ID) REPORT_ROWS(PARAMETER_ID))
SCHEMA(cpu_at,      CPU_LOOP_ROWS(PARAMETER_ID) INDEXED_ROWS(PARAMETER_ID) CPU_AT_ROWS(PARAMETER_ID) REPORT_ROWS(PARAMETER_ID))
SCHEMA(cpu_forall,  CPU_FORALL_ROWS(PARAMETER_ID) REPORT_ROWS(PARAMETER_ID) CORE_ROWS(PARAMETER_ID))
SCHEMA(gpu_flat,    GPU_FLAT_ROWS(PARAMETER_ID))
SCHEMA(gpu_rows,    GPU_ROWS_ROWS(PARAMETER_ID))
SCHEMA(gpu_tile,    GPU_TILE_ROWS(PARAMETER_ID))
SCHEMA(gpu_general, GPU_GENERAL_ROWS(PARAMETER_ID))
SCHEMA(gpu_gufunc,  GPU_GUFUNC_ROWS(PARAMETER_ID) REPORT_ROWS(PARAMETER_ID) CORE_ROWS(PARAMETER_ID))
SCHEMA(gpu_fold,    GPU_FOLD_ROWS(PARAMETER_ID) REPORT_ROWS(PARAMETER_ID))
SCHEMA(gpu_scan,    GPU_SCAN_ROWS(PARAMETER_ID) REPORT_ROWS(PARAMETER_ID))
SCHEMA(gpu_at,      INDEXED_ROWS(PARAMETER_ID) GPU_GENERAL_ROWS(PARAMETER_ID) GPU_AT_ROWS(PARAMETER_ID) REPORT_ROWS(PARAMETER_ID))
SCHEMA(gpu_forall,  GPU_FORALL_ROWS(PARAMETER_ID) REPORT_ROWS(PARAMETER_ID) CORE_ROWS(PARAMETER_ID))

#define ROWS_OF(name) {name, (int)sizeof name}
static const schema schemas[2][LOOP_CLASSES] = {
    {[LOOP_FLAT] = ROWS_OF(cpu_flat), [LOOP_ROWS] = ROWS_OF(cpu_strided), [LOOP_GENERAL] = ROWS_OF(cpu_strided),
     [LOOP_GUFUNC] = ROWS_OF(cpu_gufunc), [LOOP_FOLD] = ROWS_OF(cpu_fold), [LOOP_SCAN] = ROWS_OF(cpu_scan),
     [LOOP_AT] = ROWS_OF(cpu_at), [LOOP_FORALL] = ROWS_OF(cpu_forall), [LOOP_TILE] = ROWS_OF(cpu_strided)},
    {[LOOP_FLAT] = ROWS_OF(gpu_flat), [LOOP_ROWS] = ROWS_OF(gpu_rows), [LOOP_GENERAL] = ROWS_OF(gpu_general),
     [LOOP_GUFUNC] = ROWS_OF(gpu_gufunc), [LOOP_FOLD] = ROWS_OF(gpu_fold), [LOOP_SCAN] = ROWS_OF(gpu_scan),
     [LOOP_AT] = ROWS_OF(gpu_at), [LOOP_FORALL] = ROWS_OF(gpu_forall), [LOOP_TILE] = ROWS_OF(gpu_tile)},
};

/* clang-format on */

_Static_assert(PARAMETER_IDS <= UINT8_MAX, "ids of rows are bytes");

const schema *schema_of(const variant *v, bool gpu) { return &schemas[gpu][v->loop]; }

static int row_count(parameter_id id, const variant *v, const core_layout *layout) {
    const parameter_row *row = &parameter_rows[id];
    return row->repeat(v, layout) * kinds[row->kind].parts;
}

int schema_place(const variant *v, const core_layout *layout, bool gpu, parameter_id id) {
    const schema *s = schema_of(v, gpu);
    int n = 0;
    for (int i = 0; i < s->rows && s->ids[i] != id; i++)
        n += row_count(s->ids[i], v, layout);
    return n;
}

int schema_count(const variant *v, const core_layout *layout, bool gpu) {
    return schema_place(v, layout, gpu, PARAMETER_IDS);
}

/* ---- Going through the parameters ---- */

/* To the next row that has a parameter, unless this one has more. */
static void skip_empty(parameter_cursor *c) {
    while (!c->left && ++c->row < c->s->rows)
        c->left = row_count(c->s->ids[c->row], c->v, c->layout);
}

parameter_cursor parameters_begin(const variant *v, const core_layout *layout, bool gpu) {
    parameter_cursor c = {.v = v, .layout = layout, .s = schema_of(v, gpu), .row = -1};
    skip_empty(&c);
    return c;
}

bool parameters_ended(const parameter_cursor *c) { return c->row == c->s->rows; }

parameter_type parameter_next(parameter_cursor *c, parameter_id id) {
    assert(!parameters_ended(c) && c->s->ids[c->row] == id);
    parameter_kind kind = parameter_rows[id].kind;
    int part = (kinds[kind].parts - c->left % kinds[kind].parts) % kinds[kind].parts;
    c->left--;
    c->number++;
    skip_empty(c);
    return (c->v->wide ? kinds[kind].wide : kinds[kind].narrow)[part];
}
