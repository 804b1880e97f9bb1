/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the dynamic section of a loaded library. Tables as in the System V ABI, chapter 5, and the GNU hash section as
 * binutils writes it: buckets over sorted symbols, chains that end with a set lowest bit. */
#include "preload/elf_symbol.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct tables {
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Half) * versions;
    const uint32_t *gnu_hash, *old_hash;
    ElfW(Xword) soname; /* place in the strings, 0: none */
};

/* The loader relocates these addresses in place, except where it can't write, as in the vDSO. */
static const void *address_in(const struct link_map *map, ElfW(Addr) address)
{
    return (const void *)(address < map->l_addr ? address + map->l_addr : address);
}

static struct tables tables_of(const struct link_map *map)
{
    struct tables t = {0};
    for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMTAB)
            t.symbols = address_in(map, d->d_un.d_ptr);
        else if (d->d_tag == DT_STRTAB)
            t.strings = address_in(map, d->d_un.d_ptr);
        else if (d->d_tag == DT_VERSYM)
            t.versions = address_in(map, d->d_un.d_ptr);
        else if (d->d_tag == DT_GNU_HASH)
            t.gnu_hash = address_in(map, d->d_un.d_ptr);
        else if (d->d_tag == DT_HASH)
            t.old_hash = address_in(map, d->d_un.d_ptr);
        else if (d->d_tag == DT_SONAME)
            t.soname = d->d_un.d_val;
    }
    return t;
}

/* Keeps the symbol at INDEX in *BEST if it is NAME; true if no better one can come. */
static bool consider(const struct tables *t, uint32_t index, const char *name, const ElfW(Sym) * *best)
{
    const ElfW(Sym) *symbol = &t->symbols[index];
    if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC ||
        strcmp(t->strings + symbol->st_name, name) != 0)
        return false;
    bool hidden = t->versions && (t->versions[index] & 0x8000);
    if (!*best || !hidden)
        *best = symbol;
    return !hidden;
}

static const ElfW(Sym) * find_gnu(const struct tables *t, const char *name)
{
    uint32_t buckets = t->gnu_hash[0], first = t->gnu_hash[1], bloom_words = t->gnu_hash[2], hash = 5381;
    const uint32_t *bucket = t->gnu_hash + 4 + (size_t)bloom_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chain = bucket + buckets;
    const ElfW(Sym) *best = NULL;
    for (const char *c = name; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    uint32_t index = buckets ? bucket[hash % buckets] : 0;
    if (index < first)
        return NULL;
    do {
        if ((chain[index - first] | 1) == (hash | 1) && consider(t, index, name, &best))
            break;
    } while (!(chain[index++ - first] & 1));
    return best;
}

static const ElfW(Sym) * find_old(const struct tables *t, const char *name)
{
    uint32_t buckets = t->old_hash[0], hash = 0;
    const uint32_t *bucket = t->old_hash + 2, *chain = bucket + buckets;
    const ElfW(Sym) *best = NULL;
    for (const char *c = name; *c; c++) {
        hash = (hash << 4) + (unsigned char)*c;
        hash = (hash ^ (hash >> 24 & 0xf0)) & 0xfffffff;
    }
    for (uint32_t index = buckets ? bucket[hash % buckets] : 0; index; index = chain[index])
        if (consider(t, index, name, &best))
            break;
    return best;
}

void *elf_symbol_find(const struct link_map *map, const char *name)
{
    struct tables t = tables_of(map);
    if (!t.symbols || !t.strings || (!t.gnu_hash && !t.old_hash))
        return NULL;
    const ElfW(Sym) *symbol = t.gnu_hash ? find_gnu(&t, name) : find_old(&t, name);
    return symbol ? (void *)(map->l_addr + symbol->st_value) : NULL;
}

const char *elf_symbol_soname(const struct link_map *map)
{
    struct tables t = tables_of(map);
    if (t.strings && t.soname)
        return t.strings + t.soname;
    const char *path = map->l_name ? map->l_name : "", *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
