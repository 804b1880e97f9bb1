/* SPDX-License-Identifier: Apache-2.0 */
/* A table of what two calls of one shape can differ in. Only what does differ within a group is printed. */
#include "report/lookalikes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/launch_groups.h"
#include "report/columns.h"
#include "report/format.h"
#include "report/safe_text.h"

enum { GROUPS = 5, MEMBERS = 12, CELL = 160 };

/* ---- what calls differ in: each into CELL bytes ---- */

static void show_function(const struct operator_row *op, char *cell)
{
    char *name = safe_text_terminal(op->name ? op->name : "(function not known)");
    safe_text_cut_middle(name, 36); /* of 4 bytes at most */
    snprintf(cell, CELL, "%s", name);
    free(name);
}

static void show_operations(const struct operator_row *op, char *cell)
{
    static const char letters[] = "NTC";
    uint8_t a = op->signature.trans_a, b = op->signature.trans_b;
    snprintf(cell, CELL, "%c%c", a < 3 ? letters[a] : '?', b < 3 ? letters[b] : '?');
}

static void show_beta(const struct operator_row *op, char *cell)
{
    static const char *const texts[] = {[TRACE_SCALAR_ZERO] = "beta 0",
                                        [TRACE_SCALAR_ONE] = "beta 1",
                                        [TRACE_SCALAR_OTHER] = "beta not 0 or 1",
                                        [TRACE_SCALAR_ON_DEVICE] = "beta on the device"};
    uint8_t beta = op->signature.beta;
    const char *text = beta < sizeof texts / sizeof texts[0] ? texts[beta] : NULL;
    snprintf(cell, CELL, "%s", text ? text : "beta not known");
}

/* Bits of cublasLtEpilogue_t, as its documentation lists them; 1 is the default. */
static void show_epilogue(const struct operator_row *op, char *cell)
{
    static const char *const bits[] = {NULL,   "relu",          "bias", "relu gradient",      "bias gradient",
                                       "gelu", "gelu gradient", "aux",  "bias gradient of A", "bias gradient of B"};
    size_t used = 0;
    cell[0] = '\0';
    for (size_t i = 1; i < sizeof bits / sizeof bits[0]; i++)
        if (op->signature.epilogue > 1 && op->signature.epilogue & 1 << i)
            used += (size_t)snprintf(cell + used, CELL - used, "%s%s", used ? "+" : "", bits[i]);
    if (!used)
        snprintf(cell, CELL, "no epilogue");
}

static void show_four(char *cell, const char *title, const int64_t values[4])
{
    snprintf(cell, CELL, "%s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, title, values[0], values[1], values[2],
             values[3]);
}

static void show_leading(const struct operator_row *op, char *cell)
{
    show_four(cell, "ld", op->signature.ld);
}

static void show_strides(const struct operator_row *op, char *cell)
{
    show_four(cell, "strides", op->signature.batch_stride);
}

static void show_orders(const struct operator_row *op, char *cell)
{
    const int32_t *order = op->signature.order;
    show_four(cell, "orders", (const int64_t[]){order[0], order[1], order[2], order[3]});
}

static void show_scales(const struct operator_row *op, char *cell)
{
    const int32_t *mode = op->signature.scale_mode;
    show_four(cell, "scale modes", (const int64_t[]){mode[0], mode[1], mode[2], mode[3]});
}

static void show_compute(const struct operator_row *op, char *cell)
{
    snprintf(cell, CELL, "compute type %" PRId32 ", math mode %" PRId32, op->signature.type_compute,
             op->signature.math_mode);
}

static void show_pointers(const struct operator_row *op, char *cell)
{
    snprintf(cell, CELL, "scalars on the %s", op->signature.pointer_mode ? "device" : "host");
}

/* Of level 3: which side and triangle of a matrix count. */
static void show_triangle(const struct operator_row *op, char *cell)
{
    static const char *const sides[] = {"left", "right"}, *const fills[] = {"lower", "upper", "full"};
    const struct trace_signature *s = &op->signature;
    snprintf(cell, CELL, "%s%s%s%s", s->side < 2 ? sides[s->side] : "", s->side < 2 && s->fill_mode < 3 ? " " : "",
             s->fill_mode < 3 ? fills[s->fill_mode] : "", s->diagonal == 2 ? ", unit diagonal" : "");
}

/* The list is too long for a line: calls of one list have one number. */
static void show_groups(const struct operator_row *op, char *cell)
{
    if (op->signature.groups_id)
        snprintf(cell, CELL, "groups #%08" PRIx32, (uint32_t)op->signature.groups_id);
    else
        snprintf(cell, CELL, "no groups");
}

static void show_planes(const struct operator_row *op, char *cell)
{
    show_four(cell, "planes", op->signature.plane_offset);
}

/* What one launch reads and computes beside its sizes. */
static void show_launch(const struct operator_row *op, char *cell)
{
    const struct launch_decode *launch = launch_of_operator_is_read(op) ? op->launch : NULL;
    snprintf(cell, CELL, "%s%s%s%s", launch && launch->weights > 1 ? "gate fused" : "one weight",
             launch && launch->adds ? ", residual or bias added" : "", launch && launch->experts ? ", of experts" : "",
             launch && launch->keys_at_most ? ", keys at most" : "");
}

/* What says most comes first. */
static const struct {
    void (*show)(const struct operator_row *op, char *cell);
    bool always; /* shown wherever it differs; the others only if rows still look alike without */
} differences[] = {
    {show_function, true},  {show_epilogue, true},    {show_groups, true},    {show_launch, true},
    {show_triangle, false}, {show_operations, false}, {show_beta, false},     {show_leading, false},
    {show_strides, false},  {show_orders, false},     {show_pointers, false}, {show_scales, false},
    {show_planes, false},   {show_compute, false},
};

enum { DIFFERENCES = sizeof differences / sizeof differences[0] };

/* ---- groups ---- */

struct group {
    const struct operator_row **rows;
    char **texts; /* what tells each apart */
    size_t count;
};

/* Whether two rows differ in it; if ALIKE_ONLY, two whose texts are the same as yet. */
static bool differ_in(const struct group *group, int difference, bool alike_only)
{
    char left[CELL], right[CELL];
    for (size_t i = 0; i < group->count; i++) {
        differences[difference].show(group->rows[i], left);
        for (size_t j = i + 1; j < group->count; j++) {
            differences[difference].show(group->rows[j], right);
            if (strcmp(left, right) && (!alike_only || !strcmp(group->texts[i], group->texts[j])))
                return true;
        }
    }
    return false;
}

static char *joined(char *text, const char *more)
{
    size_t used = strlen(text);
    char *both = allocate(used + strlen(more) + 2, 1);
    sprintf(both, "%s%s%s", text, used ? " " : "", more);
    free(text);
    return both;
}

static void find_differences(struct group *group)
{
    char cell[CELL];
    for (size_t i = 0; i < group->count; i++)
        group->texts[i] = allocate_text("");
    for (int d = 0; d < DIFFERENCES; d++) {
        if (!differ_in(group, d, !differences[d].always))
            continue;
        for (size_t i = 0; i < group->count; i++) {
            differences[d].show(group->rows[i], cell);
            group->texts[i] = joined(group->texts[i], cell);
        }
    }
}

static void print_group(struct group *group, size_t more, FILE *out)
{
    char shape[COLUMN_SHAPE_BYTES];
    find_differences(group);
    columns_shape(group->rows[0], shape);
    fprintf(out, "  %s:", shape);
    for (size_t i = 0; i < group->count; i++) {
        fprintf(out, "%s %s", i ? ";" : "", *group->texts[i] ? group->texts[i] : "(no difference that is shown here)");
        free(group->texts[i]);
    }
    if (more)
        fprintf(out, "; %zu more", more);
    fputc('\n', out);
}

struct key {
    const struct operator_row *op;
    size_t index; /* its place in the table */
    size_t group; /* the index of its first lookalike */
    char *text;   /* what the table shows of its shape */
};

static char *shown_shape(const struct column_source *source, const struct operator_row *op)
{
    size_t count, used = 0;
    const struct column *column = columns(COLUMNS_OF_SHAPE, &count);
    char *text = allocate(count + 1, COLUMN_CELL_BYTES);
    char cell[COLUMN_CELL_BYTES];
    for (size_t c = 0; c < count; c++) {
        if (!column[c].identity)
            continue;
        column[c].print(source, op, cell);
        used += (size_t)sprintf(text + used, "%s|", cell);
    }
    return text;
}

static int by_text(const void *left, const void *right)
{
    const struct key *a = left, *b = right;
    int order = strcmp(a->text, b->text);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

static int by_group(const void *left, const void *right)
{
    const struct key *a = left, *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Lookalikes side by side, the group with the most expensive member first. */
static void sort_into_groups(struct key *keys, size_t count)
{
    qsort(keys, count, sizeof *keys, by_text);
    for (size_t i = 0; i < count; i++)
        keys[i].group = i && !strcmp(keys[i - 1].text, keys[i].text) ? keys[i - 1].group : keys[i].index;
    qsort(keys, count, sizeof *keys, by_group);
}

static void print_groups(struct key *keys, size_t count, FILE *out)
{
    const struct operator_row **members = allocate(count + 1, sizeof *members);
    char **texts = allocate(count + 1, sizeof *texts);
    size_t printed = 0, left = 0;
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin; end < count && keys[begin].group == keys[end].group; end++)
            members[end - begin] = keys[end].op;
        if (end - begin < 2)
            continue;
        if (printed == GROUPS) {
            left++;
            continue;
        }
        if (!printed++)
            fputs("\nrows that look alike, from top to bottom:\n", out);
        size_t shown = end - begin < MEMBERS ? end - begin : MEMBERS;
        print_group(&(struct group){members, texts, shown}, end - begin - shown, out);
    }
    if (left)
        fprintf(out, "  (%zu more such shapes; `--json` has the function of every row)\n", left);
    free(texts);
    free(members);
}

void lookalikes_print(const struct column_source *source, const struct operator_rows *rows, FILE *out)
{
    size_t count = 0;
    struct key *keys = allocate(rows->shown + 1, sizeof *keys);
    for (size_t i = 0; i < rows->shown; i++) {
        const struct operator_row *op = rows->rows[i];
        if (operator_has_shape(op)) {
            keys[count] = (struct key){.op = op, .index = i, .text = shown_shape(source, op)};
            count++;
        }
    }
    sort_into_groups(keys, count);
    print_groups(keys, count, out);
    for (size_t i = 0; i < count; i++)
        free(keys[i].text);
    free(keys);
}
