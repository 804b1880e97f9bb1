/* SPDX-License-Identifier: Apache-2.0 */
/* In the Itanium C++ ABI a name is its length and its letters, and Li128E is the int 128. A name with another one right
 * behind it is a namespace or a class. No more of the grammar is needed here. */
#include "report/mangled_name.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "report/text_stream.h"

struct piece {
    const char *begin;
    size_t bytes;
};

bool mangled_name_is(const char *name)
{
    return name[0] == '_' && name[1] == 'Z';
}

/* A source name at *P; what is cut off in the middle is still one. *P goes behind it. */
static bool read_name(const char **p, struct piece *piece)
{
    size_t length = 0, left;
    const char *digits = *p;
    for (; isdigit((unsigned char)**p) && length < 10000; (*p)++)
        length = length * 10 + (size_t)(**p - '0');
    left = strlen(*p);
    if (*p == digits || !length || !(isalpha((unsigned char)**p) || **p == '_')) {
        *p = digits;
        return false;
    }
    *piece = (struct piece){*p, length < left ? length : left};
    *p += piece->bytes;
    return true;
}

/* "Li128E", "Lb1E", "Lin2E": *P goes behind it. */
static bool read_number(const char **p, struct piece *piece)
{
    const char *q = *p;
    if (q[0] != 'L' || !strchr("bijlmstxya", q[1]) || !q[1])
        return false;
    q += 2;
    const char *begin = q;
    q += *q == 'n';
    size_t digits = strspn(q, "0123456789");
    if (!digits || q[digits] != 'E')
        return false;
    *piece = (struct piece){begin, (size_t)(q - begin) + digits};
    *p = q + digits + 1;
    return true;
}

/* "S1A_", "T0_": names one that was there before. */
static size_t back_reference_bytes(const char *p)
{
    if (*p != 'S' && *p != 'T')
        return 0;
    size_t bytes = 1 + strspn(p + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    return p[bytes] == '_' ? bytes + 1 : 0;
}

static const char *read_function(const char *name, struct piece *function)
{
    const char *p = name + 2;
    bool nested = *p == 'N', found;
    p += strspn(p, "NKL");
    found = read_name(&p, function);
    while (nested && read_name(&p, function))
        ;
    return found ? p : NULL;
}

static void print_piece(FILE *out, const struct piece *piece)
{
    bool negative = piece->begin[0] == 'n' && piece->bytes > 1 && isdigit((unsigned char)piece->begin[1]);
    fprintf(out, "%s%.*s", negative ? "-" : "", (int)piece->bytes - negative, piece->begin + negative);
}

static void print_arguments(FILE *out, const char *p)
{
    bool first = true;
    while (*p) {
        struct piece piece;
        bool number = read_number(&p, &piece);
        if (!number && !read_name(&p, &piece)) {
            size_t reference = back_reference_bytes(p);
            p += reference ? reference : 1;
            continue;
        }
        if (!number && isdigit((unsigned char)*p))
            continue; /* a namespace */
        fputs(first ? "<" : ", ", out);
        print_piece(out, &piece);
        first = false;
    }
    fputs(first ? "<..." : ", ...", out);
}

char *mangled_name_outline(const char *name)
{
    struct piece function;
    const char *p = read_function(name, &function);
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = p ? text_stream_open(&text, &bytes) : NULL;
    if (!out)
        return allocate_text(name);
    print_piece(out, &function);
    if (*p == 'I')
        print_arguments(out, p + 1);
    fclose(out);
    return text;
}
