/* SPDX-License-Identifier: Apache-2.0 */
/* By process_vm_readv() on this process itself, which fails where a read would fault. */
#include "preload/loaded_image.h"

#include <link.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SEGMENTS_MOST = 32, ENTRIES_MOST = 256, SONAME_BYTES = 64 };

/* The bytes that are there up to SIZE, 0: none. */
static size_t read_at(uintptr_t address, void *to, size_t size)
{
    struct iovec local = {to, size}, remote = {(void *)address, size};
    ssize_t bytes = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    return bytes > 0 ? (size_t)bytes : 0;
}

struct image {
    uintptr_t bias; /* added to an address of the file */
    ElfW(Dyn) entries[ENTRIES_MOST];
    size_t count;
    uintptr_t strings;
};

static bool read_dynamic(struct image *image, uintptr_t start)
{
    ElfW(Ehdr) header;
    ElfW(Phdr) segments[SEGMENTS_MOST];
    uintptr_t dynamic = 0, first = UINTPTR_MAX;
    if (read_at(start, &header, sizeof header) != sizeof header || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_phentsize != sizeof *segments || header.e_phnum > SEGMENTS_MOST ||
        read_at(start + header.e_phoff, segments, header.e_phnum * sizeof *segments) !=
            header.e_phnum * sizeof *segments)
        return false;
    for (int i = 0; i < header.e_phnum; i++) {
        if (segments[i].p_type == PT_LOAD && segments[i].p_vaddr < first)
            first = segments[i].p_vaddr;
        if (segments[i].p_type == PT_DYNAMIC)
            dynamic = segments[i].p_vaddr;
    }
    if (!dynamic || first == UINTPTR_MAX)
        return false;
    image->bias = start - first;
    image->count = read_at(image->bias + dynamic, image->entries, sizeof image->entries) / sizeof *image->entries;
    return image->count > 0;
}

bool loaded_image_needs(uintptr_t start, bool (*matches)(const char *soname))
{
    struct image image = {0};
    if (!read_dynamic(&image, start))
        return false;
    for (size_t i = 0; i < image.count && image.entries[i].d_tag != DT_NULL; i++)
        if (image.entries[i].d_tag == DT_STRTAB) /* relocated in place, but where it can't be written */
            image.strings = image.entries[i].d_un.d_ptr + (image.entries[i].d_un.d_ptr < image.bias ? image.bias : 0);
    for (size_t i = 0; i < image.count && image.strings && image.entries[i].d_tag != DT_NULL; i++) {
        char soname[SONAME_BYTES];
        if (image.entries[i].d_tag != DT_NEEDED)
            continue;
        size_t bytes = read_at(image.strings + image.entries[i].d_un.d_val, soname, sizeof soname - 1);
        soname[bytes] = '\0';
        if (bytes && matches(soname))
            return true;
    }
    return false;
}
