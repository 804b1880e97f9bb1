/* SPDX-License-Identifier: Apache-2.0 */
/* What one kernel launch asks of the GPU, read off its template arguments and parameters by a table of kernels: one row for
 * each (base name, list of parameter types), so that another revision of a kernel is another row, and one of a list that no
 * row has keeps its time and its name alone. The table is data (launch_rows/, LAUNCHES.md): a row computes what a launch
 * means and what must hold for the row to be right. A reading whose check fails is refused: counted, shown, never used. */
#ifndef CLASSIFY_LAUNCH_DECODE_H
#define CLASSIFY_LAUNCH_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/attention_work.h"
#include "classify/gpu_specs.h"
#include "classify/weight_format.h"
#include "classify/work.h"
#include "trace/launch_values.h"
#include "trace/trace.h"

enum launch_reading {
    LAUNCH_NOT_IN_TABLE,   /* no row has the kernel's base name */
    LAUNCH_OTHER_REVISION, /* rows have its base name, none its list of parameter types */
    LAUNCH_NO_VALUES,      /* a row has it, but the launch carries no parameters, or not those that the row needs */
    LAUNCH_REFUSED,        /* a check of the row failed, or a size is out of range */
    LAUNCH_READ,
    LAUNCH_READING_COUNT
};

enum launch_kind {
    LAUNCH_OTHER,  /* known, and neither of the two: get_rows, norm, rope, ... */
    LAUNCH_MATMUL, /* weight N x K times M rows of activations; one or more of them */
    LAUNCH_ATTENTION,
    LAUNCH_HELPER, /* does work that belongs to another operator's account, see enum launch_serves */
    LAUNCH_KIND_COUNT
};

/* On the same thread and stream, in the order of launches and calls. */
enum launch_serves {
    LAUNCH_SERVES_NONE,
    LAUNCH_SERVES_NEXT_MATMUL, /* quantises or converts its activations, or unpacks its weights; library GEMMs count */
    LAUNCH_SERVES_LAST_MATMUL, /* stream-K fix-up, split-K reduction, a conversion of its output */
    LAUNCH_SERVES_NEXT_ATTENTION, /* unpacks its K or V */
    LAUNCH_SERVES_LAST_ATTENTION, /* combines its parts */
    LAUNCH_SERVES_NEXT,           /* unpacks what the next matmul or attention reads, whichever comes first */
    LAUNCH_SERVES_LAST_OUTPUT, /* widens 16-bit numbers: those that the last matmul put out, where it put out such, and
                                   * nothing has taken them since; else as NEXT */
};

struct launch_row;

struct launch_decode {
    enum launch_reading reading;
    enum launch_kind kind; /* this and what follows: of LAUNCH_READ */
    enum launch_serves serves;
    const struct launch_row *row; /* NULL: LAUNCH_NOT_IN_TABLE, LAUNCH_OTHER_REVISION */
    char kernel[64];              /* base name; "" if the name can't be taken apart */
    char problem[160];            /* why not LAUNCH_READ, in words: "unknown revision of mul_mat_q"; else "" */
    bool bare;                    /* nothing of its parameters was kept */
    enum trace_provenance
        provenance;     /* of the two kinds with shapes: TRACE_PARAMS, TRACE_EXACT by template arguments and grid alone,
                     * TRACE_AT_MOST where only bounds are known; else TRACE_NONE */
    enum gpu_path path; /* GPU_PATH_UNKNOWN */

    /* LAUNCH_MATMUL. Negative: not known. */
    int64_t m, n, k;
    int64_t batch; /* products of the launch, each with an M, N, K of its own operands; of experts: the experts used */
    int weights;   /* matrices read by each product: 2 with a fused gate, whose FLOPs count too */
    bool experts;  /* of a mixture: how many different matrices are read stands on the device */
    double matrices_least,
        matrices_most;  /* distinct weight matrices that the launch reads, gates included; equal where known */
    double activations; /* distinct activation matrices, up to BATCH: 1 where all experts read the same rows */
    bool adds;          /* a matrix of the output's size and type is read and added: a residual, a bias */
    const struct weight_format *weight_format; /* NULL: not known */
    double a_bits, d_bits;                     /* of one activation, as the kernel reads it, and of one output; NAN */
    const char *a_format, *d_format;           /* their names, "q8_1"; NULL */
    int weight_parameter;                      /* index of the pointer to the weight; -1 */

    /* LAUNCH_ATTENTION. Negative, NAN: not known. */
    int64_t n_q, n_kv, d, d_v; /* heads, head dims */
    int64_t queries, keys;     /* of one sequence */
    int64_t sequences;
    bool keys_at_most; /* KEYS is what the cache holds, padded: the true length is on the device */
    bool masked;       /* a mask's content is on the device: QUERIES x KEYS pairs are a maximum */
    bool v_in_k;       /* as attention_model has it */
    int64_t splits;    /* 1: none */
    double split_row_bits;
    double q_bits, k_bits, v_bits, o_bits;
    const char *q_format, *k_format, *v_format, *o_format; /* their names; NULL */
};

/* NAME as the trace has it; GRID, BLOCK as launched, NULL: not known. PARAMETERS may be NULL: the launch carries none. */
void launch_decode(const char *name, const uint32_t grid[3], const uint32_t block[3],
                   const struct launch_parameters *parameters, struct launch_decode *decode);

/* Of LAUNCH_MATMUL as work_of_signature() makes it of a call: bytes are those of matrices_most. Two matrices a product, a
 * fused gate, count twice as FLOPs and weight bytes; activations and the one output count once. Of experts no figures per
 * row are known. */
void launch_decode_work(const struct launch_decode *decode, struct work *work);
/* Bytes with matrices_least in place of matrices_most. */
double launch_decode_bytes_least(const struct launch_decode *decode);
/* Of LAUNCH_ATTENTION. MODEL points at nothing of DECODE's. Its mask is ATTENTION_NO_MASK: where a mask lies on the device,
 * causal or not, all QUERIES x KEYS pairs are what can be said of it, a maximum, as the provenance does (AT_MOST). For one
 * query of one sequence under a causal mask that is all of them. */
void launch_decode_attention(const struct launch_decode *decode, struct attention_model *model);

/* "path:line" of the row in its table. */
const char *launch_row_place(const struct launch_row *row);
const char *launch_row_source(const struct launch_row *row); /* NULL: a user's row without */
const char *launch_row_version(const struct launch_row *row);

const char *launch_reading_name(enum launch_reading reading); /* as JSON has it: "read", "other_revision", ... */
const char *launch_kind_name(enum launch_kind kind);
const char *launch_serves_name(enum launch_serves serves);

#endif
