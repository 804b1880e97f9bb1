/* SPDX-License-Identifier: Apache-2.0 */
/* The same rows from our declarations and from the vendor's; the last has no name. */
#ifndef TESTS_PRELOAD_VENDOR_COMPARE_H
#define TESTS_PRELOAD_VENDOR_COMPARE_H

#include <stddef.h>

struct vendor_row {
    const char *name;
    size_t value;
};
extern const struct vendor_row our_rows[], vendor_rows[];

#define SIZE(type)                                                                                                     \
    {                                                                                                                  \
        "sizeof " #type, sizeof(type)                                                                                  \
    }
#define ALIGNMENT(type)                                                                                                \
    {                                                                                                                  \
        "alignment of " #type, _Alignof(type)                                                                          \
    }
#define OFFSET(type, field)                                                                                            \
    {                                                                                                                  \
        "offset of " #field " in " #type, offsetof(type, field)                                                        \
    }
/* A number of ours; both are integers or addresses. */
#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)

#endif
