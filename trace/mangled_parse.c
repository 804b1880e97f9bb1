/* SPDX-License-Identifier: Apache-2.0 */
/* Recursive descent over the ABI's grammar. Every call moves on in the name, makes a node or fails; where a form is tried first
 * and given up, its nodes still count, so that time is bounded whatever the name is. Expressions are stepped over, except
 * addresses of functions, literals and packs. */
#include "trace/mangled_tree.h"

#include <string.h>

enum { NODES_MADE_MOST = 4 * MANGLED_NODES_MOST };

struct parser {
    struct mangled_tree *tree;
    const char *p, *end;
    unsigned depth;
    unsigned made;      /* nodes, those given up again included */
    uint8_t qualifiers; /* of the nested name read last */
    unsigned substitution_count;
    uint16_t substitution[MANGLED_SUBSTITUTIONS_MOST];
};

static uint16_t parse_type(struct parser *parser);
static uint16_t parse_name(struct parser *parser);
static uint16_t parse_encoding(struct parser *parser);
static uint16_t parse_expression(struct parser *parser);
static uint16_t parse_template_arguments(struct parser *parser);

/* ---- the text and the tree ---- */

static char peek(const struct parser *parser)
{
    return parser->p < parser->end ? *parser->p : '\0';
}

static char peek_second(const struct parser *parser)
{
    return parser->end - parser->p > 1 ? parser->p[1] : '\0';
}

static bool accept(struct parser *parser, const char *text)
{
    size_t bytes = strlen(text);
    if ((size_t)(parser->end - parser->p) < bytes || memcmp(parser->p, text, bytes) != 0)
        return false;
    parser->p += bytes;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static uint16_t new_node(struct parser *parser, enum mangled_kind kind, uint16_t left, uint16_t right)
{
    struct mangled_tree *tree = parser->tree;
    if (tree->node_count + 1 >= MANGLED_NODES_MOST || ++parser->made > NODES_MADE_MOST)
        return 0;
    tree->node[++tree->node_count] = (struct mangled_node){.kind = (uint8_t)kind, .left = left, .right = right};
    return tree->node_count;
}

/* Of LEFT, which must have been read. */
static uint16_t wrap(struct parser *parser, enum mangled_kind kind, uint16_t left, unsigned flags)
{
    uint16_t node = left ? new_node(parser, kind, left, 0) : 0;
    if (node)
        parser->tree->node[node].flags = (uint8_t)flags;
    return node;
}

static uint16_t pair(struct parser *parser, enum mangled_kind kind, uint16_t left, uint16_t right)
{
    return left && right ? new_node(parser, kind, left, right) : 0;
}

static uint16_t span(struct parser *parser, enum mangled_kind kind, const char *begin, size_t bytes)
{
    uint16_t node = new_node(parser, kind, 0, 0);
    if (node) {
        parser->tree->node[node].at = (uint16_t)(begin - parser->tree->name);
        parser->tree->node[node].length = (uint16_t)bytes;
    }
    return node;
}

static uint16_t numbered(struct parser *parser, enum mangled_kind kind, unsigned number)
{
    uint16_t node = new_node(parser, kind, 0, 0);
    if (node)
        parser->tree->node[node].at = (uint16_t)number;
    return node;
}

/* Adds ITEM behind *LAST, which is a list or 0, and *FIRST its begin. */
static bool append(struct parser *parser, uint16_t *first, uint16_t *last, uint16_t item)
{
    uint16_t node = item ? new_node(parser, MANGLED_LIST, item, 0) : 0;
    if (!node)
        return false;
    if (*last)
        parser->tree->node[*last].right = node;
    else
        *first = node;
    *last = node;
    return true;
}

static uint16_t list_or_empty(struct parser *parser, uint16_t first)
{
    return first ? first : new_node(parser, MANGLED_LIST, 0, 0);
}

static uint16_t remember(struct parser *parser, uint16_t node)
{
    if (!node || parser->substitution_count == MANGLED_SUBSTITUTIONS_MOST)
        return 0;
    parser->substitution[parser->substitution_count++] = node;
    return node;
}

static bool enter(struct parser *parser)
{
    return ++parser->depth <= MANGLED_DEPTH_MOST;
}

static uint16_t leave(struct parser *parser, uint16_t node)
{
    parser->depth--;
    return node;
}

/* ---- numbers ---- */

static bool parse_number(struct parser *parser, unsigned *number)
{
    const char *begin = parser->p;
    for (*number = 0; is_digit(peek(parser)) && *number <= MANGLED_BYTES_MOST; parser->p++)
        *number = *number * 10 + (unsigned)(*parser->p - '0');
    return parser->p > begin && *number <= MANGLED_BYTES_MOST;
}

/* "_" is 0, "0_" is 1. */
static bool parse_sequence(struct parser *parser, unsigned base, unsigned *number)
{
    unsigned value = 0;
    bool any = false;
    for (;; parser->p++, any = true) {
        char c = peek(parser);
        if (is_digit(c))
            value = value * base + (unsigned)(c - '0');
        else if (base == 36 && c >= 'A' && c <= 'Z')
            value = value * base + (unsigned)(c - 'A') + 10;
        else
            break;
        if (value > MANGLED_BYTES_MOST)
            return false;
    }
    *number = any ? value + 1 : 0;
    return accept(parser, "_");
}

/* "_3", "__12_" */
static bool skip_discriminator(struct parser *parser)
{
    unsigned number;
    if (accept(parser, "__"))
        return parse_number(parser, &number) && accept(parser, "_");
    if (peek(parser) == '_' && is_digit(peek_second(parser)))
        parser->p += 2;
    return true;
}

/* ---- names ---- */

static uint16_t parse_source_name(struct parser *parser)
{
    unsigned length;
    if (!parse_number(parser, &length) || !length || length > (size_t)(parser->end - parser->p))
        return 0;
    parser->p += length;
    return span(parser, MANGLED_NAME, parser->p - length, length);
}

static uint16_t parse_builtin(struct parser *parser)
{
    for (unsigned i = 0; i < mangled_builtin_count; i++)
        if (accept(parser, mangled_builtin[i].code))
            return numbered(parser, MANGLED_BUILTIN, i);
    return 0;
}

static uint16_t parse_types(struct parser *parser)
{
    uint16_t first = 0, last = 0;
    if (accept(parser, "v"))
        return list_or_empty(parser, 0);
    while (peek(parser) && peek(parser) != 'E' && peek(parser) != '.')
        if (!append(parser, &first, &last, parse_type(parser)))
            return 0;
    return first;
}

/* "UlvE_", "Ut0_" */
static uint16_t parse_unnamed(struct parser *parser)
{
    unsigned number;
    uint16_t types = 0;
    bool lambda = accept(parser, "Ul");
    if (!lambda && !accept(parser, "Ut"))
        return 0;
    if (lambda) {
        while (accept(parser, "Ty") || (accept(parser, "Tn") && parse_type(parser)))
            ; /* what its own template parameters are */
        types = parse_types(parser);
        if (!types || !accept(parser, "E"))
            return 0;
    }
    if (!parse_sequence(parser, 10, &number))
        return 0;
    uint16_t node = numbered(parser, lambda ? MANGLED_LAMBDA : MANGLED_UNNAMED, number + 1);
    if (node)
        parser->tree->node[node].left = types;
    return node;
}

static uint16_t parse_operator(struct parser *parser)
{
    if (accept(parser, "cv"))
        return wrap(parser, MANGLED_CONVERSION, parse_type(parser), 0);
    if (accept(parser, "li")) /* operator"" */
        return parse_source_name(parser);
    for (unsigned i = 0; i < mangled_operator_count; i++)
        if (accept(parser, mangled_operator[i].code))
            return numbered(parser, MANGLED_OPERATOR, i);
    return 0;
}

/* Of SCOPE, whose constructor it may be. */
static uint16_t parse_unqualified(struct parser *parser, uint16_t scope)
{
    uint16_t node;
    char c, second;
    accept(parser, "L"); /* seen in this file only */
    c = peek(parser);
    second = peek_second(parser);
    if (is_digit(c)) {
        node = parse_source_name(parser);
    } else if (c == 'U') {
        node = parse_unnamed(parser);
    } else if (scope &&
               ((c == 'C' && second >= '1' && second <= '5') || (c == 'D' && second >= '0' && second <= '5'))) {
        parser->p += 2;
        node = wrap(parser, MANGLED_CONSTRUCTOR, scope, c == 'D');
    } else {
        node = parse_operator(parser);
    }
    while (node && accept(parser, "B"))
        node = pair(parser, MANGLED_TAGGED, node, parse_source_name(parser));
    return node;
}

static uint16_t parse_substitution(struct parser *parser)
{
    unsigned number;
    if (!accept(parser, "S") || !parse_sequence(parser, 36, &number) || number >= parser->substitution_count)
        return 0;
    return parser->substitution[number];
}

static bool is_back_reference(const struct parser *parser)
{
    char second = peek_second(parser);
    return peek(parser) == 'S' && (second == '_' || is_digit(second) || (second >= 'A' && second <= 'Z'));
}

static bool is_standard_name(const struct parser *parser)
{
    char second = peek_second(parser);
    return peek(parser) == 'S' && second && strchr("absiod", second);
}

static uint16_t parse_template_parameter(struct parser *parser)
{
    unsigned number;
    if (!accept(parser, "T") || !parse_sequence(parser, 10, &number))
        return 0;
    return numbered(parser, MANGLED_PARAMETER, number);
}

/* "Dt ... E", "DT ... E" */
static uint16_t parse_decltype(struct parser *parser)
{
    if (!accept(parser, "Dt") && !accept(parser, "DT"))
        return 0;
    return parse_expression(parser) && accept(parser, "E") ? new_node(parser, MANGLED_UNKNOWN, 0, 0) : 0;
}

/* One more piece of a nested name, of which SCOPE is what came before. */
static uint16_t parse_prefix(struct parser *parser, uint16_t scope, bool *is_new)
{
    char c = peek(parser);
    *is_new = true;
    if (c == 'I')
        return scope ? pair(parser, MANGLED_TEMPLATE, scope, parse_template_arguments(parser)) : 0;
    if (!scope && is_back_reference(parser)) {
        *is_new = false;
        return parse_substitution(parser);
    }
    if (!scope && (is_standard_name(parser) || (c == 'S' && peek_second(parser) == 't'))) {
        *is_new = false;
        return parse_builtin(parser);
    }
    if (!scope && c == 'T')
        return parse_template_parameter(parser);
    if (!scope && c == 'D' && (peek_second(parser) == 't' || peek_second(parser) == 'T'))
        return parse_decltype(parser);
    uint16_t piece = parse_unqualified(parser, scope);
    return scope ? pair(parser, MANGLED_QUALIFIED, scope, piece) : piece;
}

static uint8_t parse_qualifiers(struct parser *parser)
{
    uint8_t flags = 0;
    accept(parser, "r");
    flags |= accept(parser, "V") ? MANGLED_IS_VOLATILE : 0;
    flags |= accept(parser, "K") ? MANGLED_IS_CONST : 0;
    flags |= accept(parser, "R") ? MANGLED_IS_LVALUE : 0;
    flags |= accept(parser, "O") ? MANGLED_IS_RVALUE : 0;
    return flags;
}

static uint16_t parse_nested(struct parser *parser)
{
    uint8_t qualifiers = parse_qualifiers(parser);
    uint16_t node = 0;
    while (!accept(parser, "E")) {
        bool is_new;
        accept(parser, "M"); /* of a member's initialiser */
        node = parse_prefix(parser, node, &is_new);
        if (!node || (is_new && peek(parser) != 'E' && !remember(parser, node)))
            return 0;
    }
    parser->qualifiers = qualifiers;
    return node;
}

/* "Z <function> E <entity>" */
static uint16_t parse_local(struct parser *parser)
{
    unsigned number;
    uint16_t function = parse_encoding(parser), entity;
    if (!function || !accept(parser, "E"))
        return 0;
    if (accept(parser, "s"))
        return skip_discriminator(parser) ? function : 0; /* a string */
    if (accept(parser, "d") && !parse_sequence(parser, 10, &number))
        return 0;
    entity = parse_name(parser);
    return skip_discriminator(parser) ? pair(parser, MANGLED_LOCAL, function, entity) : 0;
}

static uint16_t parse_unscoped(struct parser *parser)
{
    if (is_back_reference(parser))
        return parse_substitution(parser);
    if (is_standard_name(parser))
        return parse_builtin(parser);
    if (peek(parser) != 'S' || peek_second(parser) != 't')
        return parse_unqualified(parser, 0);
    uint16_t standard = parse_builtin(parser);
    return pair(parser, MANGLED_QUALIFIED, standard, parse_unqualified(parser, standard));
}

static uint16_t parse_name(struct parser *parser)
{
    parser->qualifiers = 0;
    if (accept(parser, "N"))
        return parse_nested(parser);
    if (accept(parser, "Z"))
        return parse_local(parser);
    bool known = is_back_reference(parser) || is_standard_name(parser);
    uint16_t node = parse_unscoped(parser);
    if (!node || peek(parser) != 'I')
        return node;
    if (!known && !remember(parser, node))
        return 0;
    return pair(parser, MANGLED_TEMPLATE, node, parse_template_arguments(parser));
}

/* ---- template arguments ---- */

static uint16_t parse_literal(struct parser *parser)
{
    const char *begin;
    if (accept(parser, "_Z")) {
        uint16_t function = parse_encoding(parser);
        return accept(parser, "E") ? function : 0;
    }
    uint16_t type = parse_type(parser);
    bool negative = accept(parser, "n");
    for (begin = parser->p; is_digit(peek(parser)) || (peek(parser) >= 'a' && peek(parser) <= 'f');)
        parser->p++;
    uint16_t node = type ? span(parser, MANGLED_LITERAL, begin, (size_t)(parser->p - begin)) : 0;
    if (!node || !accept(parser, "E"))
        return 0;
    parser->tree->node[node].left = type;
    parser->tree->node[node].flags = negative;
    return node;
}

static uint16_t parse_template_argument(struct parser *parser)
{
    if (accept(parser, "L"))
        return parse_literal(parser);
    if (accept(parser, "X")) {
        uint16_t node = parse_expression(parser);
        return accept(parser, "E") ? node : 0;
    }
    if (peek(parser) != 'J' && peek(parser) != 'I')
        return parse_type(parser);
    parser->p++;
    uint16_t first = 0, last = 0;
    while (!accept(parser, "E"))
        if (!enter(parser) || !append(parser, &first, &last, leave(parser, parse_template_argument(parser))))
            return 0;
    return wrap(parser, MANGLED_PACK, list_or_empty(parser, first), 0);
}

static uint16_t parse_template_arguments(struct parser *parser)
{
    uint16_t first = 0, last = 0;
    if (!accept(parser, "I"))
        return 0;
    while (!accept(parser, "E"))
        if (!append(parser, &first, &last, parse_template_argument(parser)))
            return 0;
    return list_or_empty(parser, first);
}

/* ---- expressions: stepped over ---- */

static uint16_t unknown(struct parser *parser, bool stepped_over)
{
    return stepped_over ? new_node(parser, MANGLED_UNKNOWN, 0, 0) : 0;
}

static bool skip_expressions(struct parser *parser, unsigned count)
{
    while (count--)
        if (!parse_expression(parser))
            return false;
    return true;
}

static bool skip_expressions_to_end(struct parser *parser)
{
    while (!accept(parser, "E"))
        if (!parse_expression(parser))
            return false;
    return true;
}

static bool skip_simple_id(struct parser *parser)
{
    accept(parser, "on");
    if (accept(parser, "dn")) {
        if (!is_digit(peek(parser)))
            return parse_type(parser) != 0;
    }
    uint16_t node = is_digit(peek(parser)) ? parse_source_name(parser) : parse_operator(parser);
    return node && (peek(parser) != 'I' || parse_template_arguments(parser));
}

/* Behind "sr". */
static bool skip_unresolved_name(struct parser *parser)
{
    if (accept(parser, "N")) {
        if (!parse_type(parser))
            return false;
        while (!accept(parser, "E"))
            if (!skip_simple_id(parser))
                return false;
        return skip_simple_id(parser);
    }
    if (!is_digit(peek(parser)))
        return parse_type(parser) && skip_simple_id(parser);
    /* "sr 3std 7is_sameI...E E 5value" of the standard, or a class and a name without the E of older compilers */
    const char *begin = parser->p;
    unsigned substitutions = parser->substitution_count, nodes = parser->tree->node_count;
    bool fits = true;
    while (fits && !accept(parser, "E"))
        fits = skip_simple_id(parser);
    if (fits && skip_simple_id(parser))
        return true;
    parser->p = begin;
    parser->substitution_count = substitutions;
    parser->tree->node_count = (uint16_t)nodes;
    return parse_type(parser) && skip_simple_id(parser);
}

/* "fp_", "fpK0_", "fL1p_", "fpT" */
static bool skip_function_parameter(struct parser *parser)
{
    unsigned number;
    if (accept(parser, "fpT"))
        return true;
    if (accept(parser, "fL")) {
        if (!parse_number(parser, &number) || !accept(parser, "p"))
            return false;
    } else if (!accept(parser, "fp")) {
        return false;
    }
    parse_qualifiers(parser);
    return parse_sequence(parser, 10, &number);
}

static uint16_t parse_address(struct parser *parser)
{
    uint16_t node = accept(parser, "L") ? parse_literal(parser) : parse_expression(parser);
    return wrap(parser, MANGLED_ADDRESS, node, 0);
}

enum expression_form { FORM_TYPE = 1, FORM_EXPRESSION, FORM_TYPE_EXPRESSION, FORM_TYPE_LIST, FORM_LIST, FORM_NONE };
static const struct {
    char code[3];
    uint8_t form;
} expression[] = {
    {"st", FORM_TYPE},
    {"at", FORM_TYPE},
    {"ti", FORM_TYPE},
    {"sz", FORM_EXPRESSION},
    {"az", FORM_EXPRESSION},
    {"te", FORM_EXPRESSION},
    {"nx", FORM_EXPRESSION},
    {"sZ", FORM_EXPRESSION},
    {"tw", FORM_EXPRESSION},
    {"gs", FORM_EXPRESSION},
    {"dc", FORM_TYPE_EXPRESSION},
    {"sc", FORM_TYPE_EXPRESSION},
    {"cc", FORM_TYPE_EXPRESSION},
    {"rc", FORM_TYPE_EXPRESSION},
    {"tl", FORM_TYPE_LIST},
    {"il", FORM_LIST},
    {"cl", FORM_LIST},
    {"sP", FORM_LIST},
    {"tr", FORM_NONE},
};

static bool skip_form(struct parser *parser, enum expression_form form)
{
    switch (form) {
    case FORM_TYPE:
        return parse_type(parser) != 0;
    case FORM_EXPRESSION:
        return parse_expression(parser) != 0;
    case FORM_TYPE_EXPRESSION:
        return parse_type(parser) && parse_expression(parser);
    case FORM_TYPE_LIST:
        return parse_type(parser) && skip_expressions_to_end(parser);
    case FORM_LIST:
        return skip_expressions_to_end(parser);
    case FORM_NONE:
        return true;
    }
    return false;
}

static bool skip_operation(struct parser *parser)
{
    if (accept(parser, "cv")) {
        bool several;
        if (!parse_type(parser))
            return false;
        several = accept(parser, "_");
        return several ? skip_expressions_to_end(parser) : parse_expression(parser) != 0;
    }
    if (accept(parser, "dt") || accept(parser, "pt"))
        return parse_expression(parser) && skip_simple_id(parser);
    if (peek(parser) == 'f' && peek_second(parser) && strchr("lrLR", peek_second(parser)) &&
        (peek_second(parser) != 'L' || parser->end - parser->p < 3 || !is_digit(parser->p[2]))) { /* a fold */
        bool two = peek_second(parser) == 'L' || peek_second(parser) == 'R';
        parser->p += 2;
        return parse_operator(parser) && skip_expressions(parser, two ? 2 : 1);
    }
    if (peek(parser) == 'f')
        return skip_function_parameter(parser);
    for (unsigned i = 0; i < sizeof expression / sizeof *expression; i++)
        if (accept(parser, expression[i].code))
            return skip_form(parser, expression[i].form);
    for (unsigned i = 0; i < mangled_operator_count; i++)
        if (mangled_operator[i].operands && accept(parser, mangled_operator[i].code)) {
            accept(parser, "_"); /* "pp_" stands in front, "pp" behind */
            return skip_expressions(parser, mangled_operator[i].operands);
        }
    return is_digit(peek(parser)) && skip_simple_id(parser);
}

static uint16_t parse_expression_inside(struct parser *parser)
{
    if (accept(parser, "ad"))
        return parse_address(parser);
    if (accept(parser, "L"))
        return parse_literal(parser);
    if (peek(parser) == 'T')
        return parse_template_parameter(parser);
    if (accept(parser, "sp"))
        return wrap(parser, MANGLED_EXPANSION, parse_expression(parser), 0);
    if (accept(parser, "sr"))
        return unknown(parser, skip_unresolved_name(parser));
    if (peek(parser) == 'J')
        return unknown(parser, parse_template_argument(parser) != 0);
    return unknown(parser, skip_operation(parser));
}

static uint16_t parse_expression(struct parser *parser)
{
    return leave(parser, enter(parser) ? parse_expression_inside(parser) : 0);
}

/* ---- types ---- */

static uint16_t parse_function_type(struct parser *parser)
{
    accept(parser, "Y"); /* extern "C" */
    uint16_t result = parse_type(parser), parameters = result ? parse_types(parser) : 0, node;
    node = pair(parser, MANGLED_FUNCTION, result, parameters);
    if (node && accept(parser, "R"))
        parser->tree->node[node].flags = MANGLED_IS_LVALUE;
    else if (node && accept(parser, "O"))
        parser->tree->node[node].flags = MANGLED_IS_RVALUE;
    return accept(parser, "E") ? node : 0;
}

static uint16_t parse_array_type(struct parser *parser)
{
    const char *begin = parser->p;
    bool fits = true;
    while (is_digit(peek(parser)))
        parser->p++;
    const char *end = parser->p;
    if (begin == end && peek(parser) != '_')
        fits = parse_expression(parser) != 0;
    if (!fits || !accept(parser, "_"))
        return 0;
    uint16_t node = wrap(parser, MANGLED_ARRAY, parse_type(parser), 0);
    if (node) {
        parser->tree->node[node].at = (uint16_t)(begin - parser->tree->name);
        parser->tree->node[node].length = (uint16_t)(end - begin);
        parser->tree->node[node].flags = begin == end && *begin != '_'; /* an expression, not spelled */
    }
    return node;
}

static uint16_t parse_member_pointer(struct parser *parser)
{
    uint16_t class = parse_type(parser);
    return class ? pair(parser, MANGLED_MEMBER_POINTER, class, parse_type(parser)) : 0;
}

/* "Dv4_f": a vector of the compiler's, and other rare ones, which are not told apart. */
static uint16_t parse_vector(struct parser *parser)
{
    unsigned number;
    if (!parse_number(parser, &number) && (!accept(parser, "_") || !parse_expression(parser)))
        return 0;
    return accept(parser, "_") && parse_type(parser) ? new_node(parser, MANGLED_UNKNOWN, 0, 0) : 0;
}

static uint16_t parse_parameter_type(struct parser *parser)
{
    uint16_t node = parse_template_parameter(parser);
    if (!node || peek(parser) != 'I' || !remember(parser, node))
        return node;
    return pair(parser, MANGLED_TEMPLATE, node, parse_template_arguments(parser));
}

/* With a template behind a back reference it is another type, else it is known. */
static uint16_t parse_known_type(struct parser *parser)
{
    uint16_t node = parse_substitution(parser);
    if (!node || peek(parser) != 'I')
        return node;
    return remember(parser, pair(parser, MANGLED_TEMPLATE, node, parse_template_arguments(parser)));
}

static uint16_t parse_vendor_type(struct parser *parser)
{
    uint16_t node = parse_source_name(parser);
    if (node && peek(parser) == 'I')
        node = pair(parser, MANGLED_TEMPLATE, node, parse_template_arguments(parser));
    return node;
}

static uint16_t parse_compound(struct parser *parser)
{
    if (accept(parser, "P"))
        return wrap(parser, MANGLED_POINTER, parse_type(parser), 0);
    if (accept(parser, "R"))
        return wrap(parser, MANGLED_REFERENCE, parse_type(parser), 0);
    if (accept(parser, "O"))
        return wrap(parser, MANGLED_REFERENCE, parse_type(parser), 1);
    if (accept(parser, "F"))
        return parse_function_type(parser);
    if (accept(parser, "A"))
        return parse_array_type(parser);
    if (accept(parser, "M"))
        return parse_member_pointer(parser);
    if (accept(parser, "Dp"))
        return wrap(parser, MANGLED_EXPANSION, parse_type(parser), 0);
    if (accept(parser, "Dv"))
        return parse_vector(parser);
    if (accept(parser, "u"))
        return parse_vendor_type(parser);
    if (peek(parser) == 'D')
        return parse_decltype(parser);
    if (peek(parser) == 'T' && peek_second(parser) && !strchr("sue", peek_second(parser)))
        return parse_parameter_type(parser);
    if (!accept(parser, "Ts") && !accept(parser, "Tu")) /* struct, union, enum */
        accept(parser, "Te");
    return parse_name(parser);
}

/* All of "r", "V", "K" in a row are one type: one substitution. */
static uint16_t parse_qualified_type(struct parser *parser)
{
    char order[3];
    unsigned count = 0;
    while (count < 3 && peek(parser) && strchr("rVK", peek(parser)))
        order[count++] = *parser->p++;
    uint16_t node = parse_type(parser);
    while (node && count)
        node = wrap(parser, MANGLED_QUALIFIER, node, (unsigned char)order[--count]);
    return node;
}

static uint16_t parse_type_inside(struct parser *parser)
{
    char c = peek(parser);
    uint8_t qualifiers = parser->qualifiers;
    uint16_t node;
    if (c == 'r' || c == 'V' || c == 'K') {
        node = remember(parser, parse_qualified_type(parser));
    } else if (is_back_reference(parser)) {
        node = parse_known_type(parser);
    } else {
        bool standard = is_standard_name(parser);
        const char *begin = parser->p;
        node = c == 'S' ? 0 : parse_builtin(parser);
        if (!node) {
            parser->p = begin;
            node = parse_compound(parser);
            if (!standard || (node && parser->tree->node[node].kind != MANGLED_BUILTIN))
                node = remember(parser, node);
        }
    }
    parser->qualifiers = qualifiers;
    return node;
}

static uint16_t parse_type(struct parser *parser)
{
    return leave(parser, enter(parser) ? parse_type_inside(parser) : 0);
}

/* ---- functions ---- */

/* A function that is a template has its return type in front of its parameters, but constructors and conversions do not. */
static bool has_return_type(const struct mangled_tree *tree, uint16_t name)
{
    while (tree->node[name].kind == MANGLED_LOCAL)
        name = tree->node[name].right;
    if (tree->node[name].kind != MANGLED_TEMPLATE)
        return false;
    name = tree->node[name].left;
    while (tree->node[name].kind == MANGLED_QUALIFIED)
        name = tree->node[name].right;
    return tree->node[name].kind != MANGLED_CONSTRUCTOR && tree->node[name].kind != MANGLED_CONVERSION;
}

/* Name alone: a variable. */
static uint16_t parse_encoding_inside(struct parser *parser)
{
    uint16_t name, result = 0, parameters, function;
    name = parse_name(parser);
    uint8_t qualifiers = parser->qualifiers;
    if (!name || !peek(parser) || peek(parser) == 'E' || peek(parser) == '.')
        return name;
    if (has_return_type(parser->tree, name)) {
        result = parse_type(parser);
        if (!result)
            return 0;
    }
    parameters = parse_types(parser);
    function = parameters ? new_node(parser, MANGLED_FUNCTION, result, parameters) : 0;
    if (!function)
        return 0;
    parser->tree->node[function].flags = qualifiers;
    return pair(parser, MANGLED_ENCODING, name, function);
}

static uint16_t parse_encoding(struct parser *parser)
{
    return leave(parser, enter(parser) ? parse_encoding_inside(parser) : 0);
}

bool mangled_parse(const char *name, struct mangled_tree *tree)
{
    size_t bytes = strnlen(name, MANGLED_BYTES_MOST);
    struct parser parser;
    if (bytes == MANGLED_BYTES_MOST || bytes < 3 || name[0] != '_' || name[1] != 'Z')
        return false;
    parser.tree = tree;
    parser.p = name + 2;
    parser.end = name + bytes;
    parser.depth = parser.made = parser.substitution_count = 0;
    parser.qualifiers = 0;
    tree->name = name;
    tree->node_count = 0;
    tree->root = parse_encoding(&parser);
    /* ".isra.0" and the like: a copy of the function that the compiler made */
    return tree->root && tree->node[tree->root].kind == MANGLED_ENCODING &&
           (peek(&parser) == '\0' || peek(&parser) == '.');
}
