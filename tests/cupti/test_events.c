/* SPDX-License-Identifier: Apache-2.0 */
/* Timing by events: what becomes of calls, of contexts that end and of captures, against a driver that counts each offence. */
#include <errno.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cupti/event_pools.h"
#include "cupti/event_timing.h"
#include "tests/cupti/fake_events.h"
#include "tests/cupti/host.h"
#include "trace/trace_writer.h"

static char context_a, context_b, stream_1, stream_2;

static void start_events(void)
{
    start_with((struct kernel_timing_settings){.events = true});
    CHECK(kernel_timing_state() == KERNEL_TIMING_OFF && event_timing_is_on());
}

/* As the wrappers do; what runs lasts NS. */
static uint64_t call_on(void *stream, uint64_t ns, enum trace_owner owner, uint64_t owner_id)
{
    uint64_t id = next_call_id();
    errno = EDOM;
    kernel_timing_enter(call_context(), stream, id);
    CHECK(errno == EDOM);
    if (stream != EVENT_TIMING_NO_STREAM)
        fake_events_work(stream, ns);
    errno = ERANGE;
    kernel_timing_call_end(call_context(), owner, owner_id);
    CHECK(errno == ERANGE);
    return id;
}

static uint64_t counted_missed(void)
{
    return __atomic_load_n(&trace_writer_counters()->calls_without_events, __ATOMIC_RELAXED);
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Until a call finds a pair; how many did not. */
static uint64_t warm_up(void *stream)
{
    uint64_t before = counted_missed(), last;
    do {
        nap();
        last = counted_missed();
        call_on(stream, 10, TRACE_OWNER_NONE, 0);
    } while (counted_missed() != last);
    return last - before;
}

static void start_in(void *context, void *stream)
{
    fake_events_use_context(context);
    start_events();
    CHECK(warm_up(stream) == 0); /* the events of the context at the start are there at once */
}

static void no_offences(void)
{
    for (int i = 0; i < FAKE_OFFENCES; i++)
        if (fake_events_offences(i))
            check_or_exit(false, "offences", __FILE__, i);
}

static const struct trace_kernel *call_of(const struct trace_content *c, uint64_t call_id)
{
    const struct trace_kernel *found = NULL;
    for (size_t i = 0; i < c->kernel_count; i++)
        if (c->kernels[i].call_id == call_id) {
            CHECK(!found);
            found = &c->kernels[i];
        }
    return found;
}

static void timed(void)
{
    struct trace_content c;
    uint64_t id[4];
    start_in(&context_a, &stream_1);
    fake_events_reach(1000000);
    fake_events_work(&stream_1, 1000000); /* the stream is busy, so that times are those of the work alone */
    id[0] = call_on(&stream_1, 7000, TRACE_OWNER_CALL, 5);
    id[1] = call_on(&stream_2, 9000, TRACE_OWNER_LAUNCH, 6);
    id[2] = call_on(&stream_1, 11000, TRACE_OWNER_CALL, 7);
    id[3] = call_on(&stream_1, 13000, TRACE_OWNER_NONE, 0); /* failed */
    fake_events_reach(2000000);
    finish_and_read(&c);
    CHECK(c.kernel_count == 3 && !call_of(&c, id[3]));
    const struct trace_kernel *first = call_of(&c, id[0]), *other = call_of(&c, id[1]), *last = call_of(&c, id[2]);
    CHECK(first && other && last);
    CHECK(first->end_ns - first->start_ns == 7000 && other->end_ns - other->start_ns == 9000);
    CHECK(last->end_ns - last->start_ns == 11000 && last->start_ns == first->end_ns);
    CHECK(first->start_ns - other->start_ns == 1000000);
    CHECK(first->owner == TRACE_OWNER_CALL && first->owner_id == 5 && first->join == TRACE_JOIN_EVENTS);
    CHECK(other->owner == TRACE_OWNER_LAUNCH && other->owner_id == 6 && other->name_id == 0);
    CHECK(first->stream != other->stream && first->context == other->context && first->device == 0);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t since = (uint64_t)now.tv_sec * second_ns + (uint64_t)now.tv_nsec - first->start_ns;
    CHECK(since < 3600 * second_ns);
    CHECK(content_note(&c, TRACE_NOTE_TIMING_ON) && !content_note(&c, TRACE_NOTE_TIMING_OFF));
    CHECK(fake_cupti_calls("cuptiSubscribe") == 0);
    no_offences();
}

static void captured(void)
{
    struct trace_content c;
    start_in(&context_a, &stream_1);
    uint64_t missed = counted_missed();
    fake_cuda_set_capturing(&stream_2, 1);
    uint64_t inside = call_on(&stream_2, 5000, TRACE_OWNER_CALL, 5);
    uint64_t beside = call_on(&stream_1, 6000, TRACE_OWNER_CALL, 6);
    uint64_t begun = next_call_id(); /* another thread's capture takes the stream while the call is under way */
    kernel_timing_enter(call_context(), &stream_1, begun);
    fake_cuda_set_capturing(&stream_1, 1);
    kernel_timing_call_end(call_context(), TRACE_OWNER_CALL, 7);
    fake_events_reach(1000000);
    for (int i = 0; i < 30; i++)
        nap(); /* the thread looks while the capture is on */
    fake_cuda_set_capturing(NULL, 0);
    finish_and_read(&c);
    CHECK(c.kernel_count == 1 && call_of(&c, beside) && !call_of(&c, inside) && !call_of(&c, begun));
    CHECK(c.counters.calls_without_events == missed + 1);
    no_offences();
}

static void more_calls_than_pairs(void)
{
    enum { CALLS = EVENT_PAIRS_MOST + 500 };
    struct trace_content c;
    start_in(&context_a, &stream_1);
    uint64_t missed = counted_missed();
    fake_events_work(&stream_1, 1000000); /* nothing gets through */
    for (int i = 0; i < CALLS; i++)
        call_on(&stream_1, 100, TRACE_OWNER_CALL, 5);
    uint64_t without = counted_missed() - missed;
    CHECK(without >= 500 && without < CALLS);
    fake_events_reach(second_ns);
    while (warm_up(&stream_1)) /* the pool grows, and pairs come back */
        ;
    finish_and_read(&c);
    CHECK(c.kernel_count == CALLS - without);
    CHECK(fake_events_made() > 2 * EVENT_PAIRS_FIRST && fake_events_made() <= 2 * EVENT_PAIRS_MOST + 2);
    no_offences();
}

static void few_events(void)
{
    struct trace_content c;
    fake_events_refuse_create_after(2 * 8 + 2); /* and two anchors */
    start_in(&context_a, &stream_1);
    uint64_t missed = counted_missed();
    fake_events_work(&stream_1, 1000000);
    for (int i = 0; i < 20; i++)
        call_on(&stream_1, 100, TRACE_OWNER_CALL, 5);
    fake_events_reach(second_ns);
    finish_and_read(&c);
    CHECK(c.kernel_count == 8 && c.counters.calls_without_events == missed + 12);
    no_offences();
}

static void contexts_end(void)
{
    struct trace_content c;
    start_in(&context_a, &stream_1);
    uint64_t lost = call_on(&stream_1, 50000000, TRACE_OWNER_CALL, 5); /* not through when its context goes */
    fake_events_use_context(&context_b);
    warm_up(&stream_2);
    uint64_t kept = call_on(&stream_2, 100, TRACE_OWNER_CALL, 6);
    uint32_t held = event_pools_hold(&context_a, -1);
    CHECK(held);
    fake_events_destroy_context(&context_a);
    event_pools_release(held, true);
    fake_events_reach(1000000);
    for (int i = 0; i < 10; i++)
        nap();
    held = event_pools_hold(&context_b, -1); /* it was not destroyed after all */
    CHECK(held);
    event_pools_release(held, false);
    uint64_t again = call_on(&stream_2, 100, TRACE_OWNER_CALL, 7);
    fake_events_use_context(&context_a); /* a new one at the same address */
    warm_up(&stream_1);
    uint64_t anew = call_on(&stream_1, 100, TRACE_OWNER_CALL, 8);
    fake_events_reach(second_ns);
    finish_and_read(&c);
    CHECK(!call_of(&c, lost) && call_of(&c, kept) && call_of(&c, again) && call_of(&c, anew));
    CHECK(call_of(&c, anew)->context != call_of(&c, kept)->context);
    no_offences();
}

static void many_contexts(void)
{
    static char contexts[EVENT_POOLS * 3];
    struct trace_content c;
    start_in(&context_a, &stream_1);
    for (unsigned i = 0; i < sizeof contexts; i++) {
        fake_events_use_context(&contexts[i]);
        warm_up(&stream_1);
        uint32_t held = event_pools_hold(&contexts[i], -1);
        fake_events_destroy_context(&contexts[i]);
        event_pools_release(held, true);
    }
    finish_and_read(&c);
    no_offences();
}

static void refused(void)
{
    struct trace_content c;
    start_in(&context_a, &stream_1);
    uint64_t missed = counted_missed();
    fake_events_refuse_record(400);
    call_on(&stream_1, 100, TRACE_OWNER_CALL, 5);
    fake_events_refuse_record(0);
    call_on(EVENT_TIMING_NO_STREAM, 100, TRACE_OWNER_CALL, 5);
    fake_events_use_context(NULL);
    call_on(&stream_1, 100, TRACE_OWNER_CALL, 5);
    fake_events_use_context(&context_a);
    uint64_t timed_call = call_on(&stream_1, 100, TRACE_OWNER_CALL, 5);
    fake_events_reach(1000000);
    finish_and_read(&c);
    CHECK(c.kernel_count == 1 && call_of(&c, timed_call) && c.counters.calls_without_events == missed + 3);
    no_offences();
}

/* A call that is left by a jump never comes to its end. */
static void left_by_a_jump(void)
{
    struct trace_content c;
    fake_events_refuse_create_after(2 + 2 * 8);
    start_in(&context_a, &stream_1);
    uint64_t missed = counted_missed();
    for (int i = 0; i < 100; i++)
        kernel_timing_enter(call_context(), &stream_1, next_call_id());
    uint64_t whole = call_on(&stream_1, 100, TRACE_OWNER_CALL, 5);
    fake_events_reach(1000000);
    finish_and_read(&c);
    CHECK(c.kernel_count == 1 && call_of(&c, whole) && c.counters.calls_without_events == missed);
}

static void forked_child(void)
{
    struct trace_content c;
    start_in(&context_a, &stream_1);
    pid_t child = fork();
    if (child == 0) {
        uint32_t ticket = event_timing_is_on() ? event_timing_before(&stream_1) : 0;
        _exit(event_timing_is_on() || ticket != 0);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    finish_and_read(&c);
    CHECK(!event_timing_is_on());
}

static const struct scenario scenarios[] = {
    {"timed", timed},
    {"captured", captured},
    {"more_calls_than_pairs", more_calls_than_pairs},
    {"few_events", few_events},
    {"contexts_end", contexts_end},
    {"many_contexts", many_contexts},
    {"refused", refused},
    {"left_by_a_jump", left_by_a_jump},
    {"forked_child", forked_child},
};

int main(int argc, char **argv)
{
    return host_run(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
}
