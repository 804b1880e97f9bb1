/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel's name alone says: its family, whether it is a GEMM or attention, and whether its grid says nothing about
 * its work. It decides about kernels only that no library call owns; it is a kind, never a shape. */
#ifndef CLASSIFY_KERNEL_FAMILIES_H
#define CLASSIFY_KERNEL_FAMILIES_H

#include <stdbool.h>
#include <stddef.h>

enum kernel_family {
    KERNEL_FAMILY_UNKNOWN, /* no pattern matches, or there is no name */
    KERNEL_FAMILY_ATTENTION,
    KERNEL_FAMILY_GEMM, /* grouped and quantised ones too */
    KERNEL_FAMILY_GEMV,
    KERNEL_FAMILY_MOE, /* all of a mixture of experts; only its role EXPERTS is a GEMM */
    KERNEL_FAMILY_CONVOLUTION,
    KERNEL_FAMILY_SSM,    /* state-space models and linear attention */
    KERNEL_FAMILY_BLAS,   /* other dense linear algebra */
    KERNEL_FAMILY_SPARSE, /* products and sums of sparse matrices */
    KERNEL_FAMILY_NORM,
    KERNEL_FAMILY_ROPE,
    KERNEL_FAMILY_ACTIVATION,
    KERNEL_FAMILY_SOFTMAX,
    KERNEL_FAMILY_SAMPLING, /* and every top-k outside a mixture of experts */
    KERNEL_FAMILY_QUANTIZE, /* and dequantise */
    KERNEL_FAMILY_CACHE,    /* stores to the KV cache and loads from it, with what is fused into them */
    KERNEL_FAMILY_GATHER,   /* embedding, index, scatter */
    KERNEL_FAMILY_COPY,     /* transpose, cast, concatenation, layout of weights */
    KERNEL_FAMILY_ELEMENTWISE,
    KERNEL_FAMILY_REDUCTION,
    KERNEL_FAMILY_SORT, /* and scan */
    KERNEL_FAMILY_COMMUNICATION,
    KERNEL_FAMILY_RANDOM,
    KERNEL_FAMILY_FILL,
    KERNEL_FAMILY_METADATA,  /* lengths and indices that other kernels take */
    KERNEL_FAMILY_TRANSFORM, /* Fourier, Hadamard */
    KERNEL_FAMILY_LOSS,
    KERNEL_FAMILY_OPTIMIZER,
    KERNEL_FAMILY_COUNT
};

/* What a kernel is within its family. MAIN says no more than the family. */
enum kernel_role {
    KERNEL_ROLE_MAIN,
    KERNEL_ROLE_FORWARD, /* attention: prefill or decode, which the name does not tell */
    KERNEL_ROLE_PREFILL,
    KERNEL_ROLE_DECODE,
    KERNEL_ROLE_BACKWARD,
    KERNEL_ROLE_COMBINE, /* puts the parts of a split attention together */
    KERNEL_ROLE_HELPER,  /* before, after or beside the work itself: is no second GEMM and no second attention */
    KERNEL_ROLE_GROUPED,
    KERNEL_ROLE_LORA,
    KERNEL_ROLE_EXPERTS, /* the GEMMs of a mixture of experts */
    KERNEL_ROLE_GATING,
    KERNEL_ROLE_ROUTING,
    KERNEL_ROLE_SUM,
    KERNEL_ROLE_TOPK,
    KERNEL_ROLE_DEQUANTIZE,
    KERNEL_ROLE_STORE,
    KERNEL_ROLE_LOAD,
    KERNEL_ROLE_COPY,
    KERNEL_ROLE_LAYOUT,
    KERNEL_ROLE_COUNT
};

/* What a report counts beside the library's calls. */
enum kernel_kind { KERNEL_OTHER, KERNEL_GEMM, KERNEL_GEMV, KERNEL_ATTENTION };

struct kernel_family_row {
    const char *function; /* describes the function's own identifier, as kernel_word_matches() does */
    const char *inside;   /* describes some other identifier of the name; NULL: any name */
    enum kernel_family family;
    enum kernel_role role;
    const char *example; /* a real name, or of one the function's, for the test that walks the table; NULL: a user
                          * gave none */
    const char *source;  /* where it is from; NULL: many have such names */
};

/* The built-in ones; the first row that matches wins. */
const struct kernel_family_row *kernel_family_rows(size_t *count);
bool kernel_family_row_matches(const struct kernel_family_row *row, const char *name);

/* Rows of a user, which come before the built-in ones. Kept, not copied. */
void kernel_families_set_user_rows(const struct kernel_family_row *user_rows, size_t count);
bool kernel_family_row_is_users(const struct kernel_family_row *row);

/* NULL: no row matches; also of a NULL name. */
const struct kernel_family_row *kernel_family_find(const char *name);

enum kernel_family kernel_family_of_name(const char *name);
const char *kernel_family_name(enum kernel_family family);
const char *kernel_role_name(enum kernel_role role); /* NULL of KERNEL_ROLE_MAIN */

/* Helpers of a GEMM or an attention are KERNEL_OTHER. */
enum kernel_kind kernel_family_kind(enum kernel_family family, enum kernel_role role);
enum kernel_kind kernel_kind_of_name(const char *name);

/* Whether the kernel may tell how short a kernel of this GPU is. No GEMM, GEMV or attention does, with their helpers, and
 * no kernel whose name is not known or says nothing: it might be one. */
bool kernel_family_sets_floor(const char *name);

/* Persistent and stream-K kernels launch about one block an SM whatever the shape. The part of the name that says so, or
 * NULL. */
const char *kernel_persistent_part(const char *name);
bool kernel_is_persistent(const char *name);

#endif
