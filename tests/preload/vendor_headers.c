/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and offsets that we declare are the vendor's. */
#include <stdio.h>

#include "tests/preload/vendor_layout.h"

int main(void)
{
    int differences = 0;
    for (int i = 0; i < VENDOR_LAYOUT_COUNT; i++)
        if (our_layout[i] != vendor_layout[i]) {
            printf("row %d of vendor_layout.c: ours %zu, the vendor's %zu\n", i, our_layout[i], vendor_layout[i]);
            differences++;
        }
    printf("%d of %d numbers differ\n", differences, VENDOR_LAYOUT_COUNT);
    return differences != 0;
}
