/* SPDX-License-Identifier: Apache-2.0 */
/* Groups are told by kernel and problem; the operators of a session come longest first, and so do those of a group. */
#include "classify/launch_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/launch_format.h"
#include "trace/kernel_signature.h"

bool launch_of_operator_is_read(const struct operator_row *op)
{
    return !op->of_call && op->launch && op->launch->reading == LAUNCH_READ &&
           (op->launch->kind == LAUNCH_MATMUL || op->launch->kind == LAUNCH_ATTENTION);
}

bool operator_has_shape(const struct operator_row *op)
{
    return op->of_call ? op->work.shape_known : launch_of_operator_is_read(op);
}

struct explained_time explained_time_of(const struct session *session)
{
    const double all = session->coverage.gpu_time_ns;
    struct explained_time explained = {0};
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        if (!op->timed || !op->kernels)
            continue;
        if (op->of_call)
            explained.calls += (double)op->time_ns;
        else if (launch_of_operator_is_read(op))
            explained.launches += (double)op->time_ns;
    }
    return (struct explained_time){all > 0 ? explained.calls / all : NAN, all > 0 ? explained.launches / all : NAN};
}

/* ---- formats ---- */

/* The first argument that is one: ggml's kernels of products have that of their weights first. */
static const struct weight_format *format_of_name(const char *name)
{
    static const char type[] = "(ggml_type)";
    struct kernel_signature signature;
    if (!kernel_signature_parse(name, &signature))
        return NULL;
    for (unsigned i = 0; i < signature.argument_count; i++)
        if (!strncmp(signature.argument[i], type, sizeof type - 1))
            return weight_format_find(launch_format_of_ggml(strtol(signature.argument[i] + sizeof type - 1, NULL, 10)));
    return NULL;
}

const struct weight_format *launch_weight_format(const struct operator_row *op)
{
    if (op->launch && op->launch->weight_format)
        return op->launch->weight_format;
    bool multiplies = op->kind == OPERATOR_GEMM || op->kind == OPERATOR_GEMV;
    return multiplies && !op->of_call && op->name ? format_of_name(op->name) : NULL;
}

/* ---- groups ---- */

static bool is_unread(const struct operator_row *op)
{
    return !op->of_call && op->launch && op->launch->reading != LAUNCH_READ &&
           op->launch->reading != LAUNCH_NOT_IN_TABLE;
}

static struct launch_group *group_of(struct launch_groups *groups, size_t *capacity, const struct launch_decode *launch)
{
    for (size_t i = 0; i < groups->count; i++)
        if (groups->items[i].reading == launch->reading && !strcmp(groups->items[i].kernel, launch->kernel) &&
            !strcmp(groups->items[i].problem, launch->problem))
            return &groups->items[i];
    groups->items = allocate_grow(groups->items, groups->count, capacity, sizeof *groups->items);
    struct launch_group *group = &groups->items[groups->count++];
    *group = (struct launch_group){.reading = launch->reading,
                                   .kernel = launch->kernel,
                                   .problem = launch->problem,
                                   .launches_known = true,
                                   .share = NAN};
    return group;
}

static void add_operator(struct launch_group *group, const struct operator_row *op, double all_ns)
{
    group->operators =
        allocate_grow(group->operators, group->operator_count, &group->operator_capacity, sizeof *group->operators);
    group->operators[group->operator_count++] = op;
    group->launches_known &= op->calls_known;
    sum_add(&group->launches, op->calls);
    if (op->timed && op->kernels)
        sum_add(&group->time_ns, op->time_ns);
    group->share = all_ns > 0 ? (double)group->time_ns / all_ns : NAN;
}

static int by_time(const void *left, const void *right)
{
    const struct launch_group *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? 1 : -1;
    if (a->launches != b->launches)
        return a->launches < b->launches ? 1 : -1;
    return strcmp(a->problem, b->problem);
}

struct launch_groups launch_groups_of(const struct session *session)
{
    struct launch_groups groups = {0};
    size_t capacity = 0;
    for (size_t i = 0; i < session->operator_count; i++) {
        const struct operator_row *op = &session->operators[i];
        if (is_unread(op))
            add_operator(group_of(&groups, &capacity, op->launch), op, session->coverage.gpu_time_ns);
    }
    if (groups.count)
        qsort(groups.items, groups.count, sizeof *groups.items, by_time);
    return groups;
}

void launch_groups_free(struct launch_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++)
        free(groups->items[i].operators);
    free(groups->items);
    *groups = (struct launch_groups){0};
}
