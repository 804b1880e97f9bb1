/* SPDX-License-Identifier: Apache-2.0 */
/* Prefill and decode told apart, and whole steps. A step is one pass over the weights: a thread's calls up to the one that
 * reads the first weight (by address) again. The last GEMM of a step is the output projection; it has one row for each
 * sequence. A step whose other GEMMs have as many rows decodes; one that has more computes prompts (or both at once);
 * where that can't be told, the phase is unknown. */
#ifndef CLASSIFY_PHASES_H
#define CLASSIFY_PHASES_H

#include <stdint.h>

enum phase { PHASE_UNKNOWN, PHASE_PREFILL, PHASE_DECODE, PHASE_COUNT };

/* What all operators of one phase come to. NAN: not known. */
struct phase_sum {
    uint64_t steps;
    double rows_per_step;  /* tokens: mean M of the GEMMs before the output projection */
    double time_ns, share; /* of operators with known work; share of the kernel time of all devices */
    double flops, bytes;
    double intensity; /* FLOPs by bytes: the byte-weighted mean of the operators' */
};

const char *phase_name(enum phase phase); /* "unknown", "prefill", "decode" */

#endif
