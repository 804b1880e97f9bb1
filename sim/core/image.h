/* SPDX-License-Identifier: Apache-2.0 */
/* What a module's image tells: symbols and parameters of an ELF file, entries and parameters of PTX text. */
#ifndef SIM_CORE_IMAGE_H
#define SIM_CORE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

struct image_param {
    size_t offset, size;
};

struct image_symbol {
    char *name;
    bool kernel;     /* else a variable */
    size_t size;     /* of a variable */
    int param_count; /* -1: unknown */
    bool compiled;   /* they are told by a cubin, not by PTX text */
    struct image_param *params;
};

struct image {
    bool opaque; /* its symbols can't be told */
    struct image_symbol *symbols;
    size_t count, capacity;
};

/* False: not an image of any known kind. A container gives what a device of ARCHITECTURE (10 * major + minor) takes. */
bool image_read(struct image *image, const void *bytes, int architecture);
void image_release(struct image *image);
struct image_symbol *image_add(struct image *image, const char *name, size_t length, bool kernel);
const struct image_symbol *image_find(const struct image *image, const char *name, bool kernel);

bool ptx_read(struct image *image, const char *text);
/* How many parameters TEXT declares of kernel NAME, and *PARAMS of them, to be freed; negative: not told. */
int ptx_parameters(const char *text, const char *name, struct image_param **params);
bool elf_read(struct image *image, const void *bytes);

#endif
