/* SPDX-License-Identifier: Apache-2.0 */
/* Six matrix multiplies by a cuBLAS that is built in, with the runtime built in as well or linked by SONAME. */
#include "tests/e2e/gemms.h"

int main(void)
{
    static struct gemms gemms;
    int status = gemms_open(&gemms) ? 0 : 2;
    for (int i = 0; i < 3 && !status; i++)
        status = gemms_ex(&gemms, 4096, 256, 4096);
    if (!status)
        status = gemms_sgemm(&gemms, 1000, 500, 200);
    for (int i = 0; i < 2 && !status; i++)
        status = gemms_lt(&gemms, 2048, 64, 1024);
    return status || cudaStreamSynchronize(gemms.stream) != cudaSuccess;
}
