/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds first: a file may be cut or made up. */
#include "cli/elf_image.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const void *elf_image_at(const struct elf_image *image, uint64_t offset, uint64_t size)
{
    if (offset > image->size || size > image->size - offset)
        return NULL;
    return image->bytes + offset;
}

const void *elf_image_table(const struct elf_image *image, uint64_t offset, uint64_t size)
{
    return offset % 8 ? NULL : elf_image_at(image, offset, size);
}

const char *elf_image_text(const struct elf_image *image, uint64_t offset)
{
    const char *text = elf_image_at(image, offset, 1);
    return text && memchr(text, '\0', image->size - offset) ? text : NULL;
}

bool elf_image_map(const char *path, struct elf_image *image, struct stat *status)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    void *bytes = MAP_FAILED;
    if (fstat(fd, status) == 0 && status->st_size >= 4)
        bytes = mmap(NULL, (size_t)status->st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    *image = (struct elf_image){bytes, (size_t)status->st_size};
    return bytes != MAP_FAILED;
}

void elf_image_unmap(const struct elf_image *image)
{
    munmap((void *)image->bytes, image->size);
}
