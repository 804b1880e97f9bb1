/* SPDX-License-Identifier: Apache-2.0 */
/* A file in memory, read as ELF: everything is checked against the file's length. */
#ifndef CLI_ELF_IMAGE_H
#define CLI_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct elf_image {
    const unsigned char *bytes;
    size_t size;
};

/* False: it can't be read or has less than four bytes. *STATUS is the file's. */
bool elf_image_map(const char *path, struct elf_image *image, struct stat *status);
void elf_image_unmap(const struct elf_image *image);

/* SIZE bytes at OFFSET, NULL if the file has not as many. */
const void *elf_image_at(const struct elf_image *image, uint64_t offset, uint64_t size);
/* The same for tables of structs, which start aligned in every file that a linker wrote. */
const void *elf_image_table(const struct elf_image *image, uint64_t offset, uint64_t size);
/* Text that ends inside the file, else NULL. */
const char *elf_image_text(const struct elf_image *image, uint64_t offset);

#endif
