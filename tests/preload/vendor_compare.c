/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and offsets that we declare are the vendor's. */
#include "tests/preload/vendor_compare.h"

#include <stdio.h>

int main(void)
{
    int differences = 0, rows = 0;
    for (; our_rows[rows].name; rows++)
        if (our_rows[rows].value != vendor_rows[rows].value) {
            printf("%s: ours %zu, the vendor's %zu\n", our_rows[rows].name, our_rows[rows].value,
                   vendor_rows[rows].value);
            differences++;
        }
    printf("%d of %d numbers differ\n", differences, rows);
    return differences != 0 || rows == 0;
}
