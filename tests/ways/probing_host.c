/* SPDX-License-Identifier: Apache-2.0 */
/* Linked to the library that probes; with an argument it opens that library as well, late. Prints what was found. */
#include <dlfcn.h>
#include <stdio.h>

unsigned probing_hash(void);

int main(int count, char **arguments)
{
    printf("%08x\n", probing_hash());
    return count == 2 && !dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
}
