/* SPDX-License-Identifier: Apache-2.0 */
/* Zero, one or something else: what alpha and beta on the host are. */
#ifndef PRELOAD_SCALAR_H
#define PRELOAD_SCALAR_H

#include "trace/trace.h"

/* VALUE: of cudaDataType TYPE, on the host; NULL is unknown. Compares bits, so no floating-point flag is touched. */
enum trace_scalar scalar_classify(const void *value, int type);

#endif
