/* SPDX-License-Identifier: Apache-2.0 */
/* What a loaded library says of itself, read from its own tables: no call into the loader, no lock, no allocation. */
#ifndef PRELOAD_ELF_SYMBOL_H
#define PRELOAD_ELF_SYMBOL_H

#include <link.h>

/* The function NAME that MAP itself defines, in its default version, else in any. NULL if there is none, or if it is one
 * that picks itself when loaded (IFUNC). By the GNU hash table, else by the old one. */
void *elf_symbol_find(const struct link_map *map, const char *name);

/* DT_SONAME, else the file's name without its folder; "" for a program. */
const char *elf_symbol_soname(const struct link_map *map);

#endif
