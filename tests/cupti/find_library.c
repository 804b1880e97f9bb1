/* SPDX-License-Identifier: Apache-2.0 */
/* find_library DRIVER_VERSION [PREFERRED|-] [LIBRARY_TO_MAP_FIRST...]: prints how and where CUPTI was found, or why not. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cupti/cupti_library.h"

int main(int argc, char **argv)
{
    struct cupti_library library;
    char why[512] = "";
    const char *preferred = argc > 2 && strcmp(argv[2], "-") != 0 ? argv[2] : NULL;
    for (int i = 3; i < argc; i++)
        if (!dlopen(argv[i], RTLD_NOW | RTLD_LOCAL)) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
    bool found = cupti_library_find(&library, argc > 1 ? atoi(argv[1]) : 0, preferred, why, sizeof why);
    if (found)
        printf("%s|%s|%d\n", library.how, library.path, library.needs_initialized_driver);
    else
        printf("none|%s\n", why);
    return 0;
}
