/* SPDX-License-Identifier: Apache-2.0 */
/* cublasStatus_t as cuBLAS's documentation lists it (section "cublasStatus_t"), with the numbers of cublas_api.h, the same
 * in CUDA 12 and 13. */
#include "report/status_name.h"

#include <stddef.h>

/* clang-format off */
static const struct {
    int32_t status;
    const char *name;
} names[] = {
    {0,  "CUBLAS_STATUS_SUCCESS"},
    {1,  "CUBLAS_STATUS_NOT_INITIALIZED"},
    {3,  "CUBLAS_STATUS_ALLOC_FAILED"},
    {7,  "CUBLAS_STATUS_INVALID_VALUE"},
    {8,  "CUBLAS_STATUS_ARCH_MISMATCH"},
    {11, "CUBLAS_STATUS_MAPPING_ERROR"},
    {13, "CUBLAS_STATUS_EXECUTION_FAILED"},
    {14, "CUBLAS_STATUS_INTERNAL_ERROR"},
    {15, "CUBLAS_STATUS_NOT_SUPPORTED"},
    {16, "CUBLAS_STATUS_LICENSE_ERROR"},
};
/* clang-format on */

const char *status_name(int32_t status)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].status == status)
            return names[i].name;
    return NULL;
}
