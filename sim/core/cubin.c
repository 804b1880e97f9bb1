/* SPDX-License-Identifier: Apache-2.0 */
/* A cubin has a section .nv.info.KERNEL of attributes: a byte for the form, one for the attribute's number, two for a value
 * or the size of what follows. A parameter is attribute 0x17 (KPARAM_INFO) or, of large kernels, 0x45 (KPARAM_INFO_V2), as
 * NVIDIA's `cuobjdump -elf` prints them: index, ordinal, offset, and the size, in 0x17 the upper 14 bits of a word. */
#include "sim/core/cubin.h"

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define INFO_PREFIX ".nv.info."
enum { FORM_NONE = 1, FORM_BYTE = 2, FORM_HALF = 3, FORM_SIZED = 4 };
enum { KPARAM_INFO = 0x17, KPARAM_INFO_V2 = 0x45 };
enum { PARAMETERS_MOST = 32764 }; /* bytes that a launch may pass since CUDA 12.1; each parameter is one at least */

struct bytes {
    const unsigned char *at;
    size_t count;
};

static bool part_of(const struct bytes *whole, uint64_t offset, uint64_t count)
{
    return offset <= whole->count && count <= whole->count - offset;
}

static bool info_section(const struct bytes *file, const char *kernel, struct bytes *found)
{
    Elf64_Ehdr header;
    if (!part_of(file, 0, sizeof header))
        return false;
    memcpy(&header, file->at, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum ||
        !part_of(file, header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr)))
        return false;
    const unsigned char *sections = file->at + header.e_shoff; /* a container may put a cubin anywhere */
    Elf64_Shdr names, section;
    memcpy(&names, sections + header.e_shstrndx * sizeof names, sizeof names);
    if (!part_of(file, names.sh_offset, names.sh_size))
        return false;
    size_t prefix = sizeof INFO_PREFIX - 1, length = strlen(kernel) + 1;
    for (unsigned i = 0; i < header.e_shnum; i++) {
        memcpy(&section, sections + i * sizeof section, sizeof section);
        if (section.sh_name > names.sh_size || names.sh_size - section.sh_name < prefix + length)
            continue;
        const unsigned char *name = file->at + names.sh_offset + section.sh_name;
        if (memcmp(name, INFO_PREFIX, prefix) != 0 || memcmp(name + prefix, kernel, length) != 0)
            continue;
        if (!part_of(file, section.sh_offset, section.sh_size))
            return false;
        *found = (struct bytes){file->at + section.sh_offset, section.sh_size};
        return true;
    }
    return false;
}

struct attribute {
    unsigned number;
    struct bytes value;
};

/* The attribute at the beginning of LEFT, which is moved behind it. */
static bool next_attribute(struct bytes *left, struct attribute *found)
{
    uint16_t size;
    if (left->count < 4)
        return false;
    unsigned form = left->at[0];
    memcpy(&size, left->at + 2, sizeof size);
    if (form < FORM_NONE || form > FORM_SIZED || (form == FORM_SIZED && size > left->count - 4))
        return false;
    size_t count = form == FORM_SIZED ? size : 0;
    *found = (struct attribute){left->at[1], {left->at + 4, count}};
    left->at += 4 + count;
    left->count -= 4 + count;
    return true;
}

struct parameter {
    uint32_t index;
    uint16_t ordinal, offset;
    union {
        uint32_t packed;
        struct {
            uint16_t size, kind;
        } plain;
    };
};

static bool read_parameter(const struct attribute *attribute, unsigned *ordinal, struct image_param *found)
{
    struct parameter parameter;
    if ((attribute->number != KPARAM_INFO && attribute->number != KPARAM_INFO_V2) ||
        attribute->value.count < sizeof parameter)
        return false;
    memcpy(&parameter, attribute->value.at, sizeof parameter);
    *ordinal = parameter.ordinal;
    found->offset = parameter.offset;
    found->size = attribute->number == KPARAM_INFO ? parameter.packed >> 18 : parameter.plain.size;
    return true;
}

/* Parameters come in any order; each ordinal once, none left out. */
static bool gather(struct bytes info, struct image_param *parameters, unsigned count)
{
    struct attribute attribute;
    for (unsigned i = 0; i < count; i++)
        parameters[i].size = 0;
    while (info.count) {
        unsigned ordinal;
        struct image_param found;
        if (!next_attribute(&info, &attribute))
            return false;
        if (!read_parameter(&attribute, &ordinal, &found))
            continue;
        if (ordinal >= count || parameters[ordinal].size || !found.size)
            return false;
        parameters[ordinal] = found;
    }
    return true;
}

int cubin_parameters(const void *cubin, size_t bytes, const char *kernel, struct image_param **parameters)
{
    struct bytes file = {cubin, bytes ? bytes : SIZE_MAX / 2}, info;
    struct attribute attribute;
    struct image_param unused;
    unsigned count = 0, ordinal;
    if (!info_section(&file, kernel, &info))
        return -1;
    for (struct bytes left = info; left.count; count += read_parameter(&attribute, &ordinal, &unused))
        if (!next_attribute(&left, &attribute))
            return -1;
    struct image_param *made = count <= PARAMETERS_MOST ? calloc(count + 1, sizeof *made) : NULL;
    if (!made || !gather(info, made, count)) {
        free(made);
        return -1;
    }
    *parameters = made;
    return (int)count;
}
