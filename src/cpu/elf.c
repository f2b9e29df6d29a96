/* elf.c - reads and changes, in memory, the symbol and section tables of an object file that LLVM just made for this
 * processor. */
#include <assert.h>
#include <elf.h>

#include "cpu/cpu.h"

static Elf64_Shdr *sections(const char *object, size_t size, int *count) {
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)object;
    *count = 0;
    if (size < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        head->e_shoff > size || head->e_shnum > (size - head->e_shoff) / sizeof(Elf64_Shdr))
        return NULL;
    *count = head->e_shnum;
    return (Elf64_Shdr *)(uintptr_t)(object + head->e_shoff);
}

/* The symbol table of an object, which always has one. */
typedef struct symbols {
    Elf64_Sym *symbol;
    size_t count;
    char *names;
} symbols;

static symbols symbols_of(const char *object, size_t size) {
    int count;
    const Elf64_Shdr *section = sections(object, size, &count);
    for (int s = 0; s < count; s++)
        if (section[s].sh_type == SHT_SYMTAB)
            return (symbols){(Elf64_Sym *)(uintptr_t)(object + section[s].sh_offset),
                             section[s].sh_size / sizeof(Elf64_Sym),
                             (char *)(uintptr_t)object + section[section[s].sh_link].sh_offset};
    return (symbols){0};
}

uf_status elf_needs(const char *object, size_t size, uf_status (*visit)(void *user, const char *name), void *user) {
    int count;
    symbols t = symbols_of(object, size);
    for (size_t k = 1; k < t.count; k++)
        if (t.symbol[k].st_shndx == SHN_UNDEF)
            TRY(visit(user, t.names + t.symbol[k].st_name));
    return sections(object, size, &count) ? UF_OK : fail(UF_ERR_COMPILE, "LLVM's object code is not a 64-bit ELF file");
}

void elf_sizes(const char *object, size_t size, size_t *code_bytes, size_t *data_bytes) {
    int count;
    const Elf64_Shdr *section = sections(object, size, &count);
    *code_bytes = *data_bytes = 0;
    for (int s = 0; s < count; s++) {
        if (section[s].sh_type != SHT_PROGBITS || !(section[s].sh_flags & SHF_ALLOC))
            continue;
        if (section[s].sh_flags & SHF_EXECINSTR)
            *code_bytes += section[s].sh_size;
        else
            *data_bytes += section[s].sh_size;
    }
}

static const char *section_name(const char *object, const Elf64_Shdr *section, int index) {
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)object;
    return object + section[head->e_shstrndx].sh_offset + section[index].sh_name;
}

int elf_section(const char *object, size_t size, const char *name, const char **content, size_t *bytes) {
    int count;
    const Elf64_Shdr *section = sections(object, size, &count);
    for (int s = 1; s < count; s++)
        if (!strcmp(section_name(object, section, s), name)) {
            *content = object + section[s].sh_offset;
            *bytes = section[s].sh_size;
            return s;
        }
    *content = NULL;
    *bytes = 0;
    return 0;
}

void elf_keep_frames_back(char *object, size_t size) {
    int count;
    Elf64_Shdr *section = sections(object, size, &count);
    for (int s = 1; s < count; s++)
        if (!strcmp(section_name(object, section, s), ".eh_frame")) {
            section[s].sh_flags &= ~(uint64_t)SHF_ALLOC;
            /* The linker knows the section by its name, so the name is taken away as well. */
            section[s].sh_name = 0;
        }
}

static const Elf64_Sym *find_symbol(const symbols *t, const char *name) {
    for (size_t k = 1; k < t->count; k++)
        if (!strcmp(t->names + t->symbol[k].st_name, name))
            return &t->symbol[k];
    return NULL;
}

void elf_place(char *object, size_t size, const char *entry, const char *name, uintptr_t address) {
    int count;
    Elf64_Shdr *section = sections(object, size, &count);
    symbols t = symbols_of(object, size);
    const Elf64_Sym *symbol = find_symbol(&t, entry);
    for (int s = 1; s < count; s++)
        if (symbol && s == symbol->st_shndx)
            section[s].sh_addr = address - symbol->st_value;
        else
            section[s].sh_flags &= ~(uint64_t)SHF_ALLOC;
    if (symbol && strlen(name) <= strlen(entry))
        strcpy(t.names + symbol->st_name, name);
}

uint64_t elf_offset(const char *object, size_t size, const char *entry) {
    symbols t = symbols_of(object, size);
    const Elf64_Sym *symbol = find_symbol(&t, entry);
    return symbol ? symbol->st_value : 0;
}

void elf_functions(const char *object, size_t size, const char *entry, elf_function *visit, void *user) {
    symbols t = symbols_of(object, size);
    const Elf64_Sym *from = find_symbol(&t, entry);
    for (size_t k = 1; from && k < t.count; k++)
        if (ELF64_ST_TYPE(t.symbol[k].st_info) == STT_FUNC && t.symbol[k].st_shndx == from->st_shndx)
            visit(user, t.names + t.symbol[k].st_name, t.symbol[k].st_value, t.symbol[k].st_size);
}

void elf_relocations(const char *object, size_t size, int target, elf_relocation *visit, void *user) {
    int count;
    const Elf64_Shdr *section = sections(object, size, &count);
    symbols t = symbols_of(object, size);
    assert(t.symbol); /* what has relocations has symbols */
    for (int s = 1; s < count; s++) {
        if (section[s].sh_type != SHT_RELA || section[s].sh_info != (unsigned)target)
            continue;
        const Elf64_Rela *r = (const Elf64_Rela *)(object + section[s].sh_offset);
        for (size_t k = 0; k < section[s].sh_size / sizeof *r; k++)
            visit(user, r[k].r_offset, t.symbol[ELF64_R_SYM(r[k].r_info)].st_value + (uint64_t)r[k].r_addend);
    }
}
