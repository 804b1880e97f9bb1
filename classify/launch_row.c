/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever is no member of a row, or no role of its kind, is refused: a mistyped role would just never be read. */
#include "classify/launch_row.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/gpu_specs.h"
#include "classify/launch_format.h"

#define MATMUL    (1u << LAUNCH_MATMUL)
#define ATTENTION (1u << LAUNCH_ATTENTION)
#define ONE       LAUNCH_ROLE_COUNT
#define SIZE_MOST INT32_MAX

/* clang-format off */
const struct launch_role_row launch_roles[LAUNCH_ROLE_COUNT] = {
    /*                               name               type                    kinds      needed least most       fallback                   value */
    [LAUNCH_ROLE_M]              = {"m",              LAUNCH_ROLE_SIZE,      MATMUL,    true,  1,    SIZE_MOST, ONE,                       0},
    [LAUNCH_ROLE_N]              = {"n",              LAUNCH_ROLE_SIZE,      MATMUL,    true,  1,    SIZE_MOST, ONE,                       0},
    [LAUNCH_ROLE_K]              = {"k",              LAUNCH_ROLE_SIZE,      MATMUL,    true,  1,    SIZE_MOST, ONE,                       0},
    [LAUNCH_ROLE_BATCH]          = {"batch",          LAUNCH_ROLE_SIZE,      MATMUL,    false, 1,    SIZE_MOST, ONE,                       1},
    [LAUNCH_ROLE_WEIGHTS]        = {"weights",        LAUNCH_ROLE_SIZE,      MATMUL,    false, 1,    2,         ONE,                       1},
    [LAUNCH_ROLE_ACTIVATIONS]    = {"activations",    LAUNCH_ROLE_SIZE,      MATMUL,    false, 1,    SIZE_MOST, LAUNCH_ROLE_BATCH,         0},
    [LAUNCH_ROLE_EXPERTS]        = {"experts",        LAUNCH_ROLE_CONDITION, MATMUL,    false, 0,    1,         ONE,                       0},
    [LAUNCH_ROLE_MATRICES_MOST]  = {"matrices_most",  LAUNCH_ROLE_SIZE,      MATMUL,    false, 1,    SIZE_MOST, ONE,                       1},
    [LAUNCH_ROLE_MATRICES_LEAST] = {"matrices_least", LAUNCH_ROLE_SIZE,      MATMUL,    false, 1,    SIZE_MOST, LAUNCH_ROLE_MATRICES_MOST, 0},
    [LAUNCH_ROLE_ADDS]           = {"adds",           LAUNCH_ROLE_CONDITION, MATMUL,    false, 0,    1,         ONE,                       0},
    [LAUNCH_ROLE_WEIGHT_FORMAT]  = {"weight_format",  LAUNCH_ROLE_FORMAT,    MATMUL,    false, 0,    0,         ONE,                       0},
    [LAUNCH_ROLE_A_FORMAT]       = {"a_format",       LAUNCH_ROLE_FORMAT,    MATMUL,    false, 0,    0,         ONE,                       0},
    [LAUNCH_ROLE_D_FORMAT]       = {"d_format",       LAUNCH_ROLE_FORMAT,    MATMUL,    false, 0,    0,         ONE,                       0},
    [LAUNCH_ROLE_N_Q]            = {"n_q",            LAUNCH_ROLE_SIZE,      ATTENTION, true,  1,    SIZE_MOST, ONE,                       0},
    [LAUNCH_ROLE_N_KV]           = {"n_kv",           LAUNCH_ROLE_SIZE,      ATTENTION, true,  1,    SIZE_MOST, ONE,                       0},
    [LAUNCH_ROLE_D]              = {"d",              LAUNCH_ROLE_SIZE,      ATTENTION, true,  1,    1024,      ONE,                       0},
    [LAUNCH_ROLE_D_V]            = {"d_v",            LAUNCH_ROLE_SIZE,      ATTENTION, false, 1,    1024,      LAUNCH_ROLE_D,             0},
    [LAUNCH_ROLE_QUERIES]        = {"queries",        LAUNCH_ROLE_SIZE,      ATTENTION, true,  1,    SIZE_MOST, ONE,                       0},
    [LAUNCH_ROLE_KEYS]           = {"keys",           LAUNCH_ROLE_SIZE,      ATTENTION, true,  1,    SIZE_MOST, ONE,                       0},
    [LAUNCH_ROLE_SEQUENCES]      = {"sequences",      LAUNCH_ROLE_SIZE,      ATTENTION, false, 1,    SIZE_MOST, ONE,                       1},
    [LAUNCH_ROLE_KEYS_AT_MOST]   = {"keys_at_most",   LAUNCH_ROLE_CONDITION, ATTENTION, false, 0,    1,         ONE,                       0},
    [LAUNCH_ROLE_MASKED]         = {"masked",         LAUNCH_ROLE_CONDITION, ATTENTION, false, 0,    1,         ONE,                       0},
    [LAUNCH_ROLE_V_IN_K]         = {"v_in_k",         LAUNCH_ROLE_CONDITION, ATTENTION, false, 0,    1,         ONE,                       0},
    [LAUNCH_ROLE_Q_FORMAT]       = {"q_format",       LAUNCH_ROLE_FORMAT,    ATTENTION, false, 0,    0,         ONE,                       0},
    [LAUNCH_ROLE_K_FORMAT]       = {"k_format",       LAUNCH_ROLE_FORMAT,    ATTENTION, false, 0,    0,         ONE,                       0},
    [LAUNCH_ROLE_V_FORMAT]       = {"v_format",       LAUNCH_ROLE_FORMAT,    ATTENTION, false, 0,    0,         ONE,                       0},
    [LAUNCH_ROLE_O_FORMAT]       = {"o_format",       LAUNCH_ROLE_FORMAT,    ATTENTION, false, 0,    0,         ONE,                       0},
    [LAUNCH_ROLE_SPLITS]         = {"splits",         LAUNCH_ROLE_SIZE,      ATTENTION, false, 1,    SIZE_MOST, ONE,                       1},
    [LAUNCH_ROLE_SPLIT_ROW_BITS] = {"split_row_bits", LAUNCH_ROLE_SIZE,      ATTENTION, false, 0,    SIZE_MOST, ONE,                       0},
    [LAUNCH_ROLE_PATH]           = {"path",           LAUNCH_ROLE_PATH_WORD, MATMUL | ATTENTION, false, 0, 0,   ONE,                       0},
};
/* clang-format on */

struct reader {
    struct launch_row *row;
    char *error;
    struct launch_name names[LAUNCH_NAMES_MOST];
};

static bool complain(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool complain(struct reader *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->error, LAUNCH_ROW_ERROR_BYTES, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- what the row is about ---- */

/* Compilers put no other spelling into a name, so a row with one would never fit. */
static bool check_spelling(struct reader *r, size_t index, const char *type)
{
    /* clang-format off */
    static const struct { const char *written, *spelled; } others[] = {
        {"int64_t", "long"},  {"uint64_t", "unsigned long"}, {"size_t", "unsigned long"}, {"int32_t", "int"},
        {"uint32_t", "unsigned int"}, {"unsigned", "unsigned int"}, {"uint8_t", "unsigned char"}, {"half", "__half"},
        {"half2", "__half2"}, {"nv_bfloat16", "__nv_bfloat16"}, {"nv_bfloat162", "__nv_bfloat162"},
    };
    /* clang-format on */
    size_t length = strcspn(type, " *&.");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strlen(others[i].written) == length && !strncmp(type, others[i].written, length) &&
            (strcmp(others[i].written, "unsigned") || type[length] != ' ')) /* not of "unsigned long" */
            return complain(r, "\"types\" %zu: names have %s for %s", index, others[i].spelled, others[i].written);
    if (!strncmp(type, "const ", 6))
        return complain(r, "\"types\" %zu: const stands behind its type, as in \"void const*\"", index);
    if (strstr(type, " *") || strstr(type, " &") || strstr(type, "  ") || type[strlen(type) - 1] == ' ')
        return complain(r, "\"types\" %zu: no space stands there, as in \"void const*\"", index);
    return true;
}

static bool read_types(struct reader *r)
{
    struct launch_row *row = r->row;
    json_t *list = json_object_get(row->object, "types");
    size_t count = json_array_size(list);
    if (!json_is_array(list) || count > KERNEL_SIGNATURE_PARAMETERS_MOST)
        return complain(r, "\"types\" must be a list of the parameters' types, up to %d",
                        KERNEL_SIGNATURE_PARAMETERS_MOST);
    for (size_t i = 0; i < count; i++) {
        json_t *item = json_array_get(list, i);
        const char *type = json_string_value(item);
        size_t length = json_string_length(item);
        if (!type || !length || strchr(type, '?') || strlen(type) != length)
            return complain(r, "\"types\" %zu must be a type such as \"void const*\"", i);
        if (!check_spelling(r, i, type))
            return false;
        if (length > 3 && !strcmp(type + length - 3, "...")) {
            if (i + 1 < count)
                return complain(r, "\"types\" %zu: only the last may end in ...", i);
            char *tail = allocate_text(type);
            tail[length - 3] = '\0';
            int failed = json_string_set(item, tail);
            free(tail);
            if (failed)
                return complain(r, "\"types\" %zu is no text", i);
            row->types[i] = json_string_value(item);
            row->has_tail = true;
            return true;
        }
        row->types[i] = type;
        row->type_count++;
    }
    return true;
}

static bool read_arguments(struct reader *r)
{
    json_t *value = json_object_get(r->row->object, "arguments");
    json_int_t count = json_integer_value(value);
    r->row->arguments = -1;
    if (!value)
        return true;
    if (!json_is_integer(value) || count < 0 || count > KERNEL_SIGNATURE_ARGUMENTS_MOST)
        return complain(r, "\"arguments\" must be a number of template arguments, 0 to %d",
                        KERNEL_SIGNATURE_ARGUMENTS_MOST);
    r->row->arguments = (int)count;
    return true;
}

static bool read_kind(struct reader *r)
{
    const char *kind = json_string_value(json_object_get(r->row->object, "kind"));
    for (int i = 0; kind && i < LAUNCH_KIND_COUNT; i++)
        if (!strcmp(kind, launch_kind_name((enum launch_kind)i))) {
            r->row->kind = (enum launch_kind)i;
            return true;
        }
    return complain(r, "\"kind\" must be matmul, attention, helper or other");
}

static bool read_serves(struct reader *r)
{
    json_t *value = json_object_get(r->row->object, "serves");
    const char *serves = json_string_value(value);
    if ((r->row->kind == LAUNCH_HELPER) != (value != NULL))
        return complain(r, value ? "\"serves\" is for helpers only" : "a helper needs \"serves\"");
    if (!value)
        return true;
    for (int i = LAUNCH_SERVES_NONE + 1; serves && i <= LAUNCH_SERVES_LAST_OUTPUT; i++)
        if (!strcmp(serves, launch_serves_name((enum launch_serves)i))) {
            r->row->serves = (enum launch_serves)i;
            return true;
        }
    return complain(r,
                    "\"serves\" must be next_matmul, last_matmul, next_attention, last_attention, next or last_output");
}

static bool read_provenance(struct reader *r)
{
    json_t *value = json_object_get(r->row->object, "provenance");
    const char *text = json_string_value(value);
    r->row->at_most = text && !strcmp(text, "at_most");
    return !value || r->row->at_most || complain(r, "\"provenance\" must be at_most, or not there");
}

static bool read_weight(struct reader *r)
{
    struct launch_row *row = r->row;
    json_t *value = json_object_get(row->object, "weight");
    json_int_t index = json_integer_value(value);
    row->weight = -1;
    if (!value)
        return true;
    if (row->kind != LAUNCH_MATMUL)
        return complain(r, "\"weight\" is no role of a row of kind %s", launch_kind_name(row->kind));
    if (!json_is_integer(value) || index < 0 || (size_t)index >= row->type_count ||
        !strchr("*&", row->types[index][strlen(row->types[index]) - 1]))
        return complain(r, "\"weight\" must be the index of a pointer among \"types\"");
    row->weight = (int)index;
    return true;
}

static bool read_text(struct reader *r, const char *member, bool needed, const char **text)
{
    json_t *value = json_object_get(r->row->object, member);
    *text = json_string_value(value);
    if (value ? *text && **text : !needed)
        return true;
    return complain(r, value ? "\"%s\" must be a text" : "a row needs \"%s\"", member);
}

/* ---- expressions ---- */

static struct launch_expression *compile(struct reader *r, const char *member, const char *text, bool is_text)
{
    const struct launch_row *row = r->row;
    char what[LAUNCH_EXPRESSION_ERROR_BYTES];
    struct launch_scope scope = {.types = row->types,
                                 .type_count = row->type_count,
                                 .argument_count = row->arguments,
                                 .names = r->names,
                                 .name_count = LAUNCH_ROLE_COUNT + row->let_count};
    struct launch_expression *e = launch_expression_compile(text, &scope, is_text, what);
    if (!e)
        complain(r, "\"%s\" '%.60s': %s", member, text, what);
    return e;
}

static bool is_format(const char *name)
{
    struct launch_format format;
    return launch_format_find(name, &format);
}

static bool is_path(const char *word)
{
    return gpu_path_by_word(word) != GPU_PATH_UNKNOWN;
}

/* A number, true, false and the bare name of a format or path stand for themselves; to be freed. */
static char *expression_text(json_t *value, enum launch_role_type type)
{
    char *text = NULL;
    const char *given = json_string_value(value);
    bool bare =
        given && (type == LAUNCH_ROLE_FORMAT ? is_format(given) : type == LAUNCH_ROLE_PATH_WORD && is_path(given));
    int length = bare                     ? asprintf(&text, "'%s'", given)
                 : given                  ? asprintf(&text, "%s", given)
                 : json_is_integer(value) ? asprintf(&text, "%lld", (long long)json_integer_value(value))
                 : json_is_boolean(value) ? asprintf(&text, "%d", json_is_true(value))
                                          : 0;
    return length > 0 ? text : NULL;
}

static bool read_role(struct reader *r, int role)
{
    const struct launch_role_row *about = &launch_roles[role];
    json_t *value = json_object_get(r->row->object, about->name);
    bool is_text = about->type == LAUNCH_ROLE_FORMAT || about->type == LAUNCH_ROLE_PATH_WORD;
    bool has = about->kinds >> r->row->kind & 1;
    if (value && !has)
        return complain(r, "\"%s\" is no role of a row of kind %s", about->name, launch_kind_name(r->row->kind));
    if (!value)
        return !(has && about->needed) ||
               complain(r, "a row of kind %s needs \"%s\"", launch_kind_name(r->row->kind), about->name);
    char *text = expression_text(value, about->type);
    if (!text)
        return complain(r, "\"%s\" must be an expression", about->name);
    struct launch_expression *e = r->row->role[role] = compile(r, about->name, text, is_text);
    free(text);
    const char *unfit =
        e && is_text ? launch_expression_unfit_text(e, about->type == LAUNCH_ROLE_FORMAT ? is_format : is_path) : NULL;
    if (unfit)
        return complain(r, "\"%s\": '%.40s' is no %s", about->name, unfit,
                        about->type == LAUNCH_ROLE_FORMAT ? "format" : "path");
    if (e)
        r->row->reads_parameters |= launch_expression_reads_parameters(e);
    return e;
}

/* Each may use the lets and the roles before it. */
static bool read_roles(struct reader *r)
{
    for (int role = 0; role < LAUNCH_ROLE_COUNT; role++) {
        const struct launch_role_row *about = &launch_roles[role];
        if (!read_role(r, role))
            return false;
        r->names[role].visible = about->kinds >> r->row->kind & 1 && about->type <= LAUNCH_ROLE_CONDITION;
        if (about->type > LAUNCH_ROLE_CONDITION)
            r->names[role].visible = r->row->role[role] != NULL;
    }
    return true;
}

static bool is_name(const char *text)
{
    bool reserved = !strcmp(text, "grid") || !strcmp(text, "block") || !strcmp(text, "true") || !strcmp(text, "false");
    if (reserved || !strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"))
        return false;
    if (strchr("at", *text) && text[1] && text[1 + strspn(text + 1, "0123456789")] == '\0')
        return false;
    for (int role = 0; role < LAUNCH_ROLE_COUNT; role++)
        if (!strcmp(text, launch_roles[role].name))
            return false;
    return !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")];
}

static bool read_lets(struct reader *r)
{
    struct launch_row *row = r->row;
    json_t *lets = json_object_get(row->object, "let"), *value;
    const char *name;
    if (lets && (!json_is_object(lets) || json_object_size(lets) > LAUNCH_LETS_MOST))
        return complain(r, "\"let\" must be an object of up to %d names", LAUNCH_LETS_MOST);
    json_object_foreach(lets, name, value)
    {
        if (!is_name(name))
            return complain(r, "\"let\": \"%.40s\" can't be a name here", name);
        char *text = expression_text(value, LAUNCH_ROLE_SIZE);
        struct launch_expression *e = text ? compile(r, name, text, false) : NULL;
        if (!text)
            return complain(r, "\"let\": \"%.40s\" must be an expression", name);
        free(text);
        if (!e)
            return false;
        row->reads_parameters |= launch_expression_reads_parameters(e);
        r->names[LAUNCH_ROLE_COUNT + row->let_count] = (struct launch_name){.name = name, .visible = true};
        row->let_name[row->let_count] = name;
        row->let[row->let_count++] = e;
    }
    return true;
}

static bool read_where(struct reader *r)
{
    json_t *value = json_object_get(r->row->object, "where");
    const char *text = json_string_value(value);
    if (!value)
        return true;
    if (!text)
        return complain(r, "\"where\" must be a condition");
    r->row->where = compile(r, "where", text, false);
    return r->row->where;
}

static bool read_checks(struct reader *r)
{
    struct launch_row *row = r->row;
    json_t *checks = json_object_get(row->object, "checks"), *value;
    size_t i;
    if (checks && (!json_is_array(checks) || json_array_size(checks) > LAUNCH_CHECKS_MOST))
        return complain(r, "\"checks\" must be a list of up to %d conditions", LAUNCH_CHECKS_MOST);
    json_array_foreach(checks, i, value)
    {
        const char *text = json_string_value(value);
        struct launch_expression *e = text ? compile(r, "checks", text, false) : NULL;
        if (!text)
            return complain(r, "\"checks\" %zu must be a condition", i);
        if (!e)
            return false;
        row->checks[row->check_count++] = (struct launch_check){text, e};
    }
    return true;
}

/* ---- the whole ---- */

static bool is_member(const char *name)
{
    static const char *const members[] = {"kernel", "types",      "arguments", "where",   "let",    "kind",   "serves",
                                          "checks", "provenance", "source",    "version", "weight", "example"};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (!strcmp(name, members[i]))
            return true;
    for (int role = 0; role < LAUNCH_ROLE_COUNT; role++)
        if (!strcmp(name, launch_roles[role].name))
            return true;
    return false;
}

static bool read_example(struct reader *r)
{
    struct kernel_signature signature;
    if (!read_text(r, "example", false, &r->row->example))
        return false;
    if (!r->row->example)
        return true;
    if (!kernel_signature_parse(r->row->example, &signature))
        return complain(r, "\"example\" is no mangled name that can be taken apart");
    return launch_row_fits(r->row, &signature) || complain(r, "the row does not fit its own \"example\"");
}

/* What one member asks of another. */
static bool read_pairs(struct reader *r)
{
    struct launch_row *row = r->row;
    if (row->role[LAUNCH_ROLE_EXPERTS] &&
        (!row->role[LAUNCH_ROLE_MATRICES_MOST] || !row->role[LAUNCH_ROLE_MATRICES_LEAST]))
        return complain(r, "\"experts\" needs \"matrices_least\" and \"matrices_most\"");
    if (row->role[LAUNCH_ROLE_SPLITS] && !row->role[LAUNCH_ROLE_SPLIT_ROW_BITS])
        return complain(r, "\"splits\" needs \"split_row_bits\"");
    return true;
}

static bool read_row(struct reader *r, bool needs_source)
{
    struct launch_row *row = r->row;
    const char *name;
    json_t *value;
    if (!json_is_object(row->object))
        return complain(r, "a row must be an object such as {\"kernel\": \"my_gemv\", \"types\": [...], ...}");
    json_object_foreach(row->object, name, value)
    {
        if (!is_member(name))
            return complain(r, "\"%.40s\" is no member of a row", name);
    }
    for (int role = 0; role < LAUNCH_ROLE_COUNT; role++)
        r->names[role] = (struct launch_name){.name = launch_roles[role].name,
                                              .is_text = launch_roles[role].type > LAUNCH_ROLE_CONDITION};
    return read_text(r, "kernel", true, &row->kernel) && read_types(r) && read_arguments(r) && read_kind(r) &&
           read_serves(r) && read_provenance(r) && read_weight(r) &&
           read_text(r, "source", needs_source, &row->source) && read_text(r, "version", needs_source, &row->version) &&
           read_lets(r) && read_where(r) && read_roles(r) && read_checks(r) && read_pairs(r) && read_example(r);
}

struct launch_row *launch_row_read(json_t *object, bool needs_source, char error[LAUNCH_ROW_ERROR_BYTES])
{
    struct reader reader = {.row = allocate(1, sizeof *reader.row), .error = error};
    reader.row->object = json_incref(object);
    if (read_row(&reader, needs_source))
        return reader.row;
    launch_row_free(reader.row);
    return NULL;
}

void launch_row_free(struct launch_row *row)
{
    if (!row)
        return;
    for (size_t i = 0; i < row->let_count; i++)
        launch_expression_free(row->let[i]);
    for (int role = 0; role < LAUNCH_ROLE_COUNT; role++)
        launch_expression_free(row->role[role]);
    for (size_t i = 0; i < row->check_count; i++)
        launch_expression_free(row->checks[i].expression);
    launch_expression_free(row->where);
    json_decref(row->object);
    free(row->place);
    free(row);
}

/* ---- finding ---- */

/* "{t0}" in PATTERN stands for the text of template argument 0; returns what follows it in PATTERN, NULL: it is no such hole. */
static const char *hole(const char *pattern, const struct kernel_signature *signature, const char **text)
{
    char *end;
    if (pattern[0] != '{' || pattern[1] != 't' || pattern[2] < '0' || pattern[2] > '9')
        return NULL;
    unsigned long index = strtoul(pattern + 2, &end, 10);
    *text = index < signature->argument_count ? signature->argument[index] : NULL;
    return *end == '}' ? end + 1 : NULL;
}

static bool type_fits(const char *pattern, const char *type, const struct kernel_signature *signature)
{
    while (*pattern) {
        const char *text, *after = hole(pattern, signature, &text);
        if (!after) {
            if (*pattern++ != *type++)
                return false;
            continue;
        }
        size_t length = text ? strlen(text) : 0;
        if (!length || strncmp(type, text, length))
            return false;
        type += length;
        pattern = after;
    }
    return !*type;
}

bool launch_row_fits(const struct launch_row *row, const struct kernel_signature *signature)
{
    size_t count = signature->parameter_count;
    if (row->has_tail ? count < row->type_count : count != row->type_count)
        return false;
    if ((row->arguments >= 0 && signature->argument_count != (unsigned)row->arguments) ||
        strcmp(row->kernel, signature->base))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!type_fits(row->types[i < row->type_count ? i : row->type_count], signature->parameter[i], signature))
            return false;
    return true;
}
