/* SPDX-License-Identifier: Apache-2.0 */
/* Types of parameters as the process's own C++ runtime demangles them, with their sizes: the language's, the vendor's
 * public vector types, and those that SIMGPU_STRUCT_SIZES tells, NAME:BYTES:ALIGNMENT,... */
#include "sim/core/signature.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* __cxa_demangle of the Itanium C++ ABI; whoever finds it first, all find the same. */
static char *(*demangle)(const char *name, char *buffer, size_t *size, int *status);

void signature_prepare(void)
{
    if (__atomic_load_n(&demangle, __ATOMIC_ACQUIRE))
        return;
    void *runtime = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (!runtime)
        return;
    void *found = dlsym(runtime, "__cxa_demangle");
    __atomic_store_n((void **)&demangle, found, __ATOMIC_RELEASE);
    dlclose(runtime);
}

struct text {
    const char *at;
    size_t length;
};

/* clang-format off */
static const struct type {
    const char *name;
    size_t size, alignment;
} types[] = {
    {"bool", 1, 1}, {"char", 1, 1}, {"signed char", 1, 1}, {"unsigned char", 1, 1},
    {"short", 2, 2}, {"unsigned short", 2, 2}, {"int", 4, 4}, {"unsigned int", 4, 4},
    {"long", 8, 8}, {"unsigned long", 8, 8}, {"long long", 8, 8}, {"unsigned long long", 8, 8},
    {"float", 4, 4}, {"double", 8, 8},
    /* cuda_fp16.h, cuda_bf16.h, vector_types.h */
    {"__half", 2, 2}, {"__half2", 4, 4}, {"__nv_bfloat16", 2, 2}, {"__nv_bfloat162", 4, 4},
    {"int2", 8, 8}, {"uint2", 8, 8}, {"float2", 8, 8}, {"int3", 12, 4}, {"uint3", 12, 4}, {"float3", 12, 4},
    {"dim3", 12, 4}, {"int4", 16, 16}, {"uint4", 16, 16}, {"float4", 16, 16},
};
/* clang-format on */

static bool is(const struct text *text, const char *name, size_t length)
{
    return text->length == length && !strncmp(text->at, name, length);
}

/* A row of SIMGPU_STRUCT_SIZES. */
static bool told_size(const struct text *name, size_t *size, size_t *alignment)
{
    const char *row = getenv("SIMGPU_STRUCT_SIZES");
    while (row && *row) {
        const char *colon = strchr(row, ':');
        if (!colon)
            return false;
        if (is(name, row, (size_t)(colon - row)))
            return sscanf(colon, ":%zu:%zu", size, alignment) == 2 && *size && *alignment;
        row = strchr(colon, ',');
        row = row ? row + 1 : NULL;
    }
    return false;
}

static bool size_of(const struct text *type, size_t *size, size_t *alignment)
{
    char last = type->length ? type->at[type->length - 1] : 0;
    if (last == '*' || last == '&') {
        *size = *alignment = sizeof(void *);
        return true;
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (is(type, types[i].name, strlen(types[i].name))) {
            *size = types[i].size;
            *alignment = types[i].alignment;
            return true;
        }
    return told_size(type, size, alignment);
}

/* The parameter at the beginning of LEFT, which is moved behind it and its comma. */
static struct text next_type(struct text *left)
{
    int depth = 0;
    size_t length = 0;
    for (; length < left->length && (depth || left->at[length] != ','); length++) {
        char c = left->at[length];
        depth += (c == '<' || c == '(' || c == '[') - (c == '>' || c == ')' || c == ']');
    }
    struct text found = {left->at, length};
    size_t behind = length < left->length ? length + 1 : length;
    left->at += behind;
    left->length -= behind;
    while (found.length && isspace((unsigned char)*found.at))
        found.at++, found.length--;
    return found;
}

/* What is between the last pair of parentheses: a template's arguments, before them, may have some too. */
static bool parameter_list(const char *name, struct text *list)
{
    const char *end = name + strlen(name);
    if (end == name || *--end != ')')
        return false;
    int depth = 1;
    const char *begin = end;
    while (depth && begin > name) {
        begin--;
        depth += (*begin == ')') - (*begin == '(');
    }
    *list = (struct text){begin + 1, (size_t)(end - begin) - 1};
    return !depth;
}

static int sizes_of(struct text list, struct image_param *parameters)
{
    size_t end = 0;
    int count = 0;
    while (list.length) {
        size_t size, alignment;
        struct text type = next_type(&list);
        if (!size_of(&type, &size, &alignment))
            return -1;
        size_t offset = (end + alignment - 1) / alignment * alignment;
        parameters[count++] = (struct image_param){.offset = offset, .size = size};
        end = offset + size;
    }
    return count;
}

int signature_parameters(const char *name, struct image_param **parameters)
{
    int status = 0, count = -1;
    bool known = __atomic_load_n(&demangle, __ATOMIC_ACQUIRE) && !strncmp(name, "_Z", 2);
    char *plain = known ? demangle(name, NULL, NULL, &status) : NULL;
    struct text list;
    if (plain && parameter_list(plain, &list)) {
        struct image_param *made = calloc(list.length + 1, sizeof *made); /* a type has a letter at least */
        count = made ? sizes_of(list, made) : -1;
        if (count < 0)
            free(made);
        else
            *parameters = made;
    }
    free(plain);
    return count;
}
