/* SPDX-License-Identifier: Apache-2.0 */
/* Groups are read once, straight into the thread's block, so that no buffer is needed however many there are. If a
 * call that asked the same is remembered in this block, what was read is left there uncommitted and the call refers to the
 * record of before. */
#include "preload/call_groups.h"

#include <string.h>

#include "preload/call_record.h"
#include "preload/scalar.h"
#include "trace/trace_writer.h"

/* What all groups with work have in common, in the terms of a signature. */
struct common {
    struct trace_group group; /* each field as the first has it, or unknown */
    bool any;
    int64_t batch; /* sum over all of them */
};

static int64_t element(const void *array, bool wide, int64_t index)
{
    return wide ? ((const int64_t *)array)[index] : ((const int *)array)[index];
}

static bool is_readable(const struct call_groups *g)
{
    return g->count > 0 && g->count <= TRACE_GROUPS_MOST && g->trans_a && g->trans_b && g->size[0] && g->size[1] &&
           g->size[2] && g->ld[0] && g->ld[1] && g->ld[2] && g->batch;
}

/* The scalar of group INDEX; where SCALARS is not on the host, it is only told so. */
static const void *scalar_at(const void *scalars, size_t bytes, int64_t index)
{
    return scalars && bytes ? (const char *)scalars + bytes * (size_t)index : NULL;
}

static void read_group(struct trace_group *to, const struct call_groups *g, int64_t index)
{
    memset(to, 0, sizeof *to);
    to->m = element(g->size[0], g->wide, index);
    to->n = element(g->size[1], g->wide, index);
    to->k = element(g->size[2], g->wide, index);
    to->batch = element(g->batch, g->wide, index);
    for (int i = 0; i < 3; i++)
        to->ld[i] = element(g->ld[i], g->wide, index);
    to->trans_a = call_operation((int)g->trans_a[index]);
    to->trans_b = call_operation((int)g->trans_b[index]);
}

static void read_groups(struct trace_groups *to, const struct call_groups *g, const struct call_event *event,
                        uint8_t pointer_mode)
{
    int type = call_scale_type(event);
    size_t bytes = scalar_bytes(type);
    for (int64_t i = 0; i < g->count; i++) {
        read_group(&to->group[i], g, i);
        unsigned scalars = call_classify_scalars(pointer_mode, scalar_at(event->alpha, bytes, i),
                                                 scalar_at(event->beta, bytes, i), type);
        to->group[i].alpha = (uint8_t)scalars;
        to->group[i].beta = (uint8_t)(scalars >> 8);
    }
    to->count = (uint32_t)g->count;
    to->reserved = 0;
    to->id = trace_hash(to->group, to->count * (uint32_t)sizeof to->group[0]);
}

static void agree(int64_t *common, int64_t value)
{
    if (*common != value)
        *common = TRACE_UNKNOWN;
}

static void agree8(uint8_t *common, uint8_t value, uint8_t unknown)
{
    if (*common != value)
        *common = unknown;
}

static struct common common_of(const struct trace_groups *groups)
{
    struct common c = {.any = false};
    for (uint32_t i = 0; i < groups->count; i++) {
        const struct trace_group *g = &groups->group[i];
        if (g->batch <= 0 || g->m <= 0 || g->n <= 0)
            continue;
        if (!c.any)
            c.group = *g;
        c.any = true;
        c.batch += g->batch;
        agree(&c.group.m, g->m);
        agree(&c.group.n, g->n);
        agree(&c.group.k, g->k);
        for (int o = 0; o < 3; o++)
            agree(&c.group.ld[o], g->ld[o]);
        agree8(&c.group.trans_a, g->trans_a, TRACE_U8_UNKNOWN);
        agree8(&c.group.trans_b, g->trans_b, TRACE_U8_UNKNOWN);
        agree8(&c.group.alpha, g->alpha, TRACE_SCALAR_UNKNOWN);
        agree8(&c.group.beta, g->beta, TRACE_SCALAR_UNKNOWN);
    }
    return c;
}

/* The groups' part of a signature that call_signature_fill() left unknown. Without work: a call of nothing. */
static void describe(struct trace_signature *s, const struct common *c, uint64_t groups_id)
{
    s->groups_id = groups_id;
    s->batch = c->batch;
    s->m = s->n = s->k = 0;
    if (!c->any)
        return;
    s->m = c->group.m;
    s->n = c->group.n;
    s->k = c->group.k;
    for (int i = 0; i < 4; i++) /* D is C */
        s->ld[i] = c->group.ld[i < 3 ? i : 2];
    s->trans_a = c->group.trans_a;
    s->trans_b = c->group.trans_b;
    s->alpha = c->group.alpha;
    s->beta = c->group.beta;
}

/* No group at all; or nothing of the arrays is known: too many groups, or no block for them. */
static uint64_t write_without(const struct call_shape *shape, const struct call_event *event, bool none,
                              struct call_answers answers, uint64_t end_ticks)
{
    static const struct common nothing;
    struct trace_signature signature;
    struct call_shape key = *shape;
    key.m = none ? 0 : TRACE_UNKNOWN;
    uint64_t id = call_write_known(&key, event, answers, end_ticks);
    if (id)
        return id;
    call_signature_fill(&signature, shape, call_scale_type(event));
    call_signature_answer(&signature, answers);
    if (none)
        describe(&signature, &nothing, 0);
    else
        signature.flags |= TRACE_SIGNATURE_ARGS_NOT_READ;
    return call_write_first(&key, event, answers, &signature, end_ticks);
}

static uint64_t write_groups(const struct call_shape *shape, const struct call_event *event,
                             const struct call_groups *g, struct call_answers answers, uint64_t end_ticks)
{
    const size_t size = sizeof(struct trace_groups) + (size_t)g->count * sizeof(struct trace_group);
    struct trace_groups *groups =
        trace_reserve(event->thread, TRACE_RECORD_GROUPS,
                      size + sizeof(struct trace_signature) + sizeof(struct trace_call)); /* all in one block */
    if (!groups)
        return write_without(shape, event, false, answers, end_ticks);
    read_groups(groups, g, event, (uint8_t)(answers.modes >> 32));
    struct call_shape key = *shape; /* what a call of these groups is remembered by */
    key.m = (int64_t)groups->id;
    if (call_is_known(&key, event, answers)) {
        trace_abandon(event->thread);
        return call_write_known(&key, event, answers, end_ticks);
    }
    const struct common common = common_of(groups);
    const uint64_t groups_id = groups->id;
    trace_shrink(groups, size);
    trace_commit(event->thread, groups);
    struct trace_signature signature;
    call_signature_fill(&signature, shape, call_scale_type(event));
    call_signature_answer(&signature, answers);
    describe(&signature, &common, groups_id);
    return call_write_first(&key, event, answers, &signature, end_ticks);
}

static uint64_t write_success(const struct call_shape *shape, struct call_event *event,
                              const struct call_groups *groups, const void *real, uint64_t end_ticks)
{
    const struct call_handle_state state = call_ask_handle(event->handle, real);
    struct call_answers answers = {
        .modes = memo_pair((uint32_t)state.math_mode, call_operation(state.pointer_mode)) | CALL_SCALARS_CLASSIFIED,
    };
    event->stream = state.stream;
    return is_readable(groups) ? write_groups(shape, event, groups, answers, end_ticks)
                               : write_without(shape, event, groups->count == 0, answers, end_ticks);
}

void call_record_end_groups(struct call_shape *shape, struct call_event *event, const struct call_groups *groups,
                            int status, const void *real)
{
    uint64_t end_ticks = clock_ticks();
    bool measured = false;
    if (call_is_unusual(event) && call_ends_here(event, &measured))
        return;
    struct kernel_timing_context *context = kernel_timing_context(event->thread);
    int *error = trace_thread_errno(event->thread), error_before = *error;
    call_shape_complete(shape, event);
    if (status == VENDOR_SUCCESS) {
        kernel_timing_call_end(context, TRACE_OWNER_CALL, write_success(shape, event, groups, real, end_ticks));
    } else {
        call_write_failed(shape, event, status);
        kernel_timing_call_end(context, TRACE_OWNER_NONE, 0);
    }
    call_leave(event->thread);
    *error = error_before;
    if (measured)
        call_measured(event, end_ticks);
}
