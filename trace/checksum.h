/* SPDX-License-Identifier: Apache-2.0 */
/* The checksum of a sealed block, one definition for writer and reader. It finds damage, it is no defence. */
#ifndef TRACE_CHECKSUM_H
#define TRACE_CHECKSUM_H

#include <stdint.h>

#include "trace/trace.h"

/* Over the block from its header up to USED_BYTES (at least TRACE_HEADER_BYTES, a multiple of 8), with the header's state
 * and checksum taken as 0. BLOCK is 8-byte aligned. */
uint64_t trace_checksum(const struct trace_block_header *block, uint32_t used_bytes);

#endif
