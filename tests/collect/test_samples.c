/* SPDX-License-Identifier: Apache-2.0 */
/* Every record is as likely to be a sample as any other: how many come from each tenth of a run, over many seeds, against
 * what a binomial distribution allows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collect/record_samples.h"

enum { SEEDS = 60, RECORDS = 10 * RECORD_SAMPLES };

static const struct trace_block_header block = {.tid = 77, .ticks_per_second = 5, .anchor_ticks = 6};
static const struct trace_signature signature = {.id = 4711};

static void offer(struct record_samples *samples, uint64_t call_id)
{
    struct trace_call call = {.record = {.type = TRACE_RECORD_CALL, .size = sizeof call}, .call_id = call_id};
    struct trace_item item = {.block = &block, .record = &call.record, .signature = &signature};
    record_samples_offer(samples, &item);
}

struct tally {
    uint64_t of_tenth[10], all;
    bool seen[RECORDS];
};

static void count(void *context, const struct trace_signature *before, struct trace_record *record)
{
    struct tally *tally = context;
    const struct trace_sample *sample = (const void *)record;
    const struct trace_call *call = (const void *)sample->bytes;
    assert_null(before);
    assert_int_equal(record->type, TRACE_RECORD_SAMPLE);
    assert_int_equal(record->size, sizeof *sample + sizeof *call);
    assert_int_equal(sample->content_id, signature.id);
    assert_int_equal(sample->tid, block.tid);
    assert_int_equal(call->record.type, TRACE_RECORD_CALL);
    assert_true(call->call_id < RECORDS && !tally->seen[call->call_id]); /* none twice */
    tally->seen[call->call_id] = true;
    tally->of_tenth[call->call_id / (RECORDS / 10)]++;
    tally->all++;
}

static void each_record_is_as_likely(void **state)
{
    static struct tally tally;
    uint64_t of_tenth[10] = {0};
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct record_samples samples;
        record_samples_open(&samples, seed);
        for (uint64_t i = 0; i < RECORDS; i++)
            offer(&samples, i);
        memset(&tally, 0, sizeof tally);
        record_samples_write(&samples, count, &tally);
        assert_int_equal(tally.all, RECORD_SAMPLES);
        assert_int_equal(samples.offered, RECORDS);
        for (int t = 0; t < 10; t++)
            of_tenth[t] += tally.of_tenth[t];
        record_samples_close(&samples);
    }
    /* Each of RECORDS * SEEDS / 10 records with a chance of 1/10: five standard deviations. */
    double trials = (double)RECORDS * SEEDS / 10, mean = trials / 10, allowed = 5 * sqrt(trials * 0.1 * 0.9);
    for (int t = 0; t < 10; t++)
        assert_true(fabs((double)of_tenth[t] - mean) <= allowed);
}

static void fewer_are_all_kept(void **state)
{
    static struct tally tally;
    struct record_samples samples;
    struct trace_end end = {.record = {.type = TRACE_RECORD_END, .size = sizeof end}};
    (void)state;
    record_samples_open(&samples, 1);
    for (uint64_t i = 0; i < 100; i++)
        offer(&samples, i);
    record_samples_offer(&samples, &(struct trace_item){.block = &block, .record = &end.record}); /* no such sample */
    memset(&tally, 0, sizeof tally);
    record_samples_write(&samples, count, &tally);
    assert_int_equal(tally.all, 100);
    assert_int_equal(samples.offered, 100);
    record_samples_close(&samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_record_is_as_likely),
        cmocka_unit_test(fewer_are_all_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
