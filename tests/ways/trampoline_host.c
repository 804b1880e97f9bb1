/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

int cudnnCreate(void **handle);

int main(void)
{
    void *handle = NULL;
    int status = cudnnCreate(&handle);
    printf("cudnnCreate: %d, %p\n", status, handle);
    return status;
}
