/* SPDX-License-Identifier: Apache-2.0 */
/* The wrapper is in NVIDIA's public fatbinary_section.h. What it points to is laid out as public tools describe it, among
 * them n-eiling/cuda-fatbin-decompression: a header, then entries of a kind, an architecture and bytes. Compressed bytes
 * stay unread: PTX nearly always is, cubins are as the program was built. */
#include "sim/core/fat_binary.h"

#include <elf.h>
#include <string.h>

#define WRAPPER_MAGIC   0x466243b1u
#define CONTAINER_MAGIC 0xba55ed50u

struct wrapper {
    uint32_t magic, version;
    const void *container;
    const void *file_or_others;
};

struct container {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* of all entries */
};

enum entry_kind { ENTRY_PTX = 1, ENTRY_CUBIN = 2 };

struct entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes; /* that follow the header */
    uint32_t compressed_bytes, options;
    uint16_t minor, major;
    uint32_t architecture;
};

static uint32_t magic_of(const void *image)
{
    uint32_t magic;
    memcpy(&magic, image, sizeof magic);
    return magic;
}

bool fat_binary_is(const void *image)
{
    uint32_t magic = magic_of(image);
    return magic == WRAPPER_MAGIC || magic == CONTAINER_MAGIC;
}

/* A cubin runs on its own major and later minors. */
static bool runs_on(unsigned cubin, int device)
{
    return cubin / 10 == (unsigned)device / 10 && cubin <= (unsigned)device;
}

struct choice {
    unsigned cubin, ptx; /* architectures of what is best yet; 0: nothing */
};

static void consider_cubin(const struct entry *entry, const char *bytes, int architecture, struct choice *choice,
                           struct fat_binary *found)
{
    bool readable = entry->bytes > sizeof(Elf64_Ehdr) && !memcmp(bytes, ELFMAG, SELFMAG);
    bool better = runs_on(entry->architecture, architecture) && entry->architecture > choice->cubin;
    if (better)
        choice->cubin = entry->architecture;
    if (readable && (better || !found->cubin)) {
        found->cubin = bytes;
        found->cubin_bytes = entry->bytes;
    }
}

static void consider_ptx(const struct entry *entry, const char *bytes, int architecture, struct choice *choice,
                         struct fat_binary *found)
{
    if (entry->architecture > (unsigned)architecture || entry->architecture <= choice->ptx)
        return;
    choice->ptx = entry->architecture;
    bool readable = !entry->compressed_bytes && entry->bytes && !bytes[entry->bytes - 1];
    found->ptx = readable ? bytes : NULL;
}

bool fat_binary_read(const void *image, int architecture, struct fat_binary *found)
{
    const char *at = magic_of(image) == WRAPPER_MAGIC ? ((const struct wrapper *)image)->container : image;
    struct choice choice = {0};
    *found = (struct fat_binary){0};
    if (!at || magic_of(at) != CONTAINER_MAGIC)
        return false;
    struct container container;
    memcpy(&container, at, sizeof container);
    at += container.header_bytes;
    for (uint64_t left = container.bytes; left >= sizeof(struct entry);) {
        struct entry entry;
        memcpy(&entry, at, sizeof entry);
        if (entry.header_bytes < sizeof entry || entry.header_bytes > left || entry.bytes > left - entry.header_bytes)
            return false;
        if (entry.kind == ENTRY_CUBIN)
            consider_cubin(&entry, at + entry.header_bytes, architecture, &choice, found);
        else if (entry.kind == ENTRY_PTX)
            consider_ptx(&entry, at + entry.header_bytes, architecture, &choice, found);
        at += entry.header_bytes + entry.bytes;
        left -= entry.header_bytes + entry.bytes;
    }
    found->ptx_version = (int)(choice.cubin ? choice.cubin : choice.ptx);
    found->binary_version = choice.cubin ? (int)choice.cubin : choice.ptx ? architecture : 0;
    return true;
}
