/* elf.c - reads the symbol and section tables of an object file that LLVM just made for the host, in memory. */
#include <elf.h>

#include "cpu/cpu.h"

static const Elf64_Shdr *sections(const char *object, size_t size, int *count) {
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)object;
    *count = 0;
    if (size < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_ident[EI_CLASS] != ELFCLASS64 ||
        head->e_shoff > size || head->e_shnum > (size - head->e_shoff) / sizeof(Elf64_Shdr))
        return NULL;
    *count = head->e_shnum;
    return (const Elf64_Shdr *)(object + head->e_shoff);
}

uf_status elf_needs(const char *object, size_t size, uf_status (*visit)(void *user, const char *name), void *user) {
    int count;
    const Elf64_Shdr *section = sections(object, size, &count);
    for (int s = 0; s < count; s++) {
        if (section[s].sh_type != SHT_SYMTAB)
            continue;
        const Elf64_Sym *symbol = (const Elf64_Sym *)(object + section[s].sh_offset);
        const char *names = object + section[section[s].sh_link].sh_offset;
        for (size_t k = 1; k < section[s].sh_size / sizeof *symbol; k++)
            if (symbol[k].st_shndx == SHN_UNDEF)
                TRY(visit(user, names + symbol[k].st_name));
    }
    return section ? UF_OK : fail(UF_ERR_COMPILE, "LLVM's object code is not a 64-bit ELF file");
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
