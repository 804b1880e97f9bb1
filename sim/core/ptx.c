/* SPDX-License-Identifier: Apache-2.0 */
/* PTX text, as far as a launch needs it: `.entry NAME ( .param ... )` and `.global` variables, by the public PTX ISA
 * document. Offsets follow from each parameter's alignment. */
#include "sim/core/image.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct { const char *name; size_t size; } types[] = {
    {"b8", 1}, {"u8", 1}, {"s8", 1}, {"b16", 2}, {"u16", 2}, {"s16", 2}, {"f16", 2}, {"bf16", 2}, {"f16x2", 4},
    {"b32", 4}, {"u32", 4}, {"s32", 4}, {"f32", 4}, {"b64", 8}, {"u64", 8}, {"s64", 8}, {"f64", 8}, {"b128", 16},
};
/* clang-format on */

static const char *skip_blank(const char *c)
{
    for (;;) {
        while (isspace((unsigned char)*c))
            c++;
        if (c[0] == '/' && c[1] == '/')
            while (*c && *c != '\n')
                c++;
        else if (c[0] == '/' && c[1] == '*') {
            const char *end = strstr(c + 2, "*/");
            c = end ? end + 2 : c + strlen(c);
        } else
            return c;
    }
}

static size_t word_length(const char *c)
{
    size_t length = 0;
    while (isalnum((unsigned char)c[length]) || c[length] == '_' || c[length] == '$' || c[length] == '%')
        length++;
    return length;
}

static size_t type_size(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == length && !strncmp(types[i].name, name, length))
            return types[i].size;
    return 0;
}

struct declaration {
    size_t size, alignment, name_length;
    const char *name;
};

/* After `.param` or `.global`: qualifiers, type, name and [bytes]; the place behind it, or NULL. */
static const char *read_declaration(const char *c, struct declaration *found)
{
    size_t element = 0, count = 1;
    *found = (struct declaration){0};
    for (c = skip_blank(c); *c == '.'; c = skip_blank(c)) {
        const char *word = ++c;
        size_t length = word_length(word);
        c += length;
        if (length == 5 && !strncmp(word, "align", 5)) {
            char *end;
            size_t alignment = strtoul(skip_blank(c), &end, 10);
            if (!element) /* after the type it is about what a `.ptr` points at */
                found->alignment = alignment;
            c = end;
        } else if (type_size(word, length)) {
            element = type_size(word, length);
        }
    }
    found->name = c;
    found->name_length = word_length(c);
    if (!element || !found->name_length)
        return NULL;
    c = skip_blank(c + found->name_length);
    while (*c == '[') {
        char *end;
        count *= strtoul(c + 1, &end, 10);
        c = skip_blank(end);
        if (*c++ != ']')
            return NULL;
        c = skip_blank(c);
    }
    found->size = element * count;
    if (!found->alignment)
        found->alignment = element;
    return c;
}

static bool add_param(struct image_symbol *kernel, const struct declaration *param)
{
    size_t count = (size_t)kernel->param_count, offset = 0;
    if (count)
        offset = kernel->params[count - 1].offset + kernel->params[count - 1].size;
    offset = (offset + param->alignment - 1) / param->alignment * param->alignment;
    struct image_param *grown = realloc(kernel->params, (count + 1) * sizeof *grown);
    if (!grown)
        return false;
    kernel->params = grown;
    kernel->params[count] = (struct image_param){.offset = offset, .size = param->size};
    kernel->param_count++;
    return true;
}

/* After `.entry`. */
static const char *read_entry(struct image *image, const char *c)
{
    c = skip_blank(c);
    size_t length = word_length(c);
    struct image_symbol *kernel = length ? image_add(image, c, length, true) : NULL;
    if (!kernel)
        return c;
    c = skip_blank(c + length);
    kernel->param_count = 0;
    if (*c != '(')
        return c;
    for (c = skip_blank(c + 1); !strncmp(c, ".param", 6);) {
        struct declaration param;
        const char *end = read_declaration(c + 6, &param);
        if (!end || !add_param(kernel, &param)) {
            kernel->param_count = -1;
            return c + 6;
        }
        c = skip_blank(*end == ',' ? end + 1 : end);
    }
    return c;
}

int ptx_parameters(const char *text, const char *name, struct image_param **params)
{
    struct image image = {0};
    int count = -1;
    size_t length = strlen(name);
    for (const char *c = text; count < 0 && (c = strstr(c, ".entry")); c += 6) {
        const char *found = skip_blank(c + 6);
        if (word_length(found) != length || strncmp(found, name, length))
            continue;
        read_entry(&image, found);
        if (image.count && image.symbols[0].param_count >= 0) {
            count = image.symbols[0].param_count;
            *params = image.symbols[0].params;
            image.symbols[0].params = NULL; /* the caller's */
        }
        break;
    }
    image_release(&image);
    return count;
}

bool ptx_read(struct image *image, const char *text)
{
    const char *c = skip_blank(text);
    if (strncmp(c, ".version", 8))
        return false;
    while (*(c = skip_blank(c))) {
        if (!strncmp(c, ".entry", 6)) {
            c = read_entry(image, c + 6);
        } else if (!strncmp(c, ".global", 7) || !strncmp(c, ".const", 6)) {
            struct declaration variable;
            const char *end = read_declaration(c + (c[1] == 'g' ? 7 : 6), &variable);
            struct image_symbol *added = end ? image_add(image, variable.name, variable.name_length, false) : NULL;
            if (added)
                added->size = variable.size;
            c = end ? end : c + 6;
        } else if (*c == '"') { /* a string */
            for (c++; *c && *c != '"'; c++)
                c += *c == '\\' && c[1];
            c += *c == '"';
        } else {
            c += word_length(c) ? word_length(c) : 1;
        }
    }
    return true;
}
