/* SPDX-License-Identifier: Apache-2.0 */
/* Host code made by the CUDA compiler registers its kernels at start-up: if the function for that is not imported, the
 * runtime is inside (cf. program.c). Of cuBLAS a static copy shows by symbols that only the library itself defines. */
#include "cli/cuda_image.h"

#include <elf.h>
#include <string.h>

#include "cli/elf_image.h"

/* Defined by the archives libcublas_static.a and libcublasLt_static.a, imported by everything else. */
static const char *const blas_symbols[] = {"cublasGemmEx", "cublasCreate_v2", "cublasLtMatmul", "cublasLtCreate"};

struct symbols {
    bool registers, imports_registration;
};

static void look_at_symbol(const char *name, bool defined, struct cuda_image *found, struct symbols *symbols)
{
    if (strcmp(name, "__cudaRegisterFatBinary") == 0) {
        symbols->registers = symbols->registers || defined;
        symbols->imports_registration = symbols->imports_registration || !defined;
    }
    for (size_t i = 0; defined && i < sizeof blas_symbols / sizeof blas_symbols[0]; i++)
        found->blas = found->blas || strcmp(name, blas_symbols[i]) == 0;
}

static void look_at_table(const struct elf_image *image, const Elf64_Shdr *section, const Elf64_Shdr *names,
                          struct cuda_image *found, struct symbols *symbols)
{
    const Elf64_Sym *rows = elf_image_table(image, section->sh_offset, section->sh_size);
    const char *text = elf_image_at(image, names->sh_offset, names->sh_size);
    if (!rows || !text || names->sh_size == 0 || text[names->sh_size - 1])
        return;
    for (uint64_t i = 0; i < section->sh_size / sizeof *rows; i++)
        if (rows[i].st_name < names->sh_size)
            look_at_symbol(text + rows[i].st_name, rows[i].st_shndx != SHN_UNDEF, found, symbols);
}

static void look(const struct elf_image *image, const Elf64_Ehdr *header, struct cuda_image *found)
{
    const Elf64_Shdr *sections =
        elf_image_table(image, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr));
    if (!sections || header->e_shentsize != sizeof *sections || header->e_shstrndx >= header->e_shnum)
        return;
    struct symbols symbols = {false, false};
    found->stripped = true;
    for (int i = 0; i < header->e_shnum; i++) {
        const Elf64_Shdr *section = &sections[i];
        const char *name = elf_image_text(image, sections[header->e_shstrndx].sh_offset + section->sh_name);
        found->kernels = found->kernels || (name && strcmp(name, ".nv_fatbin") == 0);
        found->stripped = found->stripped && section->sh_type != SHT_SYMTAB;
        if ((section->sh_type == SHT_DYNSYM || section->sh_type == SHT_SYMTAB) && section->sh_link < header->e_shnum)
            look_at_table(image, section, &sections[section->sh_link], found, &symbols);
    }
    found->runtime = symbols.registers || (found->kernels && !symbols.imports_registration);
}

bool cuda_image_examine(const char *path, struct cuda_image *found)
{
    struct elf_image image;
    struct stat status;
    *found = (struct cuda_image){0};
    if (!elf_image_map(path, &image, &status))
        return false;
    const Elf64_Ehdr *header = elf_image_at(&image, 0, sizeof *header);
    bool elf = header && memcmp(image.bytes, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64;
    if (elf)
        look(&image, header, found);
    elf_image_unmap(&image);
    return elf;
}
