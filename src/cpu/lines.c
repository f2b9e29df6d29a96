/* lines.c - reads the line table that LLVM wrote into an object file: DWARF's line number program, versions 2 to 5.
 * All of it is about one file, the text of the kernel, so that the tables of files are skipped. */
#include "cpu/cpu.h"

/* Bytes that are read one after the other. A read past their end gives zeros, and sets `exhausted`. */
typedef struct reader {
    const unsigned char *at, *end;
    bool exhausted;
} reader;

static uint64_t fixed(reader *r, size_t bytes) {
    uint64_t value = 0;
    if ((size_t)(r->end - r->at) < bytes) {
        r->exhausted = true;
        r->at = r->end;
        return 0;
    }
    for (size_t k = 0; k < bytes; k++)
        value |= (uint64_t)r->at[k] << 8 * k;
    r->at += bytes;
    return value;
}

/* Reads a LEB128 number. as_signed: its highest bit is the sign. */
static int64_t variable(reader *r, bool as_signed) {
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = fixed(r, 1);
        value |= shift < 64 ? (byte & 0x7f) << shift : 0;
        shift += 7;
    } while (byte & 0x80);
    if (as_signed && byte & 0x40 && shift < 64)
        value |= ~UINT64_C(0) << shift;
    return (int64_t)value;
}

/* The numbers of DWARF that are used. */
enum {
    DW_LNS_EXTENDED = 0,
    DW_LNS_COPY = 1,
    DW_LNS_ADVANCE_PC = 2,
    DW_LNS_ADVANCE_LINE = 3,
    DW_LNS_CONST_ADD_PC = 8,
    DW_LNS_FIXED_ADVANCE_PC = 9,
    DW_LNE_END_SEQUENCE = 1,
    DW_LNE_SET_ADDRESS = 2
};

typedef struct program {
    reader r;
    const char *object, *section;
    size_t size;
    int index; /* the number of the section */
    uint64_t step;
    int line_base;
    unsigned line_range, opcode_base;
    const unsigned char *lengths; /* the number of operands of each standard opcode, from 1 on */
    uint64_t offset;
    int64_t line;
    line_row *visit;
    void *user;
} program;

typedef struct wanted {
    uint64_t offset, value;
} wanted;

static void match(void *user, uint64_t offset, uint64_t value) {
    wanted *w = user;
    if (offset == w->offset)
        w->value = value;
}

/* Reads an address, which is a relocation against the code's section. */
static void set_address(program *p) {
    wanted w = {.offset = (uint64_t)((const char *)p->r.at - p->section)};
    elf_relocations(p->object, p->size, p->index, match, &w);
    p->offset = w.value;
}

static void extended(program *p) {
    uint64_t length = (uint64_t)variable(&p->r, false);
    reader inner = p->r;
    if (length > (uint64_t)(p->r.end - p->r.at)) {
        p->r.exhausted = true;
        return;
    }
    uint64_t opcode = fixed(&p->r, 1);
    if (opcode == DW_LNE_SET_ADDRESS)
        set_address(p);
    if (opcode == DW_LNE_END_SEQUENCE) {
        p->visit(p->user, p->offset, 0);
        p->offset = 0;
        p->line = 1;
    }
    p->r.at = inner.at + length;
}

static void standard(program *p, unsigned opcode) {
    switch (opcode) {
    case DW_LNS_EXTENDED:
        extended(p);
        break;
    case DW_LNS_COPY:
        p->visit(p->user, p->offset, (unsigned)p->line);
        break;
    case DW_LNS_ADVANCE_PC:
        p->offset += (uint64_t)variable(&p->r, false) * p->step;
        break;
    case DW_LNS_ADVANCE_LINE:
        p->line += variable(&p->r, true);
        break;
    case DW_LNS_CONST_ADD_PC:
        p->offset += (255 - p->opcode_base) / p->line_range * p->step;
        break;
    case DW_LNS_FIXED_ADVANCE_PC:
        p->offset += fixed(&p->r, 2);
        break;
    default: /* opcodes for columns, files and marks */
        for (int k = 0; k < p->lengths[opcode - 1]; k++)
            variable(&p->r, false);
    }
}

static void special(program *p, unsigned opcode) {
    unsigned adjusted = opcode - p->opcode_base;
    p->offset += adjusted / p->line_range * p->step;
    p->line += p->line_base + (int)(adjusted % p->line_range);
    p->visit(p->user, p->offset, (unsigned)p->line);
}

/* Reads the header of a unit up to its tables of files, and moves on to its program. False: its version is not
 * known. */
static bool header(program *p) {
    unsigned version = (unsigned)fixed(&p->r, 2);
    if (version < 2 || version > 5)
        return false;
    if (version == 5)
        fixed(&p->r, 2); /* the sizes of addresses and of segments */
    uint64_t length = fixed(&p->r, 4);
    const unsigned char *tables = p->r.at;
    if (length > (uint64_t)(p->r.end - tables))
        return false;
    p->step = fixed(&p->r, 1);
    fixed(&p->r, version >= 4 ? 2 : 1); /* operations of an instruction; whether a row is a statement */
    p->line_base = (int8_t)fixed(&p->r, 1);
    p->line_range = (unsigned)fixed(&p->r, 1);
    p->opcode_base = (unsigned)fixed(&p->r, 1);
    p->lengths = p->r.at;
    p->r.at = tables + length;
    return p->line_range && p->opcode_base && !p->r.exhausted;
}

static void unit(program *p) {
    if (!header(p))
        return;
    p->offset = 0;
    p->line = 1;
    while (p->r.at < p->r.end && !p->r.exhausted) {
        unsigned opcode = (unsigned)fixed(&p->r, 1);
        if (opcode < p->opcode_base)
            standard(p, opcode);
        else
            special(p, opcode);
    }
}

void lines_each(const char *object, size_t size, line_row *visit, void *user) {
    program p = {.object = object, .size = size, .visit = visit, .user = user};
    size_t bytes;
    p.index = elf_section(object, size, ".debug_line", &p.section, &bytes);
    reader all = {(const unsigned char *)p.section, (const unsigned char *)p.section + bytes, false};
    while (p.index && all.at < all.end) {
        uint64_t length = fixed(&all, 4); /* LLVM writes the 32-bit form */
        if (length > (uint64_t)(all.end - all.at))
            return;
        p.r = (reader){all.at, all.at + length, false};
        all.at += length;
        unit(&p);
    }
}
