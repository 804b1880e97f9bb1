/* SPDX-License-Identifier: Apache-2.0 */
/* The same numbers from our declarations and from the vendor's. */
#ifndef TESTS_PRELOAD_VENDOR_LAYOUT_H
#define TESTS_PRELOAD_VENDOR_LAYOUT_H

#include <stddef.h>

enum { VENDOR_LAYOUT_COUNT = 20 };
extern const size_t our_layout[VENDOR_LAYOUT_COUNT], vendor_layout[VENDOR_LAYOUT_COUNT];

#endif
