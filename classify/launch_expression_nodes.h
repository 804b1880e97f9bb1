/* SPDX-License-Identifier: Apache-2.0 */
/* What launch_expression_parse.c makes of a text and launch_expression_value.c evaluates. Of launch_expression*.c alone. */
#ifndef CLASSIFY_LAUNCH_EXPRESSION_NODES_H
#define CLASSIFY_LAUNCH_EXPRESSION_NODES_H

#include "classify/launch_expression.h"

enum launch_operation {
    LAUNCH_OP_NUMBER,
    LAUNCH_OP_TEXT,
    LAUNCH_OP_NAME,      /* index */
    LAUNCH_OP_PARAMETER, /* index, offset, bytes, is_signed */
    LAUNCH_OP_NULL,      /* index */
    LAUNCH_OP_ARGUMENT,  /* index */
    LAUNCH_OP_IS,        /* index, text */
    LAUNCH_OP_HAS,       /* index, text */
    LAUNCH_OP_GRID,      /* index 0 ... 2 */
    LAUNCH_OP_BLOCK,
    LAUNCH_OP_NEGATE, /* one operand */
    LAUNCH_OP_NOT,
    LAUNCH_OP_KNOWN,
    LAUNCH_OP_GGML,
    LAUNCH_OP_BLOCK_OF,
    LAUNCH_OP_BYTES_OF,
    LAUNCH_OP_MULTIPLY, /* two */
    LAUNCH_OP_DIVIDE,
    LAUNCH_OP_REMAINDER,
    LAUNCH_OP_ADD,
    LAUNCH_OP_SUBTRACT,
    LAUNCH_OP_LESS,
    LAUNCH_OP_LESS_EQUAL,
    LAUNCH_OP_GREATER,
    LAUNCH_OP_GREATER_EQUAL,
    LAUNCH_OP_EQUAL,
    LAUNCH_OP_NOT_EQUAL,
    LAUNCH_OP_CEIL,
    LAUNCH_OP_EXACT,
    LAUNCH_OP_MIN,
    LAUNCH_OP_MAX,
    LAUNCH_OP_AND,
    LAUNCH_OP_OR,
    LAUNCH_OP_CHOOSE, /* three */
};

struct launch_node {
    enum launch_operation operation;
    bool is_text;
    bool is_signed;
    uint8_t bytes;
    uint16_t index;
    uint32_t offset;
    int16_t operand[3];
    int64_t number;
    char *text; /* owned */
};

struct launch_expression {
    size_t count;
    int root;
    struct launch_node nodes[];
};

/* TEXT into NODES, *COUNT of them, whose texts are to be freed. Returns the root; -1, with ERROR, and nothing to be freed. */
int launch_expression_parse(const char *text, const struct launch_scope *scope, bool wants_text,
                            struct launch_node nodes[LAUNCH_EXPRESSION_NODES_MOST], size_t *count,
                            char error[LAUNCH_EXPRESSION_ERROR_BYTES]);

#endif
