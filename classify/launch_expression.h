/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions of the launch table (LAUNCHES.md): compiled once, evaluated for each launch. Numbers are 64-bit, an overflow or
 * a division by 0 gives no number, and what is not known stays so. */
#ifndef CLASSIFY_LAUNCH_EXPRESSION_H
#define CLASSIFY_LAUNCH_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/kernel_signature.h"
#include "trace/launch_values.h"

enum { LAUNCH_EXPRESSION_NODES_MOST = 512, LAUNCH_EXPRESSION_DEPTH_MOST = 64, LAUNCH_EXPRESSION_ERROR_BYTES = 160 };

enum launch_value_state {
    LAUNCH_VALUE_NOT_KEPT,     /* the launch doesn't carry what it follows from */
    LAUNCH_VALUE_OUT_OF_RANGE, /* overflow, division by 0, a template argument or a format that is none */
    LAUNCH_VALUE_KNOWN,
};

struct launch_value {
    enum launch_value_state state;
    int64_t number;   /* of a number */
    const char *text; /* of a text; lives as long as the expression, or static */
};

struct launch_name {
    const char *name;
    bool is_text;
    bool visible; /* to the expression that is compiled */
};

/* What an expression may speak of. */
struct launch_scope {
    const char *const *types; /* of the parameters */
    size_t type_count;
    int argument_count; /* of the template; negative: any */
    const struct launch_name *names;
    size_t name_count;
};

/* One launch. */
struct launch_facts {
    const struct kernel_signature *signature;
    const uint32_t *grid, *block;               /* NULL: not known */
    const struct launch_parameters *parameters; /* NULL: none are known */
    const struct launch_value *names;           /* as the scope has them */
};

struct launch_expression;

/* NULL, with ERROR in words, where TEXT is no expression of SCOPE. IS_TEXT: what it has to give. */
struct launch_expression *launch_expression_compile(const char *text, const struct launch_scope *scope, bool is_text,
                                                    char error[LAUNCH_EXPRESSION_ERROR_BYTES]);
void launch_expression_free(struct launch_expression *expression);

struct launch_value launch_expression_evaluate(const struct launch_expression *expression,
                                               const struct launch_facts *facts);

/* Whether parameters, their NULLs included, tell it; names are not followed. */
bool launch_expression_reads_parameters(const struct launch_expression *expression);

/* Of the texts that it may give, written out in it, the first that FITS refuses; NULL. */
const char *launch_expression_unfit_text(const struct launch_expression *expression, bool (*fits)(const char *text));

#endif
