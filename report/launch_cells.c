/* SPDX-License-Identifier: Apache-2.0 */
/* M, N, K of an attention are queries, keys and head dim: the sizes of Q K^T. Its heads stand behind the kernel's name. */
#include "report/launch_cells.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/format.h"
#include "report/safe_text.h"
#include "report/text_table.h"

enum { CELL = TEXT_TABLE_CELL_BYTES, KERNEL_WIDTH = 24 };

static size_t add(char *cell, size_t used, const char *text)
{
    return used < CELL ? used + (size_t)snprintf(cell + used, CELL - used, "%s", text) : used;
}

static size_t add_times(char *cell, size_t used, int64_t times)
{
    char text[FORMAT_BYTES];
    if (times <= 1)
        return used;
    used = add(cell, used, " x");
    return add(cell, used, format_size(text, times));
}

/* "mul_mat_vec_q x2", "flash_attn_ext_vec 8/2 x4": heads of queries and of keys, then sequences. */
void launch_cells_kind(const struct operator_row *op, char *cell)
{
    const struct launch_decode *launch = op->launch;
    char kernel[sizeof launch->kernel], heads[2][FORMAT_BYTES];
    strcpy(kernel, launch->kernel);
    safe_text_cut_middle(kernel, KERNEL_WIDTH);
    size_t used = add(cell, 0, kernel);
    if (launch->kind == LAUNCH_MATMUL) {
        add_times(cell, used, launch->batch);
        return;
    }
    used = add(cell, used, " ");
    used = add(cell, used, format_size(heads[0], launch->n_q));
    if (launch->n_kv != launch->n_q) {
        used = add(cell, used, "/");
        used = add(cell, used, format_size(heads[1], launch->n_kv));
    }
    add_times(cell, used, launch->sequences);
}

int64_t launch_cells_size_value(const struct operator_row *op, enum launch_size size)
{
    const struct launch_decode *launch = op->launch;
    const bool matmul = launch->kind == LAUNCH_MATMUL;
    switch (size) {
    case LAUNCH_SIZE_M:
        return matmul ? launch->m : launch->queries;
    case LAUNCH_SIZE_N:
        return matmul ? launch->n : launch->keys;
    default:
        return matmul ? launch->k : launch->d;
    }
}

/* "<=256" where the cache is padded; "192/128" where V is narrower than K. */
void launch_cells_size(const struct operator_row *op, enum launch_size size, char *cell)
{
    const struct launch_decode *launch = op->launch;
    const bool attention = launch->kind == LAUNCH_ATTENTION;
    char text[FORMAT_BYTES];
    const int64_t value = launch_cells_size_value(op, size);
    const bool at_most = attention && size == LAUNCH_SIZE_N && launch->keys_at_most && value >= 0;
    size_t used = add(cell, 0, at_most ? "<=" : "");
    used = add(cell, used, format_size(text, value));
    if (attention && size == LAUNCH_SIZE_K && launch->d_v >= 0 && launch->d_v != launch->d) {
        used = add(cell, used, "/");
        add(cell, used, format_size(text, launch->d_v));
    }
}

/* "kv16", "k8.5 v4.5": bits of one element; "-": not known. */
static size_t add_cache_bits(const struct launch_decode *launch, char *cell)
{
    char text[64];
    if (isnan(launch->k_bits) || isnan(launch->v_bits))
        return add(cell, 0, FORMAT_UNKNOWN);
    if (launch->k_bits == launch->v_bits)
        snprintf(text, sizeof text, "kv%g", launch->k_bits);
    else
        snprintf(text, sizeof text, "k%g v%g", launch->k_bits, launch->v_bits);
    return add(cell, 0, text);
}

/* What is stored, and what it is multiplied on where that differs: "q4_K/dp4a", "fp16", "kv16/fp16". */
void launch_cells_types(const struct operator_row *op, char *cell)
{
    const struct launch_decode *launch = op->launch;
    const char *stored = launch->weight_format ? launch->weight_format->name : FORMAT_UNKNOWN;
    size_t used = launch->kind == LAUNCH_ATTENTION ? add_cache_bits(launch, cell) : add(cell, 0, stored);
    if (launch->path >= GPU_PATH_COUNT)
        return;
    const struct gpu_path_info *path = &gpu_paths[launch->path];
    const char *word = strcmp(path->unit, "dp4a") ? path->word : path->unit;
    if (launch->kind == LAUNCH_MATMUL && !strcmp(stored, word))
        return;
    used = add(cell, used, "/");
    add(cell, used, word);
}

const char *launch_cells_source(const struct operator_row *op)
{
    enum trace_provenance from = op->launch->provenance;
    return from == TRACE_PARAMS || from == TRACE_EXACT ? provenance_name(from) : NULL;
}
