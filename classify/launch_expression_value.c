/* SPDX-License-Identifier: Apache-2.0 */
/* What an expression gives for one launch. An operand that is not known makes the result unknown for the operand's reason,
 * the first one's where both are. */
#include <string.h>

#include "classify/launch_expression.h"
#include "classify/launch_expression_nodes.h"
#include "classify/launch_format.h"

static const struct launch_value not_kept = {.state = LAUNCH_VALUE_NOT_KEPT};
static const struct launch_value out_of_range = {.state = LAUNCH_VALUE_OUT_OF_RANGE};

static struct launch_value number(int64_t value)
{
    return (struct launch_value){.state = LAUNCH_VALUE_KNOWN, .number = value};
}

/* ---- leaves ---- */

static struct launch_value parameter(const struct launch_node *node, const struct launch_facts *facts)
{
    unsigned kept;
    const unsigned char *bytes =
        facts->parameters ? launch_parameter_value(facts->parameters, node->index, &kept) : NULL;
    if (!bytes || kept < node->bytes || kept - node->bytes < node->offset)
        return not_kept;
    uint64_t value = 0;
    memcpy(&value, bytes + node->offset, node->bytes); /* traces are little-endian, as is what reads them */
    unsigned unused = 64 - 8u * node->bytes;
    if (node->is_signed)
        return number((int64_t)(value << unused) >> unused);
    return value > INT64_MAX ? out_of_range : number((int64_t)value);
}

static struct launch_value null_pointer(const struct launch_node *node, const struct launch_facts *facts)
{
    enum launch_pointer_state state =
        facts->parameters ? launch_parameter_pointer(facts->parameters, node->index, NULL) : LAUNCH_POINTER_UNKNOWN;
    return state == LAUNCH_POINTER_UNKNOWN ? not_kept : number(state == LAUNCH_POINTER_NULL);
}

static const char *argument_text(const struct launch_node *node, const struct launch_facts *facts)
{
    return node->index < facts->signature->argument_count ? facts->signature->argument[node->index] : NULL;
}

/* "12", "-1", "true", "(ggml_type)12". */
static struct launch_value argument(const struct launch_node *node, const struct launch_facts *facts)
{
    const char *text = argument_text(node, facts);
    if (!text)
        return out_of_range;
    if (!strcmp(text, "true") || !strcmp(text, "false"))
        return number(*text == 't');
    const char *close = *text == '(' ? strrchr(text, ')') : NULL, *digits = close ? close + 1 : text;
    bool negative = *digits == '-';
    int64_t value = 0;
    digits += negative;
    if (!*digits)
        return out_of_range;
    for (; *digits; digits++)
        if (*digits < '0' || *digits > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *digits - '0', &value))
            return out_of_range;
    return number(negative ? -value : value);
}

static bool is_word_letter(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; length && (at = strstr(at, word)); at++)
        if ((at == text || !is_word_letter(at[-1])) && !is_word_letter(at[length]))
            return true;
    return false;
}

static struct launch_value spelled(const struct launch_node *node, const struct launch_facts *facts)
{
    const char *text = argument_text(node, facts);
    if (!text)
        return out_of_range;
    return number(node->operation == LAUNCH_OP_IS ? !strcmp(text, node->text) : has_word(text, node->text));
}

/* ---- one operand ---- */

static struct launch_value of_format(enum launch_operation operation, const char *name)
{
    struct launch_format format;
    if (!launch_format_find(name, &format) || !format.block)
        return out_of_range;
    return number(operation == LAUNCH_OP_BLOCK_OF ? format.block : format.block_bytes);
}

static struct launch_value of_one(enum launch_operation operation, struct launch_value operand)
{
    if (operation == LAUNCH_OP_KNOWN)
        return number(operand.state == LAUNCH_VALUE_KNOWN);
    if (operand.state != LAUNCH_VALUE_KNOWN)
        return operand;
    const char *name;
    int64_t result;
    switch (operation) {
    case LAUNCH_OP_NEGATE:
        return __builtin_sub_overflow((int64_t)0, operand.number, &result) ? out_of_range : number(result);
    case LAUNCH_OP_NOT:
        return number(!operand.number);
    case LAUNCH_OP_GGML:
        name = launch_format_of_ggml(operand.number);
        return name ? (struct launch_value){.state = LAUNCH_VALUE_KNOWN, .text = name} : out_of_range;
    default:
        return of_format(operation, operand.text);
    }
}

/* ---- two operands ---- */

/* Rounded to 0, or up. */
static struct launch_value quotient(enum launch_operation operation, int64_t a, int64_t b)
{
    if (b == 0 || (a == INT64_MIN && b == -1))
        return out_of_range;
    int64_t whole = a / b, rest = a % b;
    if (operation == LAUNCH_OP_REMAINDER)
        return number(rest);
    if (operation == LAUNCH_OP_EXACT && rest)
        return out_of_range;
    return number(whole + (operation == LAUNCH_OP_CEIL && rest && (rest > 0) == (b > 0)));
}

static struct launch_value of_numbers(enum launch_operation operation, int64_t a, int64_t b)
{
    int64_t result;
    switch (operation) {
    case LAUNCH_OP_ADD:
        return __builtin_add_overflow(a, b, &result) ? out_of_range : number(result);
    case LAUNCH_OP_SUBTRACT:
        return __builtin_sub_overflow(a, b, &result) ? out_of_range : number(result);
    case LAUNCH_OP_MULTIPLY:
        return __builtin_mul_overflow(a, b, &result) ? out_of_range : number(result);
    case LAUNCH_OP_LESS:
        return number(a < b);
    case LAUNCH_OP_LESS_EQUAL:
        return number(a <= b);
    case LAUNCH_OP_GREATER:
        return number(a > b);
    case LAUNCH_OP_GREATER_EQUAL:
        return number(a >= b);
    case LAUNCH_OP_EQUAL:
        return number(a == b);
    case LAUNCH_OP_NOT_EQUAL:
        return number(a != b);
    case LAUNCH_OP_MIN:
        return number(a < b ? a : b);
    case LAUNCH_OP_MAX:
        return number(a > b ? a : b);
    default:
        return quotient(operation, a, b);
    }
}

static struct launch_value of_two(enum launch_operation operation, struct launch_value a, struct launch_value b)
{
    if (a.state != LAUNCH_VALUE_KNOWN)
        return a;
    if (b.state != LAUNCH_VALUE_KNOWN)
        return b;
    if (a.text && b.text)
        return number(!strcmp(a.text, b.text) == (operation == LAUNCH_OP_EQUAL));
    return of_numbers(operation, a.number, b.number);
}

/* ---- all ---- */

static struct launch_value value_of(const struct launch_expression *e, int index, const struct launch_facts *facts);

/* One side alone may decide. */
static struct launch_value logic(const struct launch_expression *e, const struct launch_node *node,
                                 const struct launch_facts *facts)
{
    bool decides = node->operation == LAUNCH_OP_OR;
    struct launch_value a = value_of(e, node->operand[0], facts);
    if (a.state == LAUNCH_VALUE_KNOWN && (a.number != 0) == decides)
        return number(decides);
    struct launch_value b = value_of(e, node->operand[1], facts);
    if (b.state == LAUNCH_VALUE_KNOWN && (b.number != 0) == decides)
        return number(decides);
    if (a.state != LAUNCH_VALUE_KNOWN)
        return a;
    return b.state != LAUNCH_VALUE_KNOWN ? b : number(!decides);
}

static struct launch_value value_of(const struct launch_expression *e, int index, const struct launch_facts *facts)
{
    const struct launch_node *node = &e->nodes[index];
    struct launch_value condition;
    switch (node->operation) {
    case LAUNCH_OP_NUMBER:
        return number(node->number);
    case LAUNCH_OP_TEXT:
        return (struct launch_value){.state = LAUNCH_VALUE_KNOWN, .text = node->text};
    case LAUNCH_OP_NAME:
        return facts->names[node->index];
    case LAUNCH_OP_PARAMETER:
        return parameter(node, facts);
    case LAUNCH_OP_NULL:
        return null_pointer(node, facts);
    case LAUNCH_OP_ARGUMENT:
        return argument(node, facts);
    case LAUNCH_OP_IS:
    case LAUNCH_OP_HAS:
        return spelled(node, facts);
    case LAUNCH_OP_GRID:
        return facts->grid ? number(facts->grid[node->index]) : not_kept;
    case LAUNCH_OP_BLOCK:
        return facts->block ? number(facts->block[node->index]) : not_kept;
    case LAUNCH_OP_AND:
    case LAUNCH_OP_OR:
        return logic(e, node, facts);
    case LAUNCH_OP_CHOOSE:
        condition = value_of(e, node->operand[0], facts);
        return condition.state != LAUNCH_VALUE_KNOWN ? condition
                                                     : value_of(e, node->operand[condition.number ? 1 : 2], facts);
    default:
        break;
    }
    struct launch_value first = value_of(e, node->operand[0], facts);
    if (node->operation < LAUNCH_OP_MULTIPLY)
        return of_one(node->operation, first);
    return of_two(node->operation, first, value_of(e, node->operand[1], facts));
}

struct launch_value launch_expression_evaluate(const struct launch_expression *expression,
                                               const struct launch_facts *facts)
{
    return value_of(expression, expression->root, facts);
}
