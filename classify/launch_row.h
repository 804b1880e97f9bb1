/* SPDX-License-Identifier: Apache-2.0 */
/* One row of the launch table, read from its line and compiled. LAUNCHES.md says what each member means. */
#ifndef CLASSIFY_LAUNCH_ROW_H
#define CLASSIFY_LAUNCH_ROW_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "classify/launch_decode.h"
#include "classify/launch_expression.h"
#include "trace/kernel_signature.h"

/* In the order in which they are evaluated: each may use those before it. */
enum launch_role {
    LAUNCH_ROLE_M,
    LAUNCH_ROLE_N,
    LAUNCH_ROLE_K,
    LAUNCH_ROLE_BATCH,
    LAUNCH_ROLE_WEIGHTS,
    LAUNCH_ROLE_ACTIVATIONS,
    LAUNCH_ROLE_EXPERTS,
    LAUNCH_ROLE_MATRICES_MOST,
    LAUNCH_ROLE_MATRICES_LEAST,
    LAUNCH_ROLE_ADDS,
    LAUNCH_ROLE_WEIGHT_FORMAT,
    LAUNCH_ROLE_A_FORMAT,
    LAUNCH_ROLE_D_FORMAT,
    LAUNCH_ROLE_N_Q,
    LAUNCH_ROLE_N_KV,
    LAUNCH_ROLE_D,
    LAUNCH_ROLE_D_V,
    LAUNCH_ROLE_QUERIES,
    LAUNCH_ROLE_KEYS,
    LAUNCH_ROLE_SEQUENCES,
    LAUNCH_ROLE_KEYS_AT_MOST,
    LAUNCH_ROLE_MASKED,
    LAUNCH_ROLE_V_IN_K,
    LAUNCH_ROLE_Q_FORMAT,
    LAUNCH_ROLE_K_FORMAT,
    LAUNCH_ROLE_V_FORMAT,
    LAUNCH_ROLE_O_FORMAT,
    LAUNCH_ROLE_SPLITS,
    LAUNCH_ROLE_SPLIT_ROW_BITS,
    LAUNCH_ROLE_PATH,
    LAUNCH_ROLE_COUNT
};

enum launch_role_type { LAUNCH_ROLE_SIZE, LAUNCH_ROLE_CONDITION, LAUNCH_ROLE_FORMAT, LAUNCH_ROLE_PATH_WORD };

struct launch_role_row {
    const char *name;
    enum launch_role_type type;
    unsigned kinds;      /* bits by enum launch_kind */
    bool needed;         /* in a row of such a kind */
    int64_t least, most; /* of a size */
    int fallback;        /* the role that it is where it isn't given; LAUNCH_ROLE_COUNT: VALUE */
    int64_t value;
};

extern const struct launch_role_row launch_roles[LAUNCH_ROLE_COUNT];

enum { LAUNCH_LETS_MOST = 32, LAUNCH_CHECKS_MOST = 32, LAUNCH_NAMES_MOST = LAUNCH_ROLE_COUNT + LAUNCH_LETS_MOST };

struct launch_check {
    const char *text; /* lies in the row's JSON */
    struct launch_expression *expression;
};

struct launch_row {
    json_t *object; /* holds the texts */
    const char *kernel, *source, *version, *example;
    const char *types[KERNEL_SIGNATURE_PARAMETERS_MOST]; /* of the tail without its "..." */
    size_t type_count;                                   /* the tail not counted */
    bool has_tail;                                       /* types[type_count] may stand any number of times */
    int arguments;                                       /* -1: any */
    enum launch_kind kind;
    enum launch_serves serves;
    bool at_most;
    int weight; /* -1 */
    const char *let_name[LAUNCH_LETS_MOST];
    struct launch_expression *let[LAUNCH_LETS_MOST];
    size_t let_count;
    struct launch_expression *where; /* NULL */
    struct launch_expression *role[LAUNCH_ROLE_COUNT];
    struct launch_check checks[LAUNCH_CHECKS_MOST];
    size_t check_count;
    bool reads_parameters; /* for what the launch means */
    bool users;
    const char *path; /* of the table; not owned */
    int line;
    char *place; /* "path:line" */
};

enum { LAUNCH_ROW_ERROR_BYTES = 320 };

/* Takes hold of OBJECT. NULL, with ERROR in words, where it is no row. NEEDS_SOURCE: a built-in one has to say whence. */
struct launch_row *launch_row_read(json_t *object, bool needs_source, char error[LAUNCH_ROW_ERROR_BYTES]);
void launch_row_free(struct launch_row *row);

/* Whether base name, list of types and number of template arguments are the row's. */
bool launch_row_fits(const struct launch_row *row, const struct kernel_signature *signature);

#endif
