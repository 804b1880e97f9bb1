/* SPDX-License-Identifier: Apache-2.0 */
/* From text to nodes, by precedence. What an expression speaks of is checked here against the row's own list of types, so a
 * row that reads a pointer as a number, or a parameter that isn't there, is refused before any launch is read. */
#include "classify/launch_expression_nodes.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/gpu_specs.h"
#include "classify/launch_format.h"

struct parser {
    const char *at;
    const struct launch_scope *scope;
    struct launch_node *nodes;
    size_t count;
    char *error;
    int depth;
    bool failed;
};

/* ---- nodes ---- */

static int fail(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int fail(struct parser *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!p->failed)
        vsnprintf(p->error, LAUNCH_EXPRESSION_ERROR_BYTES, format, arguments);
    va_end(arguments);
    p->failed = true;
    return 0;
}

static int add(struct parser *p, struct launch_node node)
{
    if (p->failed || p->count == LAUNCH_EXPRESSION_NODES_MOST) {
        free(node.text);
        return fail(p, "it is too long");
    }
    p->nodes[p->count] = node;
    return (int)p->count++;
}

static bool is_text(const struct parser *p, int node)
{
    return !p->failed && p->nodes[node].is_text;
}

static int want_number(struct parser *p, int node, const char *what)
{
    return is_text(p, node) ? fail(p, "%s takes numbers, not texts", what) : node;
}

static int want_text(struct parser *p, int node, const char *what)
{
    return p->failed || is_text(p, node) ? node : fail(p, "%s takes a format", what);
}

/* ---- tokens ---- */

static void skip_space(struct parser *p)
{
    while (*p->at == ' ' || *p->at == '\t')
        p->at++;
}

static bool take(struct parser *p, const char *token)
{
    skip_space(p);
    size_t length = strlen(token);
    if (p->failed || strncmp(p->at, token, length))
        return false;
    p->at += length;
    return true;
}

static void expect(struct parser *p, const char *token)
{
    if (!take(p, token))
        fail(p, "'%s' is expected before '%.20s'", token, p->at);
}

static bool is_word_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static size_t word_length(const char *at)
{
    size_t length = 0;
    while (is_word_letter(at[length]))
        length++;
    return length;
}

static int64_t read_number(struct parser *p)
{
    char *end;
    errno = 0;
    long long number = strtoll(p->at, &end, 10);
    if (errno || is_word_letter(*end))
        fail(p, "'%.20s' is no number", p->at);
    p->at = end;
    return number;
}

/* Between quotes of either kind; to be freed. */
static char *read_quoted(struct parser *p)
{
    skip_space(p);
    char quote = *p->at;
    const char *end = quote == '\'' || quote == '"' ? strchr(p->at + 1, quote) : NULL;
    if (!end) {
        fail(p, "a text in quotes is expected before '%.20s'", p->at);
        return NULL;
    }
    char *text = strndup(p->at + 1, (size_t)(end - p->at) - 1);
    if (!text)
        abort();
    p->at = end + 1;
    return text;
}

/* ---- parameters and template arguments ---- */

/* clang-format off */
static const struct { const char *type; uint8_t bytes; bool is_signed; } integers[] = {
    {"bool", 1, false},  {"char", 1, true},       {"signed char", 1, true},   {"unsigned char", 1, false},
    {"short", 2, true},  {"unsigned short", 2, false}, {"int", 4, true},      {"unsigned int", 4, false},
    {"long", 8, true},   {"unsigned long", 8, false},  {"long long", 8, true}, {"unsigned long long", 8, false},
};
static const struct { const char *type; uint8_t words; bool is_signed; } vectors[] = {
    {"int1", 1, true},   {"int2", 2, true},   {"int3", 3, true},   {"int4", 4, true},   {"dim3", 3, false},
    {"uint1", 1, false}, {"uint2", 2, false}, {"uint3", 3, false}, {"uint4", 4, false},
};
static const struct { const char *name; uint8_t bytes; bool is_signed; } fields[] = {
    {"u8", 1, false}, {"i8", 1, true}, {"u16", 2, false}, {"i16", 2, true},
    {"u32", 4, false}, {"i32", 4, true}, {"u64", 8, false}, {"i64", 8, true},
};
/* clang-format on */

static bool is_pointer(const char *type)
{
    size_t length = strlen(type);
    return length && (type[length - 1] == '*' || type[length - 1] == '&');
}

/* The "5" of a5 and t5. */
static uint16_t read_index(struct parser *p, const char *digits, size_t length, size_t count, const char *what)
{
    unsigned long index = length <= 3 ? strtoul(digits, NULL, 10) : 1000;
    if (index >= count)
        fail(p, "there is no %s %.*s", what, (int)length, digits);
    return (uint16_t)index;
}

static bool is_indexed(const char *word, size_t length, char letter)
{
    if (length < 2 || *word != letter)
        return false;
    for (size_t i = 1; i < length; i++)
        if (!isdigit((unsigned char)word[i]))
            return false;
    return true;
}

static uint16_t read_parameter_index(struct parser *p)
{
    skip_space(p);
    size_t length = word_length(p->at);
    if (!is_indexed(p->at, length, 'a')) {
        fail(p, "a parameter such as a2 is expected before '%.20s'", p->at);
        return 0;
    }
    uint16_t index = read_index(p, p->at + 1, length - 1, p->scope->type_count, "parameter");
    p->at += length;
    return index;
}

static uint16_t read_argument_index(struct parser *p)
{
    skip_space(p);
    size_t length = word_length(p->at),
           count = p->scope->argument_count < 0 ? KERNEL_SIGNATURE_ARGUMENTS_MOST : (size_t)p->scope->argument_count;
    if (!is_indexed(p->at, length, 't')) {
        fail(p, "a template argument such as t0 is expected before '%.20s'", p->at);
        return 0;
    }
    uint16_t index = read_index(p, p->at + 1, length - 1, count, "template argument");
    p->at += length;
    return index;
}

static int field_of(struct parser *p, uint16_t index, const char *type, const char *word, size_t length)
{
    struct launch_node node = {.operation = LAUNCH_OP_PARAMETER, .index = index};
    const char *letter = length == 1 ? strchr("xyzw", *word) : NULL;
    for (size_t i = 0; letter && i < sizeof vectors / sizeof vectors[0]; i++)
        if (!strcmp(type, vectors[i].type)) {
            unsigned place = *letter == 'w' ? 3 : (unsigned)(*letter - 'x');
            if (place >= vectors[i].words)
                break;
            node.bytes = 4;
            node.offset = 4 * place;
            node.is_signed = vectors[i].is_signed;
            return add(p, node);
        }
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (strlen(fields[i].name) == length && !strncmp(fields[i].name, word, length)) {
            expect(p, "[");
            skip_space(p);
            int64_t offset = isdigit((unsigned char)*p->at) ? read_number(p) : -1;
            expect(p, "]");
            if (offset < 0 || offset > TRACE_VALUE_BYTES_MOST)
                return fail(p, "a%u has no byte %lld", index, (long long)offset);
            node.bytes = fields[i].bytes;
            node.offset = (uint32_t)offset;
            node.is_signed = fields[i].is_signed;
            return add(p, node);
        }
    return fail(p, "a%u of type %.60s has no .%.*s", index, type, (int)length, word);
}

static int parameter(struct parser *p)
{
    uint16_t index = read_parameter_index(p);
    if (p->failed)
        return 0;
    const char *type = p->scope->types[index];
    if (is_pointer(type))
        return fail(p, "a%u is a pointer: only null(a%u) tells something of it", index, index);
    if (take(p, ".")) {
        size_t length = word_length(p->at);
        const char *word = p->at;
        p->at += length;
        return field_of(p, index, type, word, length);
    }
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++)
        if (!strcmp(type, integers[i].type))
            return add(p, (struct launch_node){.operation = LAUNCH_OP_PARAMETER,
                                               .index = index,
                                               .bytes = integers[i].bytes,
                                               .is_signed = integers[i].is_signed});
    return fail(p, "a%u of type %.60s is no integer: say which of its bytes, as in a%u.u32[0]", index, type, index);
}

/* ---- functions ---- */

static int expression(struct parser *p);

static int function_null(struct parser *p)
{
    uint16_t index = read_parameter_index(p);
    if (!p->failed && !is_pointer(p->scope->types[index]))
        return fail(p, "a%u of type %.60s is no pointer", index, p->scope->types[index]);
    return add(p, (struct launch_node){.operation = LAUNCH_OP_NULL, .index = index});
}

static int function_spelled(struct parser *p, enum launch_operation operation)
{
    uint16_t index = read_argument_index(p);
    expect(p, ",");
    char *text = p->failed ? NULL : read_quoted(p);
    if (!text)
        return 0;
    return add(p, (struct launch_node){.operation = operation, .index = index, .text = text});
}

static int function_of_one(struct parser *p, enum launch_operation operation, const char *name)
{
    int operand = expression(p);
    if (operation == LAUNCH_OP_BLOCK_OF || operation == LAUNCH_OP_BYTES_OF)
        want_text(p, operand, name);
    else if (operation != LAUNCH_OP_KNOWN)
        want_number(p, operand, name);
    return add(p, (struct launch_node){
                      .operation = operation, .is_text = operation == LAUNCH_OP_GGML, .operand = {(int16_t)operand}});
}

static int function_of_two(struct parser *p, enum launch_operation operation, const char *name, bool more)
{
    int left = want_number(p, expression(p), name);
    do {
        expect(p, ",");
        int right = want_number(p, expression(p), name);
        left = add(p, (struct launch_node){.operation = operation, .operand = {(int16_t)left, (int16_t)right}});
        skip_space(p);
    } while (more && !p->failed && *p->at == ',');
    return left;
}

static int function(struct parser *p, const char *name, size_t length)
{
    static const struct {
        const char *name;
        enum launch_operation operation;
    } functions[] = {
        {"null", LAUNCH_OP_NULL},         {"is", LAUNCH_OP_IS},     {"has", LAUNCH_OP_HAS},
        {"known", LAUNCH_OP_KNOWN},       {"ggml", LAUNCH_OP_GGML}, {"block_of", LAUNCH_OP_BLOCK_OF},
        {"bytes_of", LAUNCH_OP_BYTES_OF}, {"ceil", LAUNCH_OP_CEIL}, {"exact", LAUNCH_OP_EXACT},
        {"min", LAUNCH_OP_MIN},           {"max", LAUNCH_OP_MAX},
    };
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        enum launch_operation operation = functions[i].operation;
        if (strlen(functions[i].name) != length || strncmp(functions[i].name, name, length))
            continue;
        int node = operation == LAUNCH_OP_NULL                               ? function_null(p)
                   : operation == LAUNCH_OP_IS || operation == LAUNCH_OP_HAS ? function_spelled(p, operation)
                   : operation >= LAUNCH_OP_KNOWN && operation < LAUNCH_OP_CEIL
                       ? function_of_one(p, operation, functions[i].name)
                       : function_of_two(p, operation, functions[i].name, operation >= LAUNCH_OP_MIN);
        expect(p, ")");
        return node;
    }
    return fail(p, "there is no function %.*s()", (int)(length < 40 ? length : 40), name);
}

/* ---- the grammar ---- */

static int name_or_number(struct parser *p, const char *word, size_t length)
{
    for (int truth = 0; truth < 2; truth++) {
        const char *spelled = truth ? "true" : "false";
        if (strlen(spelled) == length && !strncmp(word, spelled, length))
            return add(p, (struct launch_node){.operation = LAUNCH_OP_NUMBER, .number = truth});
    }
    for (size_t i = 0; i < p->scope->name_count; i++) {
        const struct launch_name *name = &p->scope->names[i];
        if (!name->visible || strlen(name->name) != length || strncmp(name->name, word, length))
            continue;
        return add(p,
                   (struct launch_node){.operation = LAUNCH_OP_NAME, .index = (uint16_t)i, .is_text = name->is_text});
    }
    return fail(p, "%.*s is not known here", (int)(length < 40 ? length : 40), word);
}

static int axis(struct parser *p, enum launch_operation operation)
{
    expect(p, ".");
    char letter = *p->at;
    if (letter < 'x' || letter > 'z' || word_length(p->at) != 1)
        return fail(p, "grid and block have .x, .y and .z");
    p->at++;
    return add(p, (struct launch_node){.operation = operation, .index = (uint16_t)(letter - 'x')});
}

/* A mistyped one would just never be equal. */
static int text_literal(struct parser *p)
{
    struct launch_format format;
    char *text = read_quoted(p);
    if (!text)
        return 0;
    if (!launch_format_find(text, &format) && gpu_path_by_word(text) == GPU_PATH_UNKNOWN)
        fail(p, "'%.40s' is neither a format nor a path", text);
    return add(p, (struct launch_node){.operation = LAUNCH_OP_TEXT, .is_text = true, .text = text});
}

static int primary(struct parser *p)
{
    skip_space(p);
    const char *word = p->at;
    if (take(p, "(")) {
        int node = expression(p);
        expect(p, ")");
        return node;
    }
    if (*word == '\'' || *word == '"') {
        return text_literal(p);
    }
    if (isdigit((unsigned char)*word)) {
        int64_t number = read_number(p);
        return add(p, (struct launch_node){.operation = LAUNCH_OP_NUMBER, .number = number});
    }
    size_t length = word_length(word);
    if (!length)
        return fail(p, "a value is expected %s'%.20s'", *word ? "before " : "at the end", word);
    if (is_indexed(word, length, 'a'))
        return parameter(p);
    if (is_indexed(word, length, 't')) {
        uint16_t index = read_argument_index(p);
        return add(p, (struct launch_node){.operation = LAUNCH_OP_ARGUMENT, .index = index});
    }
    p->at += length;
    if (length == 4 && !strncmp(word, "grid", 4))
        return axis(p, LAUNCH_OP_GRID);
    if (length == 5 && !strncmp(word, "block", 5))
        return axis(p, LAUNCH_OP_BLOCK);
    return take(p, "(") ? function(p, word, length) : name_or_number(p, word, length);
}

static int unary(struct parser *p)
{
    if (p->depth >= LAUNCH_EXPRESSION_DEPTH_MOST)
        return fail(p, "it is nested too deeply");
    p->depth++;
    int node;
    skip_space(p);
    if (*p->at == '!' && p->at[1] != '=') {
        p->at++;
        node = want_number(p, unary(p), "!");
        node = add(p, (struct launch_node){.operation = LAUNCH_OP_NOT, .operand = {(int16_t)node}});
    } else if (take(p, "-")) {
        node = want_number(p, unary(p), "-");
        node = add(p, (struct launch_node){.operation = LAUNCH_OP_NEGATE, .operand = {(int16_t)node}});
    } else
        node = primary(p);
    p->depth--;
    return node;
}

/* Longer tokens before those that they begin with. */
static const struct {
    const char *token;
    int level;
    enum launch_operation operation;
} binaries[] = {
    {"||", 0, LAUNCH_OP_OR},        {"&&", 1, LAUNCH_OP_AND},        {"==", 2, LAUNCH_OP_EQUAL},
    {"!=", 2, LAUNCH_OP_NOT_EQUAL}, {"<=", 3, LAUNCH_OP_LESS_EQUAL}, {">=", 3, LAUNCH_OP_GREATER_EQUAL},
    {"<", 3, LAUNCH_OP_LESS},       {">", 3, LAUNCH_OP_GREATER},     {"+", 4, LAUNCH_OP_ADD},
    {"-", 4, LAUNCH_OP_SUBTRACT},   {"*", 5, LAUNCH_OP_MULTIPLY},    {"/", 5, LAUNCH_OP_DIVIDE},
    {"%", 5, LAUNCH_OP_REMAINDER},
};
enum { BINARY_LEVELS = 6, BINARIES = sizeof binaries / sizeof binaries[0] };

static int binary(struct parser *p, int level)
{
    if (level == BINARY_LEVELS)
        return unary(p);
    int left = binary(p, level + 1);
    for (int i = 0; i < BINARIES && !p->failed;) {
        if (binaries[i].level != level || !take(p, binaries[i].token)) {
            i++;
            continue;
        }
        int right = binary(p, level + 1);
        enum launch_operation operation = binaries[i].operation;
        bool compares = operation == LAUNCH_OP_EQUAL || operation == LAUNCH_OP_NOT_EQUAL;
        if (compares && is_text(p, left) != is_text(p, right))
            return fail(p, "a text is compared with a number");
        if (!compares && (is_text(p, left) || is_text(p, right)))
            return fail(p, "%s takes numbers, not texts", binaries[i].token);
        left = add(p, (struct launch_node){.operation = operation, .operand = {(int16_t)left, (int16_t)right}});
        i = 0;
    }
    return left;
}

static int expression(struct parser *p)
{
    if (p->depth >= LAUNCH_EXPRESSION_DEPTH_MOST)
        return fail(p, "it is nested too deeply");
    p->depth++;
    int node = binary(p, 0);
    if (take(p, "?")) {
        want_number(p, node, "?");
        int yes = expression(p);
        expect(p, ":");
        int no = expression(p);
        if (is_text(p, yes) != is_text(p, no))
            fail(p, "one side of ':' is a text, the other a number");
        node = add(p, (struct launch_node){.operation = LAUNCH_OP_CHOOSE,
                                           .is_text = is_text(p, yes),
                                           .operand = {(int16_t)node, (int16_t)yes, (int16_t)no}});
    }
    p->depth--;
    return node;
}

/* ---- the whole ---- */

int launch_expression_parse(const char *text, const struct launch_scope *scope, bool wants_text,
                            struct launch_node nodes[LAUNCH_EXPRESSION_NODES_MOST], size_t *count,
                            char error[LAUNCH_EXPRESSION_ERROR_BYTES])
{
    struct parser p = {.at = text, .scope = scope, .nodes = nodes, .error = error};
    int root = expression(&p);
    skip_space(&p);
    if (*p.at)
        fail(&p, "'%.20s' is not expected", p.at);
    if (!p.failed && is_text(&p, root) != wants_text)
        fail(&p,
             wants_text ? "it gives a number where a text is expected" : "it gives a text where a number is expected");
    *count = p.count;
    if (!p.failed)
        return root;
    for (size_t i = 0; i < p.count; i++)
        free(nodes[i].text);
    return -1;
}
