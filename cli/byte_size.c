/* SPDX-License-Identifier: Apache-2.0 */
/* One number and one unit; no fraction, no sign, no blank. */
#include "cli/byte_size.h"

#include <string.h>
#include <strings.h>

static bool read_unit(const char *text, uint64_t *factor)
{
    static const char letters[] = "KMGT";
    *factor = 1;
    if (!*text || !strcasecmp(text, "B"))
        return true;
    for (unsigned i = 0; letters[i]; i++) {
        *factor *= 1024;
        if ((*text & ~0x20) == letters[i])
            return !text[1] || !strcasecmp(text + 1, "B") || !strcasecmp(text + 1, "iB");
    }
    return false;
}

bool byte_size_parse(const char *text, uint64_t *bytes)
{
    uint64_t number = 0, factor;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number))
            return false;
    return at != text && read_unit(at, &factor) && !__builtin_mul_overflow(number, factor, bytes);
}
