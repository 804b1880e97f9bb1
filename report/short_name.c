/* SPDX-License-Identifier: Apache-2.0 */
/* Works on the text that a demangler printed, not on a grammar of C++: a slice of text is split where brackets are closed,
 * and what fits no rule is copied as it is. */
#include "report/short_name.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/launch_format.h"
#include "report/mangled_name.h"
#include "report/safe_text.h"
#include "report/text_stream.h"

enum {
    DEEPEST = 24,        /* of nested template arguments, whatever a caller asks for */
    LONGEST = 16 * 1024, /* what is longer is copied, not looked through */
};

/* Tables of what people write for it. Paths are matched whole, without template arguments. */
/* clang-format off */
static const struct abbreviation {
    const char *type, *text;
} abbreviations[] = {
    {"c10::BFloat16", "bf16"},               {"__nv_bfloat16", "bf16"},
    {"cutlass::bfloat16_t", "bf16"},         {"c10::Half", "fp16"},
    {"__half", "fp16"},                      {"cutlass::half_t", "fp16"},
    {"float", "fp32"},                       {"double", "fp64"},
    {"cutlass::tfloat32_t", "tf32"},         {"c10::Float8_e4m3fn", "fp8_e4m3"},
    {"__nv_fp8_e4m3", "fp8_e4m3"},           {"cutlass::float_e4m3_t", "fp8_e4m3"},
    {"c10::Float8_e5m2", "fp8_e5m2"},        {"__nv_fp8_e5m2", "fp8_e5m2"},
    {"cutlass::float_e5m2_t", "fp8_e5m2"},   {"signed char", "int8"},
    {"unsigned char", "uint8"},              {"unsigned int", "uint"},
    {"unsigned long", "ulong"},              {"unsigned short", "ushort"},
};

/* Stand for their first template argument: what they add is the same wherever they are. */
static const char *const wrappers[] = {
    "at::native::gpu_kernel_impl_nocast", /* PyTorch: a loop around the functor */
    "at::native::gpu_kernel_impl",
    "cute::C",                            /* CUTLASS: an integer as a type */
};

/* Follow from what the kernel is, or say how many operands it has. */
static const char *const boring[] = {
    "std::array",                         /* PyTorch's pointers to operands */
    "TrivialOffsetCalculator", "OffsetCalculator",
    "at::native::memory::LoadWithoutCast", "at::native::memory::StoreWithoutCast",
};
/* clang-format on */

struct slice {
    const char *begin, *end;
};

struct writer {
    FILE *out;
    enum short_name_detail detail;
    int depth;   /* of nested arguments still to be written out */
    int unwraps; /* wrappers in wrappers still to be left out */
};

static size_t length_of(struct slice s)
{
    return (size_t)(s.end - s.begin);
}

static bool equals(struct slice s, const char *text)
{
    return length_of(s) == strlen(text) && !memcmp(s.begin, text, length_of(s));
}

static bool starts_with(struct slice s, const char *text)
{
    return length_of(s) >= strlen(text) && !memcmp(s.begin, text, strlen(text));
}

static bool ends_with(struct slice s, const char *text)
{
    return length_of(s) >= strlen(text) && !memcmp(s.end - strlen(text), text, strlen(text));
}

static struct slice trimmed(struct slice s)
{
    while (s.begin < s.end && *s.begin == ' ')
        s.begin++;
    while (s.begin < s.end && s.end[-1] == ' ')
        s.end--;
    return s;
}

static void write_slice(struct writer *writer, struct slice s)
{
    fwrite(s.begin, 1, length_of(s), writer->out);
}

/* ---- finding one's way ---- */

/* Behind a word that begins at P; behind the signs too where it is "operator". */
static const char *step_word(const char *p, const char *end)
{
    const char *begin = p;
    while (p < end && (isalnum((unsigned char)*p) || *p == '_'))
        p++;
    if (!equals((struct slice){begin, p}, "operator"))
        return p;
    if (end - p >= 2 && p[0] == '(' && p[1] == ')')
        return p + 2;
    while (p < end && strchr("<>=-!+*/%&|^~[],", *p))
        p++;
    return p;
}

/* Behind what begins at P: a word, a whole bracket, or one other character. */
static const char *step(const char *p, const char *end)
{
    static const char opening[] = "(<[{", closing[] = ")>]}";
    if (isalnum((unsigned char)*p) || *p == '_')
        return step_word(p, end);
    if (!strchr(opening, *p))
        return p + 1;
    size_t open = 0;
    for (; p < end; p++) {
        if (*p == '-' && p + 1 < end && p[1] == '>')
            p++;
        else if (strchr(opening, *p))
            open++;
        else if (strchr(closing, *p) && --open == 0)
            return p + 1;
    }
    return end;
}

/* The first WANTED outside all brackets; the end if there is none. */
static const char *find_outside(struct slice s, char wanted)
{
    for (const char *p = s.begin; p < s.end; p = step(p, s.end))
        if (*p == wanted)
            return p;
    return s.end;
}

static bool is_parameter_list(struct slice s, const char *p)
{
    return *p == '(' && p > s.begin && (isalnum((unsigned char)p[-1]) || strchr("_>)}", p[-1])) &&
           !starts_with((struct slice){p, s.end}, "(anonymous namespace)");
}

/* Where the parameters of the outermost function begin; the end if S is no function. */
static const char *find_parameters(struct slice s)
{
    for (const char *p = s.begin; p < s.end; p = step(p, s.end))
        if (is_parameter_list(s, p))
            return p;
    return s.end;
}

/* The part of a path that begins at S, up to "::", with its parameters and their " const". */
static struct slice first_part(struct slice s)
{
    const char *p = s.begin;
    while (p < s.end && !(p[0] == ':' && p + 1 < s.end && p[1] == ':'))
        p = step(p, s.end);
    return (struct slice){s.begin, p};
}

static struct slice after_part(struct slice s, struct slice part)
{
    return (struct slice){part.end + (part.end < s.end ? 2 : 0), s.end};
}

/* ---- writing ---- */

static void write_argument(struct writer *writer, struct slice s);

static bool in_table(struct slice path, const char *const *table, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (equals(path, table[i]))
            return true;
    return false;
}

#define IN_TABLE(path, table) in_table(path, table, sizeof table / sizeof table[0])

static struct slice inside_brackets(struct slice s)
{
    const char *open = find_outside(s, '<'), *end = open < s.end ? step(open, s.end) : s.end;
    return open < s.end && end - open >= 2 ? (struct slice){open + 1, end - 1} : (struct slice){s.end, s.end};
}

static struct slice before_brackets(struct slice s)
{
    return (struct slice){s.begin, find_outside(s, '<')};
}

static char *argument_text(struct writer *writer, struct slice s)
{
    char *text = NULL;
    size_t bytes = 0;
    struct writer inner = *writer;
    inner.out = text_stream_open(&text, &bytes);
    if (!inner.out)
        return allocate_text("...");
    write_argument(&inner, s);
    fclose(inner.out);
    return text;
}

struct list {
    char *last; /* written when the next one is known to be another */
    size_t times;
    bool any;
};

static void flush_list(struct writer *writer, struct list *list)
{
    enum { RUN = 3 }; /* from so many equal arguments on, one and their number */
    size_t written = list->times >= RUN ? 1 : list->times;
    for (size_t i = 0; i < written; i++) {
        fprintf(writer->out, "%s%s", list->any ? ", " : "", list->last);
        list->any = true;
    }
    if (list->times >= RUN)
        fprintf(writer->out, " x%zu", list->times);
    free(list->last);
    list->last = NULL;
    list->times = 0;
}

static void add_to_list(struct writer *writer, struct list *list, char *text)
{
    if (list->last && !strcmp(list->last, text)) {
        free(text);
    } else {
        flush_list(writer, list);
        list->last = text;
    }
    list->times++;
}

static bool is_literal(struct slice s)
{
    return isdigit((unsigned char)*s.begin) || *s.begin == '-' || equals(s, "true") || equals(s, "false");
}

/* What stands behind what is left out and is a mere number is left out as well. */
static bool is_boring(struct writer *writer, struct slice argument, bool after_boring)
{
    if (writer->detail == SHORT_NAME_COMPLETE)
        return false;
    return IN_TABLE(before_brackets(argument), boring) || (after_boring && is_literal(argument));
}

/* What is between the brackets of template arguments. */
static void write_arguments(struct writer *writer, struct slice s)
{
    struct list list = {0};
    bool left_out = false;
    while (s.begin < s.end) {
        const char *comma = find_outside(s, ',');
        struct slice argument = trimmed((struct slice){s.begin, comma});
        s.begin = comma < s.end ? comma + 1 : s.end;
        if (is_boring(writer, argument, left_out)) {
            if (!left_out)
                add_to_list(writer, &list, allocate_text("..."));
            left_out = true;
            continue;
        }
        add_to_list(writer, &list, argument_text(writer, argument));
    }
    flush_list(writer, &list);
}

/* A name with its template arguments, no path before it. */
static void write_name(struct writer *writer, struct slice s)
{
    struct slice arguments = inside_brackets(s);
    write_slice(writer, before_brackets(s));
    if (arguments.end == s.end)
        return;
    fputc('<', writer->out);
    if (writer->depth > 0) {
        writer->depth--;
        write_arguments(writer, arguments);
        writer->depth++;
    } else {
        fputs("...", writer->out);
    }
    fputc('>', writer->out);
}

/* "{lambda(c10::Half)#2}": its parameters; its number only where all is asked for. */
static void write_lambda(struct writer *writer, struct slice s, bool last)
{
    if (writer->depth <= 0)
        return;
    const char *open = find_outside((struct slice){s.begin + 1, s.end - 1}, '(');
    const char *close = open < s.end - 1 ? step(open, s.end - 1) : open;
    if (writer->detail == SHORT_NAME_COMPLETE)
        write_slice(writer, (struct slice){close, s.end - 1});
    if (last && close - open > 2) {
        fputc('(', writer->out);
        writer->depth--;
        write_arguments(writer, (struct slice){open + 1, close - 1});
        writer->depth++;
        fputc(')', writer->out);
    }
}

/* What is inside a function: of lambdas in lambdas the last one's parameters say what it works on. */
static void write_locals(struct writer *writer, struct slice s)
{
    while (s.begin < s.end) {
        struct slice part = first_part(s), rest = after_part(s, part);
        if (starts_with(part, "{lambda(") && ends_with(part, "}")) {
            write_lambda(writer, part, rest.begin >= rest.end);
        } else if (!starts_with(part, "operator")) {
            fputs("::", writer->out);
            write_name(writer, (struct slice){part.begin, find_parameters(part)});
        }
        s = rest;
    }
}

/* The last part of a path; from the first with template arguments on, if that comes before. */
static struct slice without_namespaces(struct slice s)
{
    for (;;) {
        struct slice part = first_part(s), rest = after_part(s, part);
        if (rest.begin >= rest.end || find_outside(part, '<') < part.end || starts_with(rest, "operator"))
            return s;
        s = rest;
    }
}

static void write_path(struct writer *writer, struct slice s)
{
    s = without_namespaces(s);
    for (bool first = true; s.begin < s.end; first = false) {
        struct slice part = first_part(s);
        s = after_part(s, part);
        if (!first && equals(part, "operator()"))
            continue;
        if (!first)
            fputs("::", writer->out);
        write_name(writer, part);
    }
}

/* Behind the return type, if there is one before P. */
static const char *behind_return_type(struct slice s, const char *p)
{
    const char *begin = s.begin;
    for (const char *q = s.begin; q < p; q = step(q, s.end))
        if (*q == ' ')
            begin = q + 1;
    return begin;
}

/* Writes the first template argument in place of a wrapper. False if NAME is none. */
static bool write_wrapped(struct writer *writer, struct slice name)
{
    if (writer->detail != SHORT_NAME_BRIEF || writer->unwraps <= 0 || !IN_TABLE(before_brackets(name), wrappers))
        return false;
    struct slice arguments = inside_brackets(name);
    writer->unwraps--;
    write_argument(writer, trimmed((struct slice){arguments.begin, find_outside(arguments, ',')}));
    writer->unwraps++;
    return true;
}

static void write_function(struct writer *writer, struct slice s)
{
    const char *parameters = find_parameters(s);
    struct slice name = {behind_return_type(s, parameters), parameters};
    if (write_wrapped(writer, name))
        return;
    write_path(writer, name);
    if (parameters < s.end) {
        struct slice behind = {step(parameters, s.end), s.end};
        struct slice qualifiers = first_part(behind);
        write_locals(writer, after_part(behind, qualifiers));
    }
}

/* Cuts "const", "*" and "&" off the end of *S and returns them. */
static struct slice cut_qualifiers(struct slice *s)
{
    struct slice qualifiers = {s->end, s->end};
    for (;;) {
        if (ends_with(*s, " const"))
            s->end -= strlen(" const");
        else if (ends_with(*s, "*") || ends_with(*s, "&"))
            s->end--;
        else
            break;
    }
    qualifiers.begin = s->end;
    return qualifiers;
}

static const char *abbreviation_of(struct slice type)
{
    for (size_t i = 0; i < sizeof abbreviations / sizeof abbreviations[0]; i++)
        if (equals(type, abbreviations[i].type))
            return abbreviations[i].text;
    return NULL;
}

/* "16u", "-1l": without the letters. */
static bool write_number(struct writer *writer, struct slice s)
{
    const char *p = s.begin + (s.begin < s.end && *s.begin == '-');
    const char *digits = p;
    while (p < s.end && isdigit((unsigned char)*p))
        p++;
    if (p == digits)
        return false;
    write_slice(writer, (struct slice){s.begin, p});
    while (p < s.end && (*p == 'u' || *p == 'l'))
        p++;
    write_slice(writer, (struct slice){p, s.end});
    return true;
}

/* "(ggml_type)12" is q4_K; what is no such type stays an enumerator. */
static bool write_ggml_type(struct writer *writer, struct slice s)
{
    static const char type[] = "(ggml_type)";
    const char *format =
        starts_with(s, type) ? launch_format_of_ggml(strtol(s.begin + sizeof type - 1, NULL, 10)) : NULL;
    if (format)
        fputs(format, writer->out);
    return format;
}

/* "(cutlass::ComplexTransform)0": an enumerator. */
static bool write_enumerator(struct writer *writer, struct slice s)
{
    if (!starts_with(s, "(") || starts_with(s, "(anonymous namespace)"))
        return false;
    const char *close = step(s.begin, s.end);
    fputc('(', writer->out);
    write_path(writer, (struct slice){s.begin + 1, close - 1});
    fputc(')', writer->out);
    write_slice(writer, (struct slice){close, s.end});
    return true;
}

static void write_type(struct writer *writer, struct slice s)
{
    struct slice qualifiers = cut_qualifiers(&s);
    const char *abbreviation = abbreviation_of(s);
    if (abbreviation)
        fputs(abbreviation, writer->out);
    else if (!write_wrapped(writer, s))
        write_path(writer, s);
    write_slice(writer, qualifiers);
}

static void write_argument(struct writer *writer, struct slice s)
{
    if (starts_with(s, "&(") && ends_with(s, ")")) /* the address of a function */
        s = (struct slice){s.begin + 2, s.end - 1};
    if (write_number(writer, s) || write_ggml_type(writer, s) || write_enumerator(writer, s))
        return;
    if (find_parameters(s) < s.end)
        write_function(writer, s);
    else
        write_type(writer, s);
}

char *short_name(const char *name, enum short_name_detail detail, int depth)
{
    char *text = NULL;
    size_t bytes = 0;
    if (mangled_name_is(name))
        return mangled_name_outline(name);
    struct slice whole = {name, name + strlen(name)};
    if (length_of(whole) > LONGEST || find_parameters(whole) == whole.end)
        return allocate_text(name); /* no C++ function: as it is */
    struct writer writer = {.detail = detail, .depth = depth < DEEPEST ? depth : DEEPEST, .unwraps = DEEPEST};
    writer.out = text_stream_open(&text, &bytes);
    if (!writer.out)
        return allocate_text(name);
    write_function(&writer, whole);
    fclose(writer.out);
    return text;
}

char *short_name_within(const char *name, size_t width)
{
    static const int depths[] = {DEEPEST, 4, 3, 2};
    char *to_cut = NULL;
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
        char *text = short_name(name, SHORT_NAME_BRIEF, depths[i]);
        size_t wanted = safe_text_width(text);
        if (wanted <= width) {
            free(to_cut);
            return text;
        }
        /* What loses only a third shows more that way than with its arguments left out. */
        if (to_cut && safe_text_width(to_cut) > width + width / 2) {
            free(to_cut);
            to_cut = NULL;
        }
        if (to_cut)
            free(text);
        else
            to_cut = text;
    }
    safe_text_cut_middle(to_cut, width);
    return to_cut;
}
