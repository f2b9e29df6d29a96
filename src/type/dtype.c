/* dtype.c - the fifteen dtypes, how they cast and how they promote. All of it is data: the tables below are the
 * definition, laid out to be compared with NumPy's by eye; tests/oracle/casting.py compares them by machine. bfloat16
 * is not in NumPy: what its 8 bits of significand hold (bool, int8 and uint8) casts to it safely, and it casts safely
 * to float32. */
#include "type/type.h"

#include <assert.h>

/* clang-format off */

/* ORDER dtype */
const dtype_info dtypes[DT_COUNT] = {
    /*                  name      code size align kind         signed component       dl */
    [DT_BOOL]       = {"bool",       '?',  1, 1, DK_BOOL,     0, DT_BOOL,     {UF_BOOL_CODE,   8, 1}},
    [DT_INT8]       = {"int8",       'b',  1, 1, DK_INTEGER,  1, DT_INT8,     {kDLInt,         8, 1}},
    [DT_INT16]      = {"int16",      'h',  2, 2, DK_INTEGER,  1, DT_INT16,    {kDLInt,        16, 1}},
    [DT_INT32]      = {"int32",      'i',  4, 4, DK_INTEGER,  1, DT_INT32,    {kDLInt,        32, 1}},
    [DT_INT64]      = {"int64",      'l',  8, 8, DK_INTEGER,  1, DT_INT64,    {kDLInt,        64, 1}},
    [DT_UINT8]      = {"uint8",      'B',  1, 1, DK_INTEGER,  0, DT_UINT8,    {kDLUInt,        8, 1}},
    [DT_UINT16]     = {"uint16",     'H',  2, 2, DK_INTEGER,  0, DT_UINT16,   {kDLUInt,       16, 1}},
    [DT_UINT32]     = {"uint32",     'I',  4, 4, DK_INTEGER,  0, DT_UINT32,   {kDLUInt,       32, 1}},
    [DT_UINT64]     = {"uint64",     'L',  8, 8, DK_INTEGER,  0, DT_UINT64,   {kDLUInt,       64, 1}},
    [DT_FLOAT16]    = {"float16",    'e',  2, 2, DK_FLOATING, 1, DT_FLOAT16,  {kDLFloat,      16, 1}},
    [DT_BFLOAT16]   = {"bfloat16",   'E',  2, 2, DK_FLOATING, 1, DT_BFLOAT16, {kDLBfloat,     16, 1}},
    [DT_FLOAT32]    = {"float32",    'f',  4, 4, DK_FLOATING, 1, DT_FLOAT32,  {kDLFloat,      32, 1}},
    [DT_FLOAT64]    = {"float64",    'd',  8, 8, DK_FLOATING, 1, DT_FLOAT64,  {kDLFloat,      64, 1}},
    [DT_COMPLEX64]  = {"complex64",  'F',  8, 4, DK_COMPLEX,  1, DT_FLOAT32,  {kDLComplex,    64, 1}},
    [DT_COMPLEX128] = {"complex128", 'D', 16, 8, DK_COMPLEX,  1, DT_FLOAT64,  {kDLComplex,   128, 1}},
};

/* NumPy's type characters. 'q' and 'Q' are second names of the 64-bit ones:
 * C's long long, where 'l' and 'L' are long. */
static const struct {
    uint8_t known, type;
} codes[128] = {
    ['?'] = {1, DT_BOOL},
    ['b'] = {1, DT_INT8},    ['h'] = {1, DT_INT16},    ['i'] = {1, DT_INT32},   ['l'] = {1, DT_INT64},
    ['q'] = {1, DT_INT64},
    ['B'] = {1, DT_UINT8},   ['H'] = {1, DT_UINT16},   ['I'] = {1, DT_UINT32},  ['L'] = {1, DT_UINT64},
    ['Q'] = {1, DT_UINT64},
    ['e'] = {1, DT_FLOAT16}, ['E'] = {1, DT_BFLOAT16}, ['f'] = {1, DT_FLOAT32}, ['d'] = {1, DT_FLOAT64},
    ['F'] = {1, DT_COMPLEX64}, ['D'] = {1, DT_COMPLEX128},
};

/* ORDER dtype. The strictest rule under which a cast is allowed, from the row's dtype to the column's: '=' the dtypes
 * are the same (allowed by no and equiv), 's' safe, 'k' same_kind, '.' unsafe only. */
static const char casts[DT_COUNT][DT_COUNT + 1] = {
    /*                 ?bhilBHILeEfdFD */
    [DT_BOOL]       = "=ssssssssssssss",
    [DT_INT8]       = ".=sss....ssssss",
    [DT_INT16]      = ".k=ss....kkssss",
    [DT_INT32]      = ".kk=s....kkksks",
    [DT_INT64]      = ".kkk=....kkksks",
    [DT_UINT8]      = ".ksss=sssssssss",
    [DT_UINT16]     = ".kkssk=sskkssss",
    [DT_UINT32]     = ".kkkskk=skkksks",
    [DT_UINT64]     = ".kkkkkkk=kkksks",
    [DT_FLOAT16]    = ".........=kssss",
    [DT_BFLOAT16]   = ".........k=ssss",
    [DT_FLOAT32]    = ".........kk=sss",
    [DT_FLOAT64]    = ".........kkk=ks",
    [DT_COMPLEX64]  = ".............=s",
    [DT_COMPLEX128] = ".............k=",
};

/* ORDER dtype. The type character of the smallest dtype to which both cast safely. */
static const char promotions[DT_COUNT][DT_COUNT + 1] = {
    /*                 ?bhilBHILeEfdFD */
    [DT_BOOL]       = "?bhilBHILeEfdFD",
    [DT_INT8]       = "bbhilhildeEfdFD",
    [DT_INT16]      = "hhhilhildfffdFD",
    [DT_INT32]      = "iiiiliildddddDD",
    [DT_INT64]      = "lllllllldddddDD",
    [DT_UINT8]      = "BhhilBHILeEfdFD",
    [DT_UINT16]     = "HiiilHHILfffdFD",
    [DT_UINT32]     = "IllllIIILddddDD",
    [DT_UINT64]     = "LddddLLLLddddDD",
    [DT_FLOAT16]    = "eefddefddeffdFD",
    [DT_BFLOAT16]   = "EEfddEfddfEfdFD",
    [DT_FLOAT32]    = "fffddffddfffdFD",
    [DT_FLOAT64]    = "dddddddddddddDD",
    [DT_COMPLEX64]  = "FFFDDFFDDFFFDFD",
    [DT_COMPLEX128] = "DDDDDDDDDDDDDDD",
};

/* Which of the marks in `casts` each rule allows. */
static const struct {
    const char *name, *passes;
} castings[] = {
    [UF_CAST_DEFAULT]   = {"same_kind", "=sk"},
    [UF_CAST_NO]        = {"no",        "="},
    [UF_CAST_EQUIV]     = {"equiv",     "="},
    [UF_CAST_SAFE]      = {"safe",      "=s"},
    [UF_CAST_SAME_KIND] = {"same_kind", "=sk"},
    [UF_CAST_UNSAFE]    = {"unsafe",    "=sk."},
};

/* clang-format on */

const uint8_t dtype_by_dl[UF_BOOL_CODE + 1][5] = {
    [kDLInt] = {DT_INT8 + 1, DT_INT16 + 1, DT_INT32 + 1, DT_INT64 + 1},
    [kDLUInt] = {DT_UINT8 + 1, DT_UINT16 + 1, DT_UINT32 + 1, DT_UINT64 + 1},
    [kDLFloat] = {0, DT_FLOAT16 + 1, DT_FLOAT32 + 1, DT_FLOAT64 + 1},
    [kDLBfloat] = {0, DT_BFLOAT16 + 1},
    [kDLComplex] = {0, 0, 0, DT_COMPLEX64 + 1, DT_COMPLEX128 + 1},
    [UF_BOOL_CODE] = {DT_BOOL + 1},
};

dtype dtype_of_name(const char *name, size_t length) {
    for (int t = 0; t < DT_COUNT; t++)
        if (strlen(dtypes[t].name) == length && !memcmp(dtypes[t].name, name, length))
            return (dtype)t;
    return DT_NONE;
}

dtype dtype_of_code(char code) {
    unsigned char c = (unsigned char)code;
    return c < COUNT(codes) && codes[c].known ? (dtype)codes[c].type : DT_NONE;
}

bool dtype_can_cast(dtype from, dtype to, uf_casting casting) {
    assert(from < DT_COUNT && to < DT_COUNT && casting < COUNT(castings));
    return strchr(castings[casting].passes, casts[from][to]) != NULL;
}

uf_casting casting_least(dtype from, dtype to) {
    uf_casting rule = UF_CAST_NO;
    while (rule < UF_CAST_UNSAFE && !dtype_can_cast(from, to, rule))
        rule++;
    return rule;
}

dtype dtype_promote(dtype a, dtype b) {
    assert(a < DT_COUNT && b < DT_COUNT);
    return dtype_of_code(promotions[a][b]);
}

const char *casting_name(uf_casting casting) { return castings[casting].name; }
