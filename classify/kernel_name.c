/* SPDX-License-Identifier: Apache-2.0 */
/* Of the ABI's grammar no more is read than tells identifiers ("15rms_norm_kernel") from numbers that look like their
 * lengths: literals ("LNS_4KindE0E"), discriminators ("UlvE0_"), substitutions ("S1_"). A name that breaks the rules, or is
 * nested too deeply, gives other identifiers than it should, and nothing worse. */
#include "classify/kernel_name.h"

#include <ctype.h>
#include <string.h>

static bool is_letter(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$';
}

static bool is_word_char(char c)
{
    return is_letter(c) || isdigit((unsigned char)c);
}

/* ---- mangled ---- */

static char innermost(const struct kernel_name_walk *walk)
{
    return walk->depth && !walk->too_deep ? walk->open[walk->depth - 1] : '\0';
}

static void open_scope(struct kernel_name_walk *walk, char what)
{
    if (walk->depth < KERNEL_NAME_NESTING)
        walk->open[walk->depth++] = what;
    else
        walk->too_deep++;
}

/* In a literal, its type is over: its value follows, and the E that ends both. */
static void end_literal_type(struct kernel_name_walk *walk)
{
    if (innermost(walk) != 'L')
        return;
    walk->p += strspn(walk->p, "n0123456789abcdef");
    if (*walk->p == 'E') {
        walk->p++;
        walk->depth--;
    }
}

static void close_scope(struct kernel_name_walk *walk)
{
    if (walk->too_deep) {
        walk->too_deep--;
        return;
    }
    if (!walk->depth)
        return;
    char closed = walk->open[--walk->depth];
    if (closed == 'U') { /* a lambda's number */
        walk->p += strspn(walk->p, "0123456789");
        walk->p += *walk->p == '_';
    }
    end_literal_type(walk);
}

/* A length and its letters; what is cut off in the middle is still an identifier. */
static bool read_identifier(struct kernel_name_walk *walk, struct kernel_word *word)
{
    size_t length = 0;
    const char *p = walk->p;
    for (; isdigit((unsigned char)*p) && length < 1000000; p++)
        length = length * 10 + (size_t)(*p - '0');
    if (!length || !is_letter(*p)) {
        walk->p = p + strspn(p, "0123456789");
        return false;
    }
    *word = (struct kernel_word){p, strnlen(p, length)};
    walk->p = p + word->bytes;
    return true;
}

static void skip_number_and_underscore(struct kernel_name_walk *walk)
{
    walk->p += strspn(walk->p, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    walk->p += *walk->p == '_';
}

static void skip_literal_or_linkage(struct kernel_name_walk *walk)
{
    char around = innermost(walk);
    walk->p++;
    if (around != 'I' && around != 'J' && around != 'X')
        return; /* in front of a name: it is not visible elsewhere */
    if (*walk->p == '_' && walk->p[1] == 'Z') {
        walk->p += 2;
        open_scope(walk, 'Z');
        return;
    }
    open_scope(walk, 'L');
    if (*walk->p == 'D' && walk->p[1])
        walk->p += 2;
    else if (islower((unsigned char)*walk->p))
        walk->p++;
    else
        return; /* a type with a name */
    end_literal_type(walk);
}

static void skip_type_of_two_letters(struct kernel_name_walk *walk)
{
    char second = walk->p[1];
    walk->p += second ? 2 : 1;
    if (second == 'T' || second == 't')
        open_scope(walk, 'X');
    else if (second == 'v' || second == 'F') {
        walk->p += strspn(walk->p, "0123456789");
        walk->p += *walk->p == '_' || *walk->p == 'b' || *walk->p == 'x';
    }
}

/* One element of the grammar that is no identifier. */
static void skip_element(struct kernel_name_walk *walk)
{
    char c = *walk->p, next = walk->p[1];
    if (strchr("NIJXFZ", c)) {
        walk->p++;
        open_scope(walk, c);
    } else if (c == 'E') {
        walk->p++;
        close_scope(walk);
    } else if (c == 'L') {
        skip_literal_or_linkage(walk);
    } else if (c == 'S' && next && strchr("tabsiod", next)) {
        walk->p += 2;
    } else if (c == 'S' || c == 'T') {
        walk->p++;
        skip_number_and_underscore(walk);
        end_literal_type(walk);
    } else if (c == 'U' && next == 'l') {
        walk->p += 2;
        open_scope(walk, 'U');
    } else if (c == 'U' && next == 't') {
        walk->p += 2;
        skip_number_and_underscore(walk);
    } else if (c == 'D') {
        skip_type_of_two_letters(walk);
    } else if (c == 'A' || (c == '_' && isdigit((unsigned char)next))) {
        walk->p += c == 'A' ? 1 + strspn(walk->p + 1, "0123456789") : 2;
        walk->p += c == 'A' && *walk->p == '_';
    } else {
        walk->p++;
    }
}

static bool next_mangled(struct kernel_name_walk *walk, struct kernel_word *word)
{
    while (*walk->p && *walk->p != '.') {
        if (!isdigit((unsigned char)*walk->p)) {
            skip_element(walk);
        } else if (read_identifier(walk, word)) {
            end_literal_type(walk);
            return true;
        }
    }
    return false;
}

/* The last identifier of the name in front of the template arguments and parameters. */
static struct kernel_word function_of_mangled(const char *name)
{
    struct kernel_word function = {name, strlen(name)}, word;
    struct kernel_name_walk walk;
    kernel_name_walk_begin(&walk, name);
    walk.p += strspn(walk.p, "Z"); /* local to another function */
    bool nested = *walk.p == 'N';
    while (*walk.p && *walk.p != '.') {
        if (!isdigit((unsigned char)*walk.p)) {
            if (*walk.p == 'E' && walk.depth == 1 && nested)
                break;
            skip_element(&walk);
        } else if (read_identifier(&walk, &word)) {
            if (walk.depth == (nested ? 1 : 0))
                function = word;
            if (!nested)
                break;
            end_literal_type(&walk);
        }
    }
    return function;
}

/* ---- demangled ---- */

static bool is_demangled(const char *name)
{
    return strpbrk(name, "<(") || strstr(name, "::");
}

static size_t word_bytes(const char *p)
{
    size_t bytes = 0;
    while (is_word_char(p[bytes]))
        bytes++;
    return bytes;
}

static bool next_demangled(struct kernel_name_walk *walk, struct kernel_word *word)
{
    while (*walk->p) {
        size_t bytes = word_bytes(walk->p);
        *word = (struct kernel_word){walk->p, bytes};
        walk->p += bytes ? bytes : 1;
        if (bytes && is_letter(*word->begin))
            return true;
    }
    return false;
}

/* "void ns::(anonymous namespace)::f<int>(int)": the last identifier outside of all brackets, before the parameters. */
static struct kernel_word function_of_demangled(const char *name)
{
    static const char anonymous[] = "(anonymous namespace)";
    struct kernel_word function = {name, strlen(name)};
    size_t depth = 0;
    for (const char *p = name; *p;) {
        size_t bytes = word_bytes(p);
        if (bytes && is_letter(*p) && !depth)
            function = (struct kernel_word){p, bytes};
        if (!strncmp(p, anonymous, sizeof anonymous - 1))
            bytes = sizeof anonymous - 1;
        else if (*p == '(' && !depth)
            break;
        else if (strchr("<({[", *p))
            depth++;
        else if (strchr(">)}]", *p) && depth && !(p > name && p[-1] == '-'))
            depth--;
        p += bytes ? bytes : 1;
    }
    return function;
}

/* ---- either ---- */

static bool is_mangled(const char *name)
{
    return name[0] == '_' && name[1] == 'Z';
}

struct kernel_word kernel_name_function(const char *name)
{
    if (is_mangled(name))
        return function_of_mangled(name);
    return is_demangled(name) ? function_of_demangled(name) : (struct kernel_word){name, strlen(name)};
}

void kernel_name_walk_begin(struct kernel_name_walk *walk, const char *name)
{
    walk->form = is_mangled(name)     ? KERNEL_NAME_MANGLED
                 : is_demangled(name) ? KERNEL_NAME_DEMANGLED
                                      : KERNEL_NAME_PLAIN;
    walk->p = walk->form == KERNEL_NAME_MANGLED ? name + 2 : name;
    walk->depth = walk->too_deep = 0;
}

bool kernel_name_walk_next(struct kernel_name_walk *walk, struct kernel_word *word)
{
    if (walk->form == KERNEL_NAME_MANGLED)
        return next_mangled(walk, word);
    if (walk->form == KERNEL_NAME_DEMANGLED)
        return next_demangled(walk, word);
    *word = (struct kernel_word){walk->p, strlen(walk->p)};
    walk->p += word->bytes;
    return word->bytes > 0;
}

/* ---- matching ---- */

static bool is_boundary(struct kernel_word word, size_t i)
{
    if (i == 0 || i == word.bytes)
        return true;
    unsigned char before = (unsigned char)word.begin[i - 1], here = (unsigned char)word.begin[i];
    if (!isalnum(before) || !isalnum(here))
        return true;
    if (!isdigit(before) != !isdigit(here))
        return true;
    if (!isupper(here))
        return false;
    /* "RMSNorm": a capital begins a word after a small letter, and before one. */
    return islower(before) || (i + 1 < word.bytes && islower((unsigned char)word.begin[i + 1]));
}

bool kernel_word_matches(struct kernel_word word, const char *pattern)
{
    const char *star = NULL; /* the last one seen, and where the letters after it were tried last */
    size_t i = 0, tried = 0;
    for (;;) {
        if (*pattern == '*') {
            star = ++pattern;
            tried = i;
        } else if (*pattern == '|' && is_boundary(word, i)) {
            pattern++;
            while (i < word.bytes && word.begin[i] == '_')
                i++;
        } else if (!*pattern && i == word.bytes) {
            return true;
        } else if (*pattern && *pattern != '|' && i < word.bytes &&
                   tolower((unsigned char)*pattern) == tolower((unsigned char)word.begin[i])) {
            pattern++;
            i++;
        } else if (star && tried < word.bytes) {
            pattern = star;
            i = ++tried;
        } else {
            return false;
        }
    }
}
