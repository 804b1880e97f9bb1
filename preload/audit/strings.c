/* SPDX-License-Identifier: Apache-2.0 */
/* The few functions of a C library that are needed where there is none. */
#include <stddef.h>
#include <string.h>

size_t strlen(const char *text)
{
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}

int strncmp(const char *a, const char *b, size_t most)
{
    for (size_t i = 0; i < most; i++)
        if (a[i] != b[i] || !a[i])
            return (unsigned char)a[i] - (unsigned char)b[i];
    return 0;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, (size_t)-1);
}

char *strrchr(const char *text, int character)
{
    const char *found = NULL;
    for (;; text++) {
        if (*text == (char)character)
            found = text;
        if (!*text)
            return (char *)found;
    }
}

/* The compiler calls these two on its own. */
void *memset(void *at, int value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((volatile unsigned char *)at)[i] = (unsigned char)value;
    return at;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((volatile unsigned char *)to)[i] = ((const unsigned char *)from)[i];
    return to;
}
