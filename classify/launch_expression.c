/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions as the table holds them: compiled by launch_expression_parse.c, asked what they are made of. */
#include "classify/launch_expression.h"

#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/launch_expression_nodes.h"

struct launch_expression *launch_expression_compile(const char *text, const struct launch_scope *scope, bool is_text,
                                                    char error[LAUNCH_EXPRESSION_ERROR_BYTES])
{
    struct launch_node nodes[LAUNCH_EXPRESSION_NODES_MOST];
    size_t count;
    int root = launch_expression_parse(text, scope, is_text, nodes, &count, error);
    if (root < 0)
        return NULL;
    struct launch_expression *e = allocate(1, sizeof *e + count * sizeof e->nodes[0]);
    memcpy(e->nodes, nodes, count * sizeof e->nodes[0]);
    e->count = count;
    e->root = root;
    return e;
}

void launch_expression_free(struct launch_expression *expression)
{
    for (size_t i = 0; expression && i < expression->count; i++)
        free(expression->nodes[i].text);
    free(expression);
}

bool launch_expression_reads_parameters(const struct launch_expression *expression)
{
    for (size_t i = 0; i < expression->count; i++)
        if (expression->nodes[i].operation == LAUNCH_OP_PARAMETER || expression->nodes[i].operation == LAUNCH_OP_NULL)
            return true;
    return false;
}

static const char *unfit(const struct launch_expression *expression, int index, bool (*fits)(const char *text))
{
    const struct launch_node *node = &expression->nodes[index];
    if (node->operation == LAUNCH_OP_TEXT)
        return fits(node->text) ? NULL : node->text;
    if (node->operation != LAUNCH_OP_CHOOSE)
        return NULL;
    const char *first = unfit(expression, node->operand[1], fits);
    return first ? first : unfit(expression, node->operand[2], fits);
}

const char *launch_expression_unfit_text(const struct launch_expression *expression, bool (*fits)(const char *text))
{
    return unfit(expression, expression->root, fits);
}
