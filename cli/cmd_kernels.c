/* SPDX-License-Identifier: Apache-2.0 */
/* `rooftap kernels`: the families that names of kernels are put in, and why a name is put where it is. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "classify/kernel_families.h"
#include "classify/kernel_name.h"
#include "cli/commands.h"
#include "cli/kernel_table.h"
#include "cli/launch_explanation.h"
#include "cli/launch_table.h"
#include "cli/message.h"
#include "cli/options.h"
#include "report/demangle.h"
#include "report/safe_text.h"
#include "report/short_name.h"

#define COMMAND "kernels"

enum { NAME_WIDTH = 100 };

static const char *kind_name(enum kernel_kind kind)
{
    static const char *const names[] = {
        [KERNEL_OTHER] = NULL,
        [KERNEL_GEMM] = "gemm",
        [KERNEL_GEMV] = "gemv",
        [KERNEL_ATTENTION] = "attention",
    };
    return names[kind];
}

static json_t *text_or_null(const char *text)
{
    if (!text)
        return json_null();
    char *safe = safe_text_utf8(text);
    json_t *value = json_string(safe);
    free(safe);
    return value;
}

static bool dump(json_t *document)
{
    bool good = document && json_dumpf(document, stdout, JSON_INDENT(2)) == 0;
    putchar('\n');
    json_decref(document);
    if (!good)
        message_not_printed(COMMAND);
    return good;
}

/* ---- the list ---- */

struct family_count {
    size_t patterns;
    bool has_role[KERNEL_ROLE_COUNT];
    bool counts; /* some of it is a GEMM, GEMV or attention by name */
};

static void count_families(struct family_count counts[KERNEL_FAMILY_COUNT])
{
    size_t count;
    const struct kernel_family_row *rows = kernel_family_rows(&count);
    for (size_t i = 0; i < count; i++) {
        struct family_count *family = &counts[rows[i].family];
        family->patterns++;
        family->has_role[rows[i].role] = true;
        family->counts |= kernel_family_kind(rows[i].family, rows[i].role) != KERNEL_OTHER;
    }
}

static void list_text(const struct family_count counts[KERNEL_FAMILY_COUNT])
{
    size_t patterns = 0;
    printf("%-14s %8s  %s\n", "family", "patterns", "what its patterns tell apart");
    for (int family = KERNEL_FAMILY_UNKNOWN + 1; family < KERNEL_FAMILY_COUNT; family++) {
        bool first = true;
        patterns += counts[family].patterns;
        printf("%-14s %8zu", kernel_family_name((enum kernel_family)family), counts[family].patterns);
        for (int role = KERNEL_ROLE_MAIN + 1; role < KERNEL_ROLE_COUNT; role++) {
            if (!counts[family].has_role[role])
                continue;
            printf("%s%s", first ? "  " : ", ", kernel_role_name((enum kernel_role)role));
            first = false;
        }
        putchar('\n');
    }
    printf("\n%zu built-in patterns. What none of them knows is unknown, and a report says how much time that is.\n"
           "'rooftap kernels explain NAME' tells which pattern a name finds.\n",
           patterns);
}

static bool list_json(const struct family_count counts[KERNEL_FAMILY_COUNT])
{
    json_t *families = json_array();
    for (int family = KERNEL_FAMILY_UNKNOWN + 1; family < KERNEL_FAMILY_COUNT; family++) {
        json_t *roles = json_array();
        for (int role = KERNEL_ROLE_MAIN + 1; role < KERNEL_ROLE_COUNT; role++)
            if (counts[family].has_role[role])
                json_array_append_new(roles, json_string(kernel_role_name((enum kernel_role)role)));
        json_array_append_new(families, json_pack("{s:s, s:I, s:o, s:b}", "family",
                                                  kernel_family_name((enum kernel_family)family), "patterns",
                                                  (json_int_t)counts[family].patterns, "roles", roles, "has_work",
                                                  counts[family].counts));
    }
    return dump(json_pack("{s:i, s:o}", "schema", 1, "families", families));
}

static bool list(bool json)
{
    struct family_count counts[KERNEL_FAMILY_COUNT] = {{0}};
    count_families(counts);
    if (json)
        return list_json(counts);
    list_text(counts);
    return true;
}

/* ---- one name ---- */

/* As people read it, in few columns. The caller frees. */
static char *readable_name(struct demangler *demangler, const char *name)
{
    char *demangled = demangler_name(demangler, name);
    char *utf8 = safe_text_utf8(demangled);
    char *brief = short_name_within(utf8, NAME_WIDTH);
    free(demangled);
    free(utf8);
    return brief;
}

/* A line whose text is, or holds, what a stranger wrote. */
static void print_line(const char *label, const char *text)
{
    char *safe = safe_text_terminal(text);
    printf("  %-11s %s\n", label, safe);
    free(safe);
}

static char *function_of(const char *name)
{
    struct kernel_word function = kernel_name_function(name);
    char *text = strndup(function.begin, function.bytes);
    if (!text)
        abort();
    return text;
}

static void print_row(const struct kernel_family_row *row)
{
    char *function = safe_text_terminal(row->function), *inside = row->inside ? safe_text_terminal(row->inside) : NULL;
    printf("  %-11s function '%s'", "pattern", function);
    if (inside)
        printf(", and '%s' elsewhere in the name", inside);
    free(function);
    free(inside);
    putchar('\n');
    if (kernel_family_row_is_users(row))
        printf("  %-11s a table file\n", "of");
    if (row->example)
        print_line("such as", row->example);
    if (row->source)
        print_line("source", row->source);
}

static void print_found(const struct kernel_family_row *row)
{
    enum kernel_kind kind = kernel_family_kind(row->family, row->role);
    const char *role = kernel_role_name(row->role);
    printf("  %-11s %s%s%s\n", "family", kernel_family_name(row->family), role ? ", " : "", role ? role : "");
    if (kind != KERNEL_OTHER)
        printf("  %-11s %s by name, where no library call owns it: its time is known, its shape and FLOPs if its "
               "launch is read\n",
               "counts as", kind_name(kind));
    else
        printf("  %-11s neither GEMM nor attention\n", "counts as");
    print_row(row);
}

static void print_unknown(void)
{
    printf("  %-11s unknown: no pattern describes the function\n", "family");
    printf("  %-11s neither GEMM nor attention, though it may be one: it keeps its time and its row, FLOPs are not\n"
           "  %-11s known, and a report says how much time such kernels took\n",
           "counts as", "");
}

static void explain_text(struct demangler *demangler, const char *name, const struct launch_question *question,
                         bool first)
{
    const struct kernel_family_row *row = kernel_family_find(name);
    const char *persistent = kernel_persistent_part(name);
    char *readable = readable_name(demangler, name), *safe = safe_text_terminal(name), *function = function_of(name);
    printf("%s%s\n", first ? "" : "\n", safe);
    print_line("reads", readable);
    print_line("function", function);
    if (row)
        print_found(row);
    else
        print_unknown();
    if (persistent)
        printf("  %-11s persistent kernel, by '%s': its number of blocks says nothing about its work\n", "blocks",
               persistent);
    else
        printf("  %-11s its number of blocks may tell how much of the GPU it fills\n", "blocks");
    printf("  %-11s its shortest time %s as the least that any kernel of the GPU takes\n", "overhead",
           kernel_family_sets_floor(name) ? "may serve" : "is never taken");
    launch_explanation_print(question, name);
    free(readable);
    free(safe);
    free(function);
}

static json_t *pattern_or_null(const struct kernel_family_row *row)
{
    if (!row)
        return json_null();
    return json_pack("{s:s, s:s?, s:s?, s:s?, s:s}", "function", row->function, "inside", row->inside, "example",
                     row->example, "source", row->source, "origin",
                     kernel_family_row_is_users(row) ? "table_file" : "table");
}

static json_t *explain_object(struct demangler *demangler, const char *name, const struct launch_question *question)
{
    const struct kernel_family_row *row = kernel_family_find(name);
    const char *persistent = kernel_persistent_part(name);
    char *demangled = demangler_name(demangler, name), *function = function_of(name);
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:s?, s:s?, s:s?, s:b, s:s?, s:b, s:o}", "name", text_or_null(name), "display_name",
        text_or_null(demangled), "function", text_or_null(function), "family",
        row ? kernel_family_name(row->family) : NULL, "role", row ? kernel_role_name(row->role) : NULL, "kind",
        row ? kind_name(kernel_family_kind(row->family, row->role)) : NULL, "persistent", persistent != NULL,
        "persistent_part", persistent, "sets_floor", kernel_family_sets_floor(name), "pattern", pattern_or_null(row));
    json_object_set_new(object, "launch", launch_explanation_json(question, name));
    free(demangled);
    free(function);
    return object;
}

/* ---- all names ---- */

struct explanation {
    struct demangler *demangler;
    const struct launch_question *question;
    json_t *kernels; /* NULL: text */
    bool any;
};

static bool explain(struct explanation *explanation, const char *name)
{
    const struct launch_question *question = explanation->question;
    if (!launch_question_fits(question, name, COMMAND))
        return false;
    if (explanation->kernels)
        json_array_append_new(explanation->kernels, explain_object(explanation->demangler, name, question));
    else
        explain_text(explanation->demangler, name, question, !explanation->any);
    explanation->any = true;
    return true;
}

/* A name a line; empty lines are none. */
static bool explain_lines(struct explanation *explanation)
{
    char *line = NULL;
    size_t capacity = 0;
    bool good = true;
    while (good && getline(&line, &capacity, stdin) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        good = !*line || explain(explanation, line);
    }
    free(line);
    if (ferror(stdin))
        message_error(COMMAND, "names can't be read from standard input: %s", strerror(errno));
    return good && !ferror(stdin);
}

static int explain_all(char **names, int count, const struct launch_question *question, bool json)
{
    struct explanation explanation = {
        .demangler = demangler_open(DEMANGLE_LIBRARY), .question = question, .kernels = json ? json_array() : NULL};
    bool good = true;
    for (int i = 0; i < count && good; i++) {
        if (strcmp(names[i], "-") == 0)
            good = explain_lines(&explanation);
        else
            good = explain(&explanation, names[i]);
    }
    demangler_close(explanation.demangler);
    if (json && good)
        good = dump(json_pack("{s:i, s:o}", "schema", 1, "kernels", explanation.kernels));
    else
        json_decref(explanation.kernels);
    return good ? 0 : EXIT_USAGE;
}

int cmd_kernels(int argc, char **argv)
{
    static bool json;
    static const char *table, *launch_table;
    static struct launch_question question;
    /* clang-format off */
    static const struct option_row rows[] = {
        {"kernel-table", 0, OPTION_TEXT, &table, "FILE", "patterns of your own, as cli/KERNELS.md describes them"},
        {"launch-table", 0, OPTION_TEXT, &launch_table, "FILE", "rows of your own, as classify/LAUNCHES.md describes them"},
        {"params", 0, OPTION_TEXT, &question.params, "LIST", "explain: values of a launch's parameters: ptr,null,512,0:0:16,..."},
        {"grid", 0, OPTION_TEXT, &question.grid, "X,Y,Z", "explain: its grid"},
        {"block", 0, OPTION_TEXT, &question.block, "X,Y,Z", "explain: its block"},
        {"json", 'j', OPTION_FLAG, &json, NULL, "print JSON: {schema, families: [...]} or {schema, kernels: [...]}"},
        {NULL, 0, OPTION_FLAG, NULL, NULL, NULL},
    };
    /* clang-format on */
    static const struct option_set set = {
        .command = COMMAND,
        .synopsis = "[OPTION]... [families | explain NAME...]",
        .about = "Lists the families that kernels are put in by their names, where no library call owns\n"
                 "them; or explains where a NAME is put, and by which pattern: mangled or demangled, '-'\n"
                 "for names on standard input, one a line. Of kernels that the launch table knows it shows\n"
                 "what a launch means; with --params, --grid and --block, that launch.",
        .rows = rows,
        .anywhere = true,
        .footer = "Without --kernel-table, ~/.config/rooftap/kernels.json is read if it is there, and without "
                  "--launch-table\n"
                  "~/.config/rooftap/launches.jsonl.",
    };
    int first, status;
    if (!options_parse(&set, argc, argv, &first, &status))
        return status;
    const char *action = first < argc ? argv[first++] : NULL;
    bool explains = action && strcmp(action, "explain") == 0;
    if (action && !explains && strcmp(action, "families") != 0) {
        message_error(COMMAND, "'%s' is neither families nor explain; see 'rooftap help kernels'", action);
        return EXIT_USAGE;
    }
    if (!explains && first != argc) {
        message_error(COMMAND, "families takes no argument, found '%s'", argv[first]);
        return EXIT_USAGE;
    }
    if (explains && first == argc) {
        message_error(COMMAND, "explain needs a NAME, or '-' for names on standard input");
        return EXIT_USAGE;
    }
    if (!explains && (question.params || question.grid || question.block)) {
        message_error(COMMAND, "--params, --grid and --block are of explain");
        return EXIT_USAGE;
    }
    if (!kernel_table_load(table, COMMAND) || !launch_table_load(launch_table, COMMAND))
        return EXIT_USAGE;
    if (!explains)
        return list(json) ? 0 : EXIT_USAGE;
    return explain_all(argv + first, argc - first, &question, json);
}
