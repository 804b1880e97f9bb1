/* SPDX-License-Identifier: Apache-2.0 */
/* record_silence.c, told by hand of launches and flushes: it speaks where launches go on and no record comes, and stays silent
 * over a program that pauses, compiles or captures, whatever was heard just before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cupti/record_silence.h"
#include "cupti/timing_mode.h"
#include "trace/trace_writer.h"

static const uint64_t ms = 1000000;
static enum trace_timing_mode mode = TRACE_TIMING_NODE;
static int notes;
/* What the code under test keeps for the whole process: records never go back, time neither. */
static uint64_t seen, now_ns = 1000000000;

enum trace_timing_mode timing_mode_now(void)
{
    return mode;
}

struct trace_thread *trace_thread_get(void)
{
    return NULL;
}

void trace_note(struct trace_thread *thread, enum trace_note_code code, int32_t value, const char *format, ...)
{
    (void)thread;
    (void)value;
    (void)format;
    assert_int_equal(code, TRACE_NOTE_NO_RECORDS);
    notes++;
}

static void flush_after(uint64_t wait_ms, bool last)
{
    now_ns += wait_ms * ms;
    record_silence_flushed(seen, now_ns, last);
}

static void test_record_before_its_launch(void **state)
{
    (void)state;
    seen++;
    flush_after(200, false);
    record_silence_launched(); /* of that record, or of a buffer that CUPTI asked for in advance */
    for (uint64_t wait_ms = 200; wait_ms < 100000; wait_ms *= 2)
        flush_after(wait_ms, false);
    assert_int_equal(notes, 0);
    record_silence_launched(); /* after a long pause: its record is due with a later flush */
    flush_after(60000, false);
    flush_after(200, false);
    assert_int_equal(notes, 0);
    seen++;
    flush_after(200, false);
}

static void test_few_launches_with_records(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        record_silence_launched();
        flush_after(3000, false);
        seen++;
        flush_after(200, false);
    }
    assert_int_equal(notes, 0);
}

static void test_end_after_records(void **state)
{
    (void)state;
    record_silence_launched();
    flush_after(200, true);
    assert_int_equal(notes, 0);
}

static void test_not_while_sampled(void **state)
{
    (void)state;
    mode = TRACE_TIMING_SAMPLED;
    for (int i = 0; i < 100; i++) {
        record_silence_launched();
        flush_after(200, false);
    }
    assert_int_equal(notes, 0);
    mode = TRACE_TIMING_NODE;
    seen++;
    flush_after(200, false);
}

/* 5 s are 25 flushes of 200 ms: not after 24, once after more. */
static void test_silence(void **state)
{
    (void)state;
    for (int i = 0; i < 24; i++) {
        record_silence_launched();
        flush_after(200, false);
    }
    assert_int_equal(notes, 0);
    for (int i = 0; i < 50; i++) {
        record_silence_launched();
        flush_after(200, false);
    }
    assert_int_equal(notes, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record_before_its_launch),
        cmocka_unit_test(test_few_launches_with_records),
        cmocka_unit_test(test_end_after_records),
        cmocka_unit_test(test_not_while_sampled),
        cmocka_unit_test(test_silence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
