/* SPDX-License-Identifier: Apache-2.0 */
/* A mangled name (Itanium C++ ABI, https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling) as a tree in fixed memory:
 * mangled_parse.c grows it, by the words of mangled_words.c; mangled_print.c spells its nodes as binutils' c++filt does;
 * kernel_signature.c asks for both. */
#ifndef TRACE_MANGLED_TREE_H
#define TRACE_MANGLED_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MANGLED_NODES_MOST = 1536,
    MANGLED_SUBSTITUTIONS_MOST = 400,
    MANGLED_BYTES_MOST = 16384,
    MANGLED_DEPTH_MOST = 56, /* of types in types: what the recursion takes of the stack stays under 20 KiB */
};

enum mangled_kind {
    MANGLED_NAME = 1,    /* AT, LENGTH in the name */
    MANGLED_BUILTIN,     /* AT: number in mangled_builtin[] */
    MANGLED_OPERATOR,    /* AT: number in mangled_operator[] */
    MANGLED_CONVERSION,  /* "operator LEFT" */
    MANGLED_CONSTRUCTOR, /* of the class LEFT; FLAGS 1: its destructor */
    MANGLED_TAGGED,      /* LEFT with the ABI tag RIGHT */
    MANGLED_QUALIFIED,   /* LEFT::RIGHT */
    MANGLED_TEMPLATE,    /* LEFT with the arguments RIGHT, a list */
    MANGLED_LIST,        /* LEFT is its first, RIGHT the rest; 0: no more. An empty list is a LIST without LEFT */
    MANGLED_PACK,        /* LEFT: list of arguments */
    MANGLED_PARAMETER,   /* of a template: argument AT of the scope's */
    MANGLED_EXPANSION,   /* of the pack in LEFT */
    MANGLED_POINTER,
    MANGLED_REFERENCE,      /* FLAGS 1: && */
    MANGLED_QUALIFIER,      /* FLAGS: 'K', 'V', 'r' */
    MANGLED_ARRAY,          /* of LEFT; AT, LENGTH: dimension */
    MANGLED_FUNCTION,       /* LEFT: return type or 0, RIGHT: list of types; FLAGS as of nested names */
    MANGLED_MEMBER_POINTER, /* into class LEFT, of type RIGHT */
    MANGLED_LITERAL,        /* of type LEFT; AT, LENGTH: digits, FLAGS 1: negative */
    MANGLED_ENCODING,       /* the function LEFT of type RIGHT */
    MANGLED_LOCAL,          /* RIGHT in the function LEFT */
    MANGLED_LAMBDA,         /* LEFT: list of parameters, AT: its number */
    MANGLED_UNNAMED,        /* AT: its number */
    MANGLED_ADDRESS,        /* of LEFT */
    MANGLED_UNKNOWN,        /* stepped over */
};

enum { MANGLED_IS_CONST = 1, MANGLED_IS_VOLATILE = 2, MANGLED_IS_LVALUE = 4, MANGLED_IS_RVALUE = 8 };

struct mangled_node {
    uint8_t kind, flags;
    uint16_t left, right; /* 0: none */
    uint16_t at, length;
};

struct mangled_tree {
    const char *name;
    uint16_t root; /* an ENCODING */
    uint16_t node_count;
    struct mangled_node node[MANGLED_NODES_MOST]; /* from 1 */
};

struct mangled_builtin {
    const char *code, *spelling;
    const char *suffix; /* of its literals; NULL: they are spelled with a cast in front */
    uint8_t bytes;
};
extern const struct mangled_builtin mangled_builtin[];
extern const unsigned mangled_builtin_count;

struct mangled_operator {
    char code[3];
    uint8_t operands; /* in an expression; 0: not of that form */
    const char *spelling;
};
extern const struct mangled_operator mangled_operator[];
extern const unsigned mangled_operator_count;

/* False: not mangled, cut off, too large, or not understood. */
bool mangled_parse(const char *name, struct mangled_tree *tree);

/* What template parameters stand for. A back reference to one means that of the function it stands in now, which need not be
 * the one it was first met in: so they are looked up when they are spelled. */
struct mangled_scope {
    uint16_t arguments; /* list; 0: none */
    int element;        /* of packs, as in an expansion; MANGLED_NO_ELEMENT: not in one */
};
enum {
    MANGLED_NO_ELEMENT = -1,
    MANGLED_IN_LAMBDA = -2 /* without arguments: what is generic in its parameters is "auto" */
};

/* Past PARAMETERs: what stands there. */
uint16_t mangled_resolved(const struct mangled_tree *tree, uint16_t node, struct mangled_scope scope);
/* Elements of the packs in PATTERN; -1: there is none. */
int mangled_pack_count(const struct mangled_tree *tree, uint16_t pattern, struct mangled_scope scope);
/* NAME past namespaces, ABI tags and what it is local to. *ARGUMENTS: its own list, 0: none. */
uint16_t mangled_own_name(const struct mangled_tree *tree, uint16_t name, uint16_t *arguments);

/* Spells NODE into TEXT, terminated; the bytes without the terminator, or -1: it does not fit, or never ends. */
int mangled_print(const struct mangled_tree *tree, uint16_t node, struct mangled_scope scope, char *text, size_t room);

#endif
