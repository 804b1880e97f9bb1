/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: takes the reader's locale before anything else begins, as many programs do in main. */
#include <locale.h>
#include <stdlib.h>

__attribute__((constructor)) static void set_locale(void)
{
    if (!setlocale(LC_ALL, ""))
        abort(); /* a locale that isn't there would show nothing */
}
