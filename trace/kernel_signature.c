/* SPDX-License-Identifier: Apache-2.0 */
/* Texts are spelled one behind the other. One that takes more than its share of the room is spelled "?", so that a name
 * with one huge type still tells the others. */
#include "trace/kernel_signature.h"

#include <string.h>

#include "trace/mangled_tree.h"

struct filler {
    const struct mangled_tree *tree;
    struct kernel_signature *signature;
    size_t at;
    unsigned to_come; /* texts, each of which gets 2 bytes at least */
    struct mangled_scope scope;
};

/* ---- sizes ---- */

/* clang-format off */
static const struct { const char *name; uint16_t bytes; } sizes[] = {
    /* CUDA's vector types: vector_types.h of the CUDA toolkit */
    {"char1", 1}, {"char2", 2}, {"char3", 3}, {"char4", 4}, {"uchar1", 1}, {"uchar2", 2}, {"uchar3", 3}, {"uchar4", 4},
    {"short1", 2}, {"short2", 4}, {"short3", 6}, {"short4", 8}, {"ushort1", 2}, {"ushort2", 4}, {"ushort3", 6}, {"ushort4", 8},
    {"int1", 4}, {"int2", 8}, {"int3", 12}, {"int4", 16}, {"uint1", 4}, {"uint2", 8}, {"uint3", 12}, {"uint4", 16},
    {"long1", 8}, {"long2", 16}, {"long3", 24}, {"long4", 32}, {"ulong1", 8}, {"ulong2", 16}, {"ulong3", 24}, {"ulong4", 32},
    {"longlong1", 8}, {"longlong2", 16}, {"longlong3", 24}, {"longlong4", 32},
    {"ulonglong1", 8}, {"ulonglong2", 16}, {"ulonglong3", 24}, {"ulonglong4", 32},
    {"float1", 4}, {"float2", 8}, {"float3", 12}, {"float4", 16},
    {"double1", 8}, {"double2", 16}, {"double3", 24}, {"double4", 32}, {"dim3", 12},
    /* cuda_fp16.h, cuda_bf16.h, cuda_fp8.h */
    {"__half", 2}, {"__half2", 4}, {"__nv_bfloat16", 2}, {"__nv_bfloat162", 4}, {"__nv_fp8_e4m3", 1}, {"__nv_fp8_e5m2", 1},
};
/* clang-format on */

static uint16_t size_of_name(const struct mangled_tree *tree, const struct mangled_node *node)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (strlen(sizes[i].name) == node->length && !memcmp(tree->name + node->at, sizes[i].name, node->length))
            return sizes[i].bytes;
    return 0;
}

static uint16_t size_of(const struct mangled_tree *tree, uint16_t type, struct mangled_scope scope, bool *is_pointer)
{
    *is_pointer = false;
    type = mangled_resolved(tree, type, scope);
    for (unsigned i = 0; tree->node[type].kind == MANGLED_QUALIFIER && i < MANGLED_DEPTH_MOST; i++)
        type = mangled_resolved(tree, tree->node[type].left, scope);
    switch (tree->node[type].kind) {
    case MANGLED_POINTER:
    case MANGLED_REFERENCE:
        *is_pointer = true;
        return 8;
    case MANGLED_BUILTIN:
        return mangled_builtin[tree->node[type].at].bytes;
    case MANGLED_NAME:
        return size_of_name(tree, &tree->node[type]);
    default:
        return 0;
    }
}

/* ---- texts ---- */

static char *spell(struct filler *filler, uint16_t node, struct mangled_scope scope)
{
    char *text = filler->signature->text + filler->at;
    size_t kept = 2 * (size_t)filler->to_come, room = KERNEL_SIGNATURE_TEXT_BYTES - filler->at - kept;
    int bytes = mangled_print(filler->tree, node, scope, text, room);
    if (bytes < 0) {
        memcpy(text, "?", 2);
        bytes = 1;
    }
    filler->at += (size_t)bytes + 1;
    filler->to_come -= filler->to_come > 0;
    return text;
}

/* Integers without the suffix of their type: a number is what is asked for. */
static void drop_suffix(const struct mangled_tree *tree, uint16_t node, char *text)
{
    const struct mangled_node *literal = &tree->node[node];
    const struct mangled_node *type = &tree->node[literal->left];
    if (literal->kind != MANGLED_LITERAL || type->kind != MANGLED_BUILTIN || !mangled_builtin[type->at].suffix)
        return;
    size_t suffix = strlen(mangled_builtin[type->at].suffix), bytes = strlen(text);
    if (bytes > suffix)
        text[bytes - suffix] = '\0';
}

static bool add_argument(struct filler *filler, uint16_t node)
{
    struct kernel_signature *signature = filler->signature;
    if (signature->argument_count == KERNEL_SIGNATURE_ARGUMENTS_MOST)
        return false;
    char *text = spell(filler, node, filler->scope);
    drop_suffix(filler->tree, node, text);
    signature->argument[signature->argument_count++] = text;
    return true;
}

/* Packs count as their elements. */
static bool add_arguments(struct filler *filler, uint16_t list, unsigned depth)
{
    const struct mangled_tree *tree = filler->tree;
    for (; list && tree->node[list].left; list = tree->node[list].right) {
        uint16_t item = tree->node[list].left;
        if (tree->node[item].kind == MANGLED_PACK
                ? depth == MANGLED_DEPTH_MOST || !add_arguments(filler, tree->node[item].left, depth + 1)
                : !add_argument(filler, item))
            return false;
    }
    return true;
}

static bool add_parameter(struct filler *filler, uint16_t type, struct mangled_scope scope)
{
    struct kernel_signature *signature = filler->signature;
    unsigned i = signature->parameter_count;
    if (i == KERNEL_SIGNATURE_PARAMETERS_MOST)
        return false;
    signature->parameter_bytes[i] = size_of(filler->tree, type, scope, &signature->parameter_is_pointer[i]);
    signature->parameter[i] = spell(filler, type, scope);
    signature->parameter_count++;
    return true;
}

static bool add_parameters(struct filler *filler, uint16_t list)
{
    const struct mangled_tree *tree = filler->tree;
    for (; list && tree->node[list].left; list = tree->node[list].right) {
        uint16_t item = tree->node[list].left;
        if (tree->node[item].kind != MANGLED_EXPANSION) {
            if (!add_parameter(filler, item, filler->scope))
                return false;
            continue;
        }
        int count = mangled_pack_count(tree, tree->node[item].left, filler->scope);
        for (int i = 0; i < count; i++)
            if (!add_parameter(filler, tree->node[item].left, (struct mangled_scope){filler->scope.arguments, i}))
                return false;
        if (count < 0)
            return false;
    }
    return true;
}

bool kernel_signature_parse_in(const char *name, struct kernel_signature *signature, struct mangled_tree *tree)
{
    uint16_t arguments, own;
    signature->argument_count = signature->parameter_count = 0;
    signature->base = NULL;
    if (!mangled_parse(name, tree))
        return false;
    const struct mangled_node *root = &tree->node[tree->root];
    own = mangled_own_name(tree, root->left, &arguments);
    struct filler filler = {tree,
                            signature,
                            0,
                            1 + KERNEL_SIGNATURE_ARGUMENTS_MOST + KERNEL_SIGNATURE_PARAMETERS_MOST,
                            {arguments, MANGLED_NO_ELEMENT}};
    signature->base = spell(&filler, own, filler.scope);
    return add_arguments(&filler, arguments, 0) && add_parameters(&filler, tree->node[root->right].right);
}

bool kernel_signature_parse(const char *name, struct kernel_signature *signature)
{
    struct mangled_tree tree;
    return kernel_signature_parse_in(name, signature, &tree);
}
