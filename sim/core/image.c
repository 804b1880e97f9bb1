/* SPDX-License-Identifier: Apache-2.0 */
/* Tells images apart, and reads ELF's symbol table (a cubin is an ELF file). */
#include "sim/core/image.h"
#include "sim/core/cubin.h"
#include "sim/core/fat_binary.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct image_symbol *image_add(struct image *image, const char *name, size_t length, bool kernel)
{
    if (image->count == image->capacity) {
        size_t capacity = image->capacity ? 2 * image->capacity : 8;
        struct image_symbol *grown = realloc(image->symbols, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        image->symbols = grown;
        image->capacity = capacity;
    }
    struct image_symbol *symbol = &image->symbols[image->count];
    *symbol = (struct image_symbol){.name = strndup(name, length), .kernel = kernel, .param_count = -1};
    if (!symbol->name)
        return NULL;
    image->count++;
    return symbol;
}

const struct image_symbol *image_find(const struct image *image, const char *name, bool kernel)
{
    for (size_t i = 0; i < image->count; i++)
        if (image->symbols[i].kernel == kernel && !strcmp(image->symbols[i].name, name))
            return &image->symbols[i];
    return NULL;
}

void image_release(struct image *image)
{
    for (size_t i = 0; i < image->count; i++) {
        free(image->symbols[i].name);
        free(image->symbols[i].params);
    }
    free(image->symbols);
    *image = (struct image){0};
}

static bool is_kernel(const Elf64_Sym *symbol, const Elf64_Ehdr *header, const Elf64_Shdr *sections, const char *names,
                      const char *name)
{
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx >= header->e_shnum)
        return false;
    const char *section = names + sections[symbol->st_shndx].sh_name;
    return ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL && !strncmp(section, ".text.", 6) && !strcmp(section + 6, name);
}

bool elf_read(struct image *image, const void *bytes)
{
    const char *base = bytes;
    const Elf64_Ehdr *header = bytes;
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || !header->e_shoff || header->e_shstrndx >= header->e_shnum)
        return false;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(base + header->e_shoff);
    const char *section_names = base + sections[header->e_shstrndx].sh_offset;
    image->opaque = true;
    for (unsigned s = 0; s < header->e_shnum; s++) {
        if (sections[s].sh_type != SHT_SYMTAB || sections[s].sh_link >= header->e_shnum)
            continue;
        image->opaque = false;
        const Elf64_Sym *symbols = (const Elf64_Sym *)(base + sections[s].sh_offset);
        const char *names = base + sections[sections[s].sh_link].sh_offset;
        for (size_t i = 0; i < sections[s].sh_size / sizeof *symbols; i++) {
            const char *name = names + symbols[i].st_name;
            bool kernel = is_kernel(&symbols[i], header, sections, section_names, name);
            bool variable = ELF64_ST_TYPE(symbols[i].st_info) == STT_OBJECT && symbols[i].st_size;
            struct image_symbol *added = kernel || variable ? image_add(image, name, strlen(name), kernel) : NULL;
            if (!added)
                continue;
            added->size = symbols[i].st_size;
            added->compiled = true;
            if (kernel)
                added->param_count = cubin_parameters(bytes, 0, name, &added->params);
        }
    }
    return true;
}

/* Without a cubin or text that can be read, any name may be a kernel of it. */
static bool container_read(struct image *image, const void *bytes, int architecture)
{
    struct fat_binary found;
    if (fat_binary_read(bytes, architecture, &found)) {
        if (found.cubin && elf_read(image, found.cubin))
            return true;
        if (found.ptx && ptx_read(image, found.ptx))
            return true;
    }
    image->opaque = true;
    return true;
}

bool image_read(struct image *image, const void *bytes, int architecture)
{
    *image = (struct image){0};
    if (!memcmp(bytes, ELFMAG, SELFMAG))
        return elf_read(image, bytes);
    return fat_binary_is(bytes) ? container_read(image, bytes, architecture) : ptx_read(image, bytes);
}
