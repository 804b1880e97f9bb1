/* SPDX-License-Identifier: Apache-2.0 */
/* A declarator stands on both sides of a name ("void (*)(int)"), so each type is spelled in a left and a right half. Types
 * are shared in the tree and packs expand, so what is spelled can be far larger than the tree, and a template parameter may
 * stand in the argument that it stands for, so that it never ends: the room for it and the steps taken are bounded. */
#include "trace/mangled_tree.h"

#include <string.h>

enum { STEPS_MOST = 40000, PRINT_DEPTH_MOST = 4 * MANGLED_DEPTH_MOST };

struct printer {
    const struct mangled_tree *tree;
    char *text;
    size_t at, room;
    struct mangled_scope scope;
    unsigned steps, depth;
    bool failed;
};

static void print_left(struct printer *printer, uint16_t node);
static void print_right(struct printer *printer, uint16_t node);
static void print_whole(struct printer *printer, uint16_t node);

/* ---- what stands in the tree ---- */

static const struct mangled_node *node_of(const struct printer *printer, uint16_t node)
{
    return &printer->tree->node[node];
}

/* Item NUMBER of LIST; 0: there is none. */
static uint16_t list_item(const struct mangled_tree *tree, uint16_t list, int number)
{
    while (number-- > 0 && list)
        list = tree->node[list].right;
    return list ? tree->node[list].left : 0;
}

uint16_t mangled_resolved(const struct mangled_tree *tree, uint16_t node, struct mangled_scope scope)
{
    for (unsigned steps = 0; tree->node[node].kind == MANGLED_PARAMETER; steps++) {
        uint16_t argument = list_item(tree, scope.arguments, tree->node[node].at);
        if (!argument || steps == MANGLED_DEPTH_MOST)
            return node;
        node = argument;
        if (tree->node[node].kind == MANGLED_PACK && scope.element >= 0)
            node = list_item(tree, tree->node[node].left, scope.element);
    }
    return node;
}

static int count_items(const struct mangled_tree *tree, uint16_t list)
{
    int count = 0;
    for (; list && tree->node[list].left; list = tree->node[list].right)
        count++;
    return count;
}

static int pack_count(const struct mangled_tree *tree, uint16_t pattern, struct mangled_scope scope, unsigned depth,
                      unsigned *steps)
{
    const struct mangled_node *node = &tree->node[pattern];
    if (!pattern || depth == PRINT_DEPTH_MOST || ++*steps > MANGLED_NODES_MOST)
        return -1;
    if (node->kind == MANGLED_PARAMETER) {
        uint16_t pack = list_item(tree, scope.arguments, node->at);
        return tree->node[pack].kind == MANGLED_PACK ? count_items(tree, tree->node[pack].left) : -1;
    }
    if (node->kind == MANGLED_PACK || node->kind == MANGLED_EXPANSION)
        return -1;
    int count = pack_count(tree, node->left, scope, depth + 1, steps);
    return count >= 0 ? count : pack_count(tree, node->right, scope, depth + 1, steps);
}

int mangled_pack_count(const struct mangled_tree *tree, uint16_t pattern, struct mangled_scope scope)
{
    unsigned steps = 0;
    scope.element = MANGLED_NO_ELEMENT;
    return pack_count(tree, pattern, scope, 0, &steps);
}

uint16_t mangled_own_name(const struct mangled_tree *tree, uint16_t name, uint16_t *arguments)
{
    *arguments = 0;
    for (bool inmost = true;; inmost = false) {
        const struct mangled_node *node = &tree->node[name];
        if (node->kind == MANGLED_TEMPLATE) {
            *arguments = inmost ? node->right : *arguments;
            name = node->left;
        } else if (node->kind == MANGLED_LOCAL) {
            name = node->right;
            inmost = true;
            continue;
        } else if (node->kind == MANGLED_QUALIFIED) {
            name = node->right;
        } else if (node->kind == MANGLED_TAGGED) {
            name = node->left;
        } else {
            return name;
        }
    }
}

/* ---- text ---- */

static void put(struct printer *printer, const char *text, size_t bytes)
{
    if (printer->failed || bytes >= printer->room - printer->at) {
        printer->failed = true;
        return;
    }
    memcpy(printer->text + printer->at, text, bytes);
    printer->at += bytes;
}

static void put_text(struct printer *printer, const char *text)
{
    put(printer, text, strlen(text));
}

static char last_char(const struct printer *printer)
{
    return printer->at ? printer->text[printer->at - 1] : '\0';
}

static void put_number(struct printer *printer, unsigned number)
{
    char digits[12];
    unsigned at = sizeof digits;
    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    put(printer, digits + at, sizeof digits - at);
}

static void put_span(struct printer *printer, const struct mangled_node *node)
{
    put(printer, printer->tree->name + node->at, node->length);
}

/* "_GLOBAL__N__..." and the file's name behind it */
static void put_name(struct printer *printer, const struct mangled_node *node)
{
    const char *text = printer->tree->name + node->at;
    if (node->length >= 10 && !memcmp(text, "_GLOBAL_", 8) && strchr("._$", text[8]) && text[9] == 'N')
        put_text(printer, "(anonymous namespace)");
    else
        put_span(printer, node);
}

/* Commas stand only between what was spelled: a pack may be empty. */
static void print_list(struct printer *printer, uint16_t list)
{
    bool any = false;
    for (; list && node_of(printer, list)->left && !printer->failed; list = node_of(printer, list)->right) {
        size_t before = printer->at;
        if (any)
            put_text(printer, ", ");
        size_t begin = printer->at;
        print_whole(printer, node_of(printer, list)->left);
        if (printer->at == begin)
            printer->at = before;
        else
            any = true;
    }
}

static void print_expansion(struct printer *printer, uint16_t pattern)
{
    const struct mangled_scope around = printer->scope;
    int count = mangled_pack_count(printer->tree, pattern, around);
    if (count < 0) {
        print_whole(printer, pattern);
        put_text(printer, "...");
    }
    for (int i = 0; i < count && !printer->failed; i++) {
        if (i)
            put_text(printer, ", ");
        printer->scope.element = i;
        print_whole(printer, pattern);
    }
    printer->scope = around;
}

/* ---- names and values ---- */

static void print_arguments(struct printer *printer, uint16_t list)
{
    if (last_char(printer) == '<')
        put_text(printer, " ");
    put_text(printer, "<");
    print_list(printer, list);
    put_text(printer, last_char(printer) == '>' ? " >" : ">");
}

static bool is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

static void print_operator(struct printer *printer, unsigned number)
{
    put_text(printer, "operator");
    if (is_letter(mangled_operator[number].spelling[0]))
        put_text(printer, " ");
    put_text(printer, mangled_operator[number].spelling);
    if (last_char(printer) == ' ')
        printer->at--;
}

/* The class's own name without what is around it. */
static void print_constructor(struct printer *printer, const struct mangled_node *node)
{
    uint16_t class = node->left;
    while (node_of(printer, class)->kind == MANGLED_QUALIFIED || node_of(printer, class)->kind == MANGLED_TEMPLATE ||
           node_of(printer, class)->kind == MANGLED_TAGGED)
        class = node_of(printer, class)->kind == MANGLED_QUALIFIED ? node_of(printer, class)->right
                                                                   : node_of(printer, class)->left;
    put_text(printer, node->flags ? "~" : "");
    print_whole(printer, class);
}

static void print_literal(struct printer *printer, const struct mangled_node *node)
{
    const struct mangled_node *type = node_of(printer, mangled_resolved(printer->tree, node->left, printer->scope));
    const char *digits = printer->tree->name + node->at;
    const struct mangled_builtin *builtin = type->kind == MANGLED_BUILTIN ? &mangled_builtin[type->at] : NULL;
    if (builtin && builtin->code[0] == 'b' && node->length == 1 && (*digits == '0' || *digits == '1')) {
        put_text(printer, *digits == '1' ? "true" : "false");
        return;
    }
    bool is_float = builtin && strchr("fdeg", builtin->code[0]);
    if (!builtin || !builtin->suffix) {
        put_text(printer, "(");
        print_whole(printer, node->left);
        put_text(printer, ")");
    }
    put_text(printer, node->flags ? "-" : "");
    put_text(printer, is_float ? "[" : "");
    put_span(printer, node);
    put_text(printer, is_float ? "]" : builtin && builtin->suffix ? builtin->suffix : "");
}

/* Parameters of the function NAME are looked up in its own arguments. Returns the scope around it. */
static struct mangled_scope enter_function(struct printer *printer, uint16_t name)
{
    const struct mangled_scope around = printer->scope;
    uint16_t arguments;
    mangled_own_name(printer->tree, name, &arguments);
    if (arguments)
        printer->scope = (struct mangled_scope){arguments, MANGLED_NO_ELEMENT};
    return around;
}

static void print_encoding(struct printer *printer, const struct mangled_node *node)
{
    const struct mangled_node *function = node_of(printer, node->right);
    const struct mangled_scope around = enter_function(printer, node->left);
    if (function->left) {
        print_left(printer, function->left);
        put_text(printer, " ");
    }
    print_whole(printer, node->left);
    print_right(printer, node->right);
    if (function->left)
        print_right(printer, function->left);
    printer->scope = around;
}

/* A function as what it is in: without its return type. */
static void print_local(struct printer *printer, const struct mangled_node *node)
{
    const struct mangled_node *function = node_of(printer, node->left);
    const struct mangled_scope around = printer->scope;
    if (function->kind == MANGLED_ENCODING) {
        enter_function(printer, function->left);
        print_whole(printer, function->left);
        print_right(printer, function->right);
    } else {
        print_whole(printer, node->left);
    }
    put_text(printer, "::");
    printer->scope = around;
    print_whole(printer, node->right);
}

static void print_address(struct printer *printer, uint16_t operand)
{
    const struct mangled_node *node = node_of(printer, operand);
    put_text(printer, "&");
    if (node->kind == MANGLED_ENCODING && node_of(printer, node->left)->kind == MANGLED_QUALIFIED)
        operand = node->left;
    bool simple =
        node_of(printer, operand)->kind == MANGLED_NAME || node_of(printer, operand)->kind == MANGLED_QUALIFIED;
    put_text(printer, simple ? "" : "(");
    print_whole(printer, operand);
    put_text(printer, simple ? "" : ")");
}

static void print_lambda(struct printer *printer, const struct mangled_node *node)
{
    const struct mangled_scope around = printer->scope;
    put_text(printer, "{lambda(");
    printer->scope = (struct mangled_scope){0, MANGLED_IN_LAMBDA};
    print_list(printer, node->left);
    printer->scope = around;
    put_text(printer, ")#");
    put_number(printer, node->at);
    put_text(printer, "}");
}

static void print_parameter(struct printer *printer, const struct mangled_node *node)
{
    bool in_lambda = printer->scope.element == MANGLED_IN_LAMBDA;
    put_text(printer, in_lambda ? "auto:" : "?");
    if (in_lambda)
        put_number(printer, node->at + 1u);
}

/* ---- types ---- */

static bool take_step(struct printer *printer)
{
    if (++printer->steps > STEPS_MOST)
        printer->failed = true;
    return !printer->failed;
}

static bool is_qualified_already(struct printer *printer, uint16_t inside, uint8_t qualifier)
{
    inside = mangled_resolved(printer->tree, inside, printer->scope);
    for (; node_of(printer, inside)->kind == MANGLED_QUALIFIER && take_step(printer);
         inside = mangled_resolved(printer->tree, node_of(printer, inside)->left, printer->scope))
        if (node_of(printer, inside)->flags == qualifier)
            return true;
    return false;
}

static bool is_declarator(struct printer *printer, uint16_t node)
{
    node = mangled_resolved(printer->tree, node, printer->scope);
    while (node_of(printer, node)->kind == MANGLED_QUALIFIER && take_step(printer))
        node = mangled_resolved(printer->tree, node_of(printer, node)->left, printer->scope);
    return node_of(printer, node)->kind == MANGLED_FUNCTION || node_of(printer, node)->kind == MANGLED_ARRAY;
}

/* A reference to a reference is one. *INSIDE: to what; returns whether it is && */
static bool collapse_reference(struct printer *printer, const struct mangled_node *node, uint16_t *inside)
{
    bool rvalue = node->flags;
    *inside = mangled_resolved(printer->tree, node->left, printer->scope);
    while (node_of(printer, *inside)->kind == MANGLED_REFERENCE && take_step(printer)) {
        rvalue = rvalue && node_of(printer, *inside)->flags;
        *inside = mangled_resolved(printer->tree, node_of(printer, *inside)->left, printer->scope);
    }
    return rvalue;
}

/* PARENTHESIS in front of what points to a function or an array, which stands to its right. */
static void open_declarator(struct printer *printer, uint16_t inside)
{
    print_left(printer, inside);
    if (is_declarator(printer, inside))
        put_text(printer, last_char(printer) == ' ' ? "(" : " (");
}

static void print_type_left(struct printer *printer, const struct mangled_node *node)
{
    uint16_t inside;
    bool rvalue;
    switch (node->kind) {
    case MANGLED_POINTER:
        open_declarator(printer, node->left);
        put_text(printer, "*");
        break;
    case MANGLED_REFERENCE:
        rvalue = collapse_reference(printer, node, &inside);
        open_declarator(printer, inside);
        put_text(printer, rvalue ? "&&" : "&");
        break;
    case MANGLED_MEMBER_POINTER:
        open_declarator(printer, node->right);
        put_text(printer, is_declarator(printer, node->right) ? "" : " ");
        print_whole(printer, node->left);
        put_text(printer, "::*");
        break;
    case MANGLED_QUALIFIER:
        print_left(printer, node->left);
        if (!is_qualified_already(printer, node->left, node->flags))
            put_text(printer, node->flags == 'K' ? " const" : node->flags == 'V' ? " volatile" : " __restrict");
        break;
    case MANGLED_ARRAY:
        print_left(printer, node->left);
        break;
    case MANGLED_FUNCTION:
        if (node->left) {
            print_left(printer, node->left);
            put_text(printer, " ");
        }
        break;
    default:
        break;
    }
}

static void print_function_right(struct printer *printer, const struct mangled_node *node)
{
    put_text(printer, "(");
    print_list(printer, node->right);
    put_text(printer, ")");
    put_text(printer, node->flags & MANGLED_IS_CONST ? " const" : "");
    put_text(printer, node->flags & MANGLED_IS_VOLATILE ? " volatile" : "");
    put_text(printer, node->flags & MANGLED_IS_LVALUE ? " &" : node->flags & MANGLED_IS_RVALUE ? " &&" : "");
}

static void close_declarator(struct printer *printer, uint16_t inside)
{
    put_text(printer, is_declarator(printer, inside) ? ")" : "");
    print_right(printer, inside);
}

static bool enter(struct printer *printer)
{
    if (printer->depth >= PRINT_DEPTH_MOST)
        printer->failed = true;
    return take_step(printer);
}

static void print_right(struct printer *printer, uint16_t number)
{
    number = mangled_resolved(printer->tree, number, printer->scope);
    const struct mangled_node *node = node_of(printer, number);
    uint16_t inside;
    if (!number || !enter(printer))
        return;
    printer->depth++;
    switch (node->kind) {
    case MANGLED_POINTER:
        close_declarator(printer, node->left);
        break;
    case MANGLED_MEMBER_POINTER:
        close_declarator(printer, node->right);
        break;
    case MANGLED_REFERENCE:
        collapse_reference(printer, node, &inside);
        close_declarator(printer, inside);
        break;
    case MANGLED_QUALIFIER:
        print_right(printer, node->left);
        break;
    case MANGLED_ARRAY:
        put_text(printer, last_char(printer) == ']' ? "[" : " [");
        put_span(printer, node);
        put_text(printer, node->flags ? "?]" : "]");
        print_right(printer, node->left);
        break;
    case MANGLED_FUNCTION:
        print_function_right(printer, node);
        if (node->left)
            print_right(printer, node->left);
        break;
    default:
        break;
    }
    printer->depth--;
}

static void print_node(struct printer *printer, const struct mangled_node *node)
{
    switch (node->kind) {
    case MANGLED_NAME:
        put_name(printer, node);
        break;
    case MANGLED_BUILTIN:
        put_text(printer, mangled_builtin[node->at].spelling);
        break;
    case MANGLED_OPERATOR:
        print_operator(printer, node->at);
        break;
    case MANGLED_CONVERSION:
        put_text(printer, "operator ");
        print_whole(printer, node->left);
        break;
    case MANGLED_CONSTRUCTOR:
        print_constructor(printer, node);
        break;
    case MANGLED_TAGGED:
        print_whole(printer, node->left);
        put_text(printer, "[abi:");
        print_whole(printer, node->right);
        put_text(printer, "]");
        break;
    case MANGLED_QUALIFIED:
        print_whole(printer, node->left);
        put_text(printer, "::");
        print_whole(printer, node->right);
        break;
    case MANGLED_TEMPLATE:
        print_whole(printer, node->left);
        print_arguments(printer, node->right);
        break;
    case MANGLED_LIST:
        break;
    case MANGLED_PACK:
        print_list(printer, node->left);
        break;
    case MANGLED_PARAMETER:
        print_parameter(printer, node);
        break;
    case MANGLED_EXPANSION:
        print_expansion(printer, node->left);
        break;
    case MANGLED_LITERAL:
        print_literal(printer, node);
        break;
    case MANGLED_ENCODING:
        print_encoding(printer, node);
        break;
    case MANGLED_LOCAL:
        print_local(printer, node);
        break;
    case MANGLED_LAMBDA:
        print_lambda(printer, node);
        break;
    case MANGLED_UNNAMED:
        put_text(printer, "{unnamed type#");
        put_number(printer, node->at);
        put_text(printer, "}");
        break;
    case MANGLED_ADDRESS:
        print_address(printer, node->left);
        break;
    case MANGLED_UNKNOWN:
        put_text(printer, "?");
        break;
    default:
        print_type_left(printer, node);
        break;
    }
}

static void print_left(struct printer *printer, uint16_t number)
{
    number = mangled_resolved(printer->tree, number, printer->scope);
    if (!number || !enter(printer))
        return;
    printer->depth++;
    print_node(printer, node_of(printer, number));
    printer->depth--;
}

static void print_whole(struct printer *printer, uint16_t node)
{
    print_left(printer, node);
    print_right(printer, node);
}

int mangled_print(const struct mangled_tree *tree, uint16_t node, struct mangled_scope scope, char *text, size_t room)
{
    struct printer printer = {.tree = tree, .text = text, .room = room, .scope = scope};
    if (!room)
        return -1;
    print_whole(&printer, node);
    if (printer.failed)
        return -1;
    text[printer.at] = '\0';
    return (int)printer.at;
}
