/* SPDX-License-Identifier: Apache-2.0 */
/* How a name finds its row. The rows are in kernel_families.def, specific ones before general ones. Patterns describe whole
 * identifiers, and words in them: a part of a word would find "norm" in "normal" and "fill" in "prefill". */
#include "classify/kernel_families.h"

#include <stdint.h>
#include <string.h>

#include "classify/kernel_name.h"

/* clang-format off */
#define IS(family, role) KERNEL_FAMILY_##family, KERNEL_ROLE_##role

static const struct kernel_family_row rows[] = {
#include "classify/kernel_families.def"
};

#undef IS

static const char *const family_names[KERNEL_FAMILY_COUNT] = {
    [KERNEL_FAMILY_UNKNOWN]       = "unknown",
    [KERNEL_FAMILY_ATTENTION]     = "attention",
    [KERNEL_FAMILY_GEMM]          = "gemm",
    [KERNEL_FAMILY_GEMV]          = "gemv",
    [KERNEL_FAMILY_MOE]           = "moe",
    [KERNEL_FAMILY_CONVOLUTION]   = "conv",
    [KERNEL_FAMILY_SSM]           = "ssm",
    [KERNEL_FAMILY_BLAS]          = "blas",
    [KERNEL_FAMILY_SPARSE]        = "sparse",
    [KERNEL_FAMILY_NORM]          = "norm",
    [KERNEL_FAMILY_ROPE]          = "rope",
    [KERNEL_FAMILY_ACTIVATION]    = "activation",
    [KERNEL_FAMILY_SOFTMAX]       = "softmax",
    [KERNEL_FAMILY_SAMPLING]      = "sampling",
    [KERNEL_FAMILY_QUANTIZE]      = "quantize",
    [KERNEL_FAMILY_CACHE]         = "cache",
    [KERNEL_FAMILY_GATHER]        = "gather",
    [KERNEL_FAMILY_COPY]          = "copy",
    [KERNEL_FAMILY_ELEMENTWISE]   = "elementwise",
    [KERNEL_FAMILY_REDUCTION]     = "reduction",
    [KERNEL_FAMILY_SORT]          = "sort",
    [KERNEL_FAMILY_COMMUNICATION] = "communication",
    [KERNEL_FAMILY_RANDOM]        = "random",
    [KERNEL_FAMILY_FILL]          = "fill",
    [KERNEL_FAMILY_METADATA]      = "metadata",
    [KERNEL_FAMILY_TRANSFORM]     = "transform",
    [KERNEL_FAMILY_LOSS]          = "loss",
    [KERNEL_FAMILY_OPTIMIZER]     = "optimizer",
};

static const char *const role_names[KERNEL_ROLE_COUNT] = {
    [KERNEL_ROLE_FORWARD]    = "forward",
    [KERNEL_ROLE_PREFILL]    = "prefill",
    [KERNEL_ROLE_DECODE]     = "decode",
    [KERNEL_ROLE_BACKWARD]   = "backward",
    [KERNEL_ROLE_COMBINE]    = "combine",
    [KERNEL_ROLE_HELPER]     = "helper",
    [KERNEL_ROLE_GROUPED]    = "grouped",
    [KERNEL_ROLE_LORA]       = "lora",
    [KERNEL_ROLE_EXPERTS]    = "experts",
    [KERNEL_ROLE_GATING]     = "gating",
    [KERNEL_ROLE_ROUTING]    = "routing",
    [KERNEL_ROLE_SUM]        = "sum",
    [KERNEL_ROLE_TOPK]       = "topk",
    [KERNEL_ROLE_DEQUANTIZE] = "dequantize",
    [KERNEL_ROLE_STORE]      = "store",
    [KERNEL_ROLE_LOAD]       = "load",
    [KERNEL_ROLE_COPY]       = "copy",
    [KERNEL_ROLE_LAYOUT]     = "layout",
};

static const char *const persistent_parts[] = {
    "persistent", "Persistent", "stream_k", "streamk", "StreamK",
    "nvjet", /* cuBLAS's kernels for Hopper and later: at most one block, or cluster, an SM */
};
/* clang-format on */

static struct {
    const struct kernel_family_row *rows;
    size_t count;
} user;

void kernel_families_set_user_rows(const struct kernel_family_row *user_rows, size_t count)
{
    user.rows = user_rows;
    user.count = count;
}

bool kernel_family_row_is_users(const struct kernel_family_row *row)
{
    for (size_t i = 0; i < user.count; i++)
        if (row == &user.rows[i])
            return true;
    return false;
}

const struct kernel_family_row *kernel_family_rows(size_t *count)
{
    *count = sizeof rows / sizeof rows[0];
    return rows;
}

static bool has_other_word(const char *name, struct kernel_word function, const char *pattern)
{
    struct kernel_name_walk walk;
    struct kernel_word word;
    kernel_name_walk_begin(&walk, name);
    while (kernel_name_walk_next(&walk, &word))
        if (word.begin != function.begin && kernel_word_matches(word, pattern))
            return true;
    return false;
}

/* A bit for each letter, in either case, and digit in it. */
static uint64_t letters_of(const char *text, size_t bytes)
{
    uint64_t letters = 0;
    for (size_t i = 0; i < bytes; i++) {
        unsigned c = (unsigned char)text[i], lower = c | 0x20;
        if (lower >= 'a' && lower <= 'z')
            letters |= 1ull << (lower - 'a');
        else if (c >= '0' && c <= '9')
            letters |= 1ull << (26 + c - '0');
    }
    return letters;
}

/* Of every row's function. Most rows ask for a letter that a name does not have, and need no closer look. */
static const uint64_t *row_letters(void)
{
    static uint64_t letters[sizeof rows / sizeof rows[0]];
    static bool known;
    for (size_t i = 0; !known && i < sizeof rows / sizeof rows[0]; i++)
        letters[i] = letters_of(rows[i].function, strlen(rows[i].function));
    known = true;
    return letters;
}

static bool row_matches(const struct kernel_family_row *row, const char *name, struct kernel_word function)
{
    return kernel_word_matches(function, row->function) &&
           (!row->inside || has_other_word(name, function, row->inside));
}

bool kernel_family_row_matches(const struct kernel_family_row *row, const char *name)
{
    return row_matches(row, name, kernel_name_function(name));
}

const struct kernel_family_row *kernel_family_find(const char *name)
{
    if (!name || !*name)
        return NULL;
    struct kernel_word function = kernel_name_function(name);
    for (size_t i = 0; i < user.count; i++)
        if (row_matches(&user.rows[i], name, function))
            return &user.rows[i];
    const uint64_t *asked = row_letters();
    uint64_t letters = letters_of(function.begin, function.bytes);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!(asked[i] & ~letters) && row_matches(&rows[i], name, function))
            return &rows[i];
    return NULL;
}

enum kernel_family kernel_family_of_name(const char *name)
{
    const struct kernel_family_row *row = kernel_family_find(name);
    return row ? row->family : KERNEL_FAMILY_UNKNOWN;
}

const char *kernel_family_name(enum kernel_family family)
{
    return family_names[family];
}

const char *kernel_role_name(enum kernel_role role)
{
    return role_names[role];
}

enum kernel_kind kernel_family_kind(enum kernel_family family, enum kernel_role role)
{
    if (role == KERNEL_ROLE_HELPER || role == KERNEL_ROLE_COMBINE)
        return KERNEL_OTHER;
    switch (family) {
    case KERNEL_FAMILY_ATTENTION:
        return KERNEL_ATTENTION;
    case KERNEL_FAMILY_GEMM:
        return KERNEL_GEMM;
    case KERNEL_FAMILY_GEMV:
        return KERNEL_GEMV;
    case KERNEL_FAMILY_MOE:
        return role == KERNEL_ROLE_EXPERTS ? KERNEL_GEMM : KERNEL_OTHER;
    default:
        return KERNEL_OTHER;
    }
}

enum kernel_kind kernel_kind_of_name(const char *name)
{
    const struct kernel_family_row *row = kernel_family_find(name);
    return row ? kernel_family_kind(row->family, row->role) : KERNEL_OTHER;
}

bool kernel_family_sets_floor(const char *name)
{
    const struct kernel_family_row *row = kernel_family_find(name);
    return row && row->role != KERNEL_ROLE_HELPER && row->role != KERNEL_ROLE_COMBINE &&
           kernel_family_kind(row->family, row->role) == KERNEL_OTHER;
}

const char *kernel_persistent_part(const char *name)
{
    if (!name)
        return NULL;
    for (size_t i = 0; i < sizeof persistent_parts / sizeof persistent_parts[0]; i++)
        if (strstr(name, persistent_parts[i]))
            return persistent_parts[i];
    return NULL;
}

bool kernel_is_persistent(const char *name)
{
    return kernel_persistent_part(name) != NULL;
}
