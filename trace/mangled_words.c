/* SPDX-License-Identifier: Apache-2.0 */
/* The words of mangled names, as the ABI has them: built-in types with their sizes, short forms of names, operators. Each is looked
 * up by the first of its kind that stands at a place, so no code may begin with one that stands above it. */
#include "trace/mangled_tree.h"

#include <stddef.h>

/* clang-format off */
const struct mangled_builtin mangled_builtin[] = {
    {"v", "void", NULL, 0},
    {"b", "bool", NULL, 1},
    {"c", "char", NULL, 1},
    {"a", "signed char", NULL, 1},
    {"h", "unsigned char", NULL, 1},
    {"s", "short", NULL, 2},
    {"t", "unsigned short", NULL, 2},
    {"i", "int", "", 4},
    {"j", "unsigned int", "u", 4},
    {"l", "long", "l", 8},
    {"m", "unsigned long", "ul", 8},
    {"x", "long long", "ll", 8},
    {"y", "unsigned long long", "ull", 8},
    {"n", "__int128", NULL, 16},
    {"o", "unsigned __int128", NULL, 16},
    {"w", "wchar_t", NULL, 4},
    {"f", "float", NULL, 4},
    {"d", "double", NULL, 8},
    {"e", "long double", NULL, 0}, /* differs between the machines */
    {"g", "__float128", NULL, 16},
    {"z", "...", NULL, 0},
    {"Da", "auto", NULL, 0},
    {"Dc", "decltype(auto)", NULL, 0},
    {"Dn", "decltype(nullptr)", NULL, 8},
    {"Di", "char32_t", NULL, 4},
    {"Ds", "char16_t", NULL, 2},
    {"Du", "char8_t", NULL, 1},
    {"Dh", "half", NULL, 2},
    {"Df", "decimal32", NULL, 4},
    {"Dd", "decimal64", NULL, 8},
    {"De", "decimal128", NULL, 16},
    {"DF16_", "_Float16", NULL, 2},
    {"DF32_", "_Float32", NULL, 4},
    {"DF64_", "_Float64", NULL, 8},
    {"DF16b", "std::bfloat16_t", NULL, 2},
    /* Names the ABI has short forms of. They take no part in substitutions either. */
    {"St", "std", NULL, 0},
    {"Sa", "std::allocator", NULL, 0},
    {"Sb", "std::basic_string", NULL, 0},
    {"Ss", "std::basic_string<char, std::char_traits<char>, std::allocator<char> >", NULL, 0},
    {"Si", "std::basic_istream<char, std::char_traits<char> >", NULL, 0},
    {"So", "std::basic_ostream<char, std::char_traits<char> >", NULL, 0},
    {"Sd", "std::basic_iostream<char, std::char_traits<char> >", NULL, 0},
};
const unsigned mangled_builtin_count = sizeof mangled_builtin / sizeof *mangled_builtin;

const struct mangled_operator mangled_operator[] = {
    {"nw", 0, "new"}, {"na", 0, "new[]"}, {"dl", 1, "delete"}, {"da", 1, "delete[]"},
    {"aw", 1, "co_await "}, {"ps", 1, "+"}, {"ng", 1, "-"}, {"ad", 1, "&"}, {"de", 1, "*"}, {"co", 1, "~"}, {"nt", 1, "!"},
    {"pp", 1, "++"}, {"mm", 1, "--"},
    {"pl", 2, "+"}, {"mi", 2, "-"}, {"ml", 2, "*"}, {"dv", 2, "/"}, {"rm", 2, "%"}, {"an", 2, "&"}, {"or", 2, "|"},
    {"eo", 2, "^"}, {"aS", 2, "="}, {"pL", 2, "+="}, {"mI", 2, "-="}, {"mL", 2, "*="}, {"dV", 2, "/="}, {"rM", 2, "%="},
    {"aN", 2, "&="}, {"oR", 2, "|="}, {"eO", 2, "^="}, {"ls", 2, "<<"}, {"rs", 2, ">>"}, {"lS", 2, "<<="}, {"rS", 2, ">>="},
    {"eq", 2, "=="}, {"ne", 2, "!="}, {"lt", 2, "<"}, {"gt", 2, ">"}, {"le", 2, "<="}, {"ge", 2, ">="}, {"ss", 2, "<=>"},
    {"aa", 2, "&&"}, {"oo", 2, "||"}, {"cm", 2, ","}, {"pm", 2, "->*"}, {"ix", 2, "[]"}, {"qu", 3, "?"},
    {"pt", 0, "->"}, {"cl", 0, "()"},
};
/* clang-format on */
const unsigned mangled_operator_count = sizeof mangled_operator / sizeof *mangled_operator;
