/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes as users write them. */
#ifndef CLI_BYTE_SIZE_H
#define CLI_BYTE_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/* A whole number of bytes, or of K, M, G or T (powers of 1024; also KiB and so on). False: it is none, or too large. */
bool byte_size_parse(const char *text, uint64_t *bytes);

#endif
