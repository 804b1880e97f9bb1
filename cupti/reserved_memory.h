/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for tables of a fixed size: zeros, and pages that nobody touches cost nothing. */
#ifndef CUPTI_RESERVED_MEMORY_H
#define CUPTI_RESERVED_MEMORY_H

#include <stddef.h>

/* Page-aligned; NULL with errno set. munmap() gives it back. */
void *reserved_memory_map(size_t bytes);

#endif
