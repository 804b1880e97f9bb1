/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer target: any bytes as a kernel's name. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/kernel_signature.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct kernel_signature signature;
    char *name = malloc(size + 3);
    if (!name)
        return 0;
    memcpy(name, "_Z", 2);
    memcpy(name + 2, data, size);
    name[size + 2] = '\0';
    if (kernel_signature_parse(name, &signature)) {
        const char *end = signature.text + sizeof signature.text;
        for (unsigned i = 0; i < signature.parameter_count; i++)
            if (signature.parameter[i] < signature.text ||
                !memchr(signature.parameter[i], 0, (size_t)(end - signature.parameter[i])))
                abort();
    }
    free(name);
    return 0;
}
