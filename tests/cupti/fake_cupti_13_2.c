/* SPDX-License-Identifier: Apache-2.0 */
/* What CUDA 13.2's CUPTI has and its neighbours, one way or the other, do not: built together with fake_cupti.c. */
#include "tests/cupti/fake_cupti.h"

FAKE_API int cuptiActivityGetStructSize(int kind, uint32_t version, size_t *size);

int cuptiActivityGetStructSize(int kind, uint32_t version, size_t *size)
{
    (void)kind, (void)version;
    *size = 0;
    return 1;
}
