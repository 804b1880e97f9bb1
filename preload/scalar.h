/* SPDX-License-Identifier: Apache-2.0 */
/* Zero, one or something else: what alpha and beta on the host are. */
#ifndef PRELOAD_SCALAR_H
#define PRELOAD_SCALAR_H

#include <stddef.h>
#include <stdint.h>

#include "preload/cublas_types.h"
#include "trace/trace.h"

/* Size of a scalar of cudaDataType TYPE; 0 of a type that no scalar has. */
size_t scalar_bytes(int type);

/* VALUE: of cudaDataType TYPE, on the host, not NULL. Goes by the table of types. */
enum trace_scalar scalar_classify_by_table(const void *value, int type);

/* The same for a float, which nearly every scalar is: that row of the table without the search. Compares bits, as the
 * others do, so no floating-point flag is touched. */
static inline enum trace_scalar scalar_classify_float(const void *value)
{
    uint32_t bits;
    __builtin_memcpy(&bits, value, sizeof bits);
    return bits == 0x3f800000 ? TRACE_SCALAR_ONE : bits << 1 ? TRACE_SCALAR_OTHER : TRACE_SCALAR_ZERO;
}

/* The same for any type, NULL being unknown. */
static inline enum trace_scalar scalar_classify(const void *value, int type)
{
    if (!value)
        return TRACE_SCALAR_UNKNOWN;
    return __builtin_expect(type == VENDOR_R_32F, 1) ? scalar_classify_float(value)
                                                     : scalar_classify_by_table(value, type);
}

#endif
