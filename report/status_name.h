/* SPDX-License-Identifier: Apache-2.0 */
/* What cuBLAS and cuBLASLt return, by name. */
#ifndef REPORT_STATUS_NAME_H
#define REPORT_STATUS_NAME_H

#include <stdint.h>

const char *status_name(int32_t status); /* of a cublasStatus_t; NULL: not one of the documented ones */

#endif
