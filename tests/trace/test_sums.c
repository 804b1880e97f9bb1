/* SPDX-License-Identifier: Apache-2.0 */
/* Records of trace_sums.h: each as it should be is read, and with any one field that can't be is damage. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/trace/trace_fixture.h"
#include "trace/trace_sums.h"

/* Of one field at OFFSET, BYTES long: a value that can't be. */
struct fault {
    uint16_t type;
    size_t offset, bytes;
    uint64_t value;
};

#define FIELD(record, field) offsetof(struct record, field), sizeof(((struct record *)0)->field)
#define NOT_A_NUMBER         0x7ff8000000000000ull
#define MINUS_ONE            0xbff0000000000000ull

/* clang-format off */
static const struct fault faults[] = {
    {TRACE_RECORD_SUM_PROCESS,  FIELD(trace_sum_process, final), 2},
    {TRACE_RECORD_SUM_PROCESS,  offsetof(struct trace_sum_process, rows), 8, NOT_A_NUMBER},
    {TRACE_RECORD_SUM_PROCESS,  offsetof(struct trace_sum_process, rows) + 16, 8, MINUS_ONE},
    {TRACE_RECORD_SUM_CALLS,    FIELD(trace_sum_calls, signature_offset), 0},
    {TRACE_RECORD_SUM_CALLS,    FIELD(trace_sum_calls, groups_known), 2},
    {TRACE_RECORD_SUM_CALLS,    FIELD(trace_sum_calls, groups_at_most), 7},
    {TRACE_RECORD_SUM_CALLS,    FIELD(trace_sum_calls, groups_flops), NOT_A_NUMBER},
    {TRACE_RECORD_SUM_CALLS,    FIELD(trace_sum_calls, groups_bytes), MINUS_ONE},
    {TRACE_RECORD_SUM_KERNELS,  FIELD(trace_sum_kernels, of_call), 2},
    {TRACE_RECORD_SUM_KERNELS,  FIELD(trace_sum_kernels, grids_left_out), 2},
    {TRACE_RECORD_SUM_KERNELS,  FIELD(trace_sum_kernels, bucket_count), 3},          /* more than there are */
    {TRACE_RECORD_SUM_KERNELS,  FIELD(trace_sum_kernels, bucket_count), 0x40000001},
    {TRACE_RECORD_SUM_KERNELS,  sizeof(struct trace_sum_kernels), 8, 40ull << 48 | 1},/* not ascending */
    {TRACE_RECORD_SUM_KERNELS,  sizeof(struct trace_sum_kernels) + 8, 8, 1920ull << 48 | 1},
    {TRACE_RECORD_SUM_SHAPE_KERNELS, FIELD(trace_sum_shape_kernels, shape_id), 0},
    {TRACE_RECORD_SUM_SHAPE_KERNELS, FIELD(trace_sum_shape_kernels, bucket_count), 3},
    {TRACE_RECORD_SUM_SHAPE_KERNELS, FIELD(trace_sum_shape_kernels, bucket_count), 0x40000001},
    {TRACE_RECORD_SUM_SHAPE_KERNELS, sizeof(struct trace_sum_shape_kernels), 8, 40ull << 48 | 1},
    {TRACE_RECORD_SUM_HELPER,   FIELD(trace_sum_helper, shape_id), 0},
    {TRACE_RECORD_SUM_HELPER,   FIELD(trace_sum_helper, served_id), 0},
    {TRACE_RECORD_SUM_HELPER,   FIELD(trace_sum_helper, served), 0},
    {TRACE_RECORD_SUM_HELPER,   FIELD(trace_sum_helper, served), 3},
    {TRACE_RECORD_SUM_DEVICE,   FIELD(trace_sum_device, busy_known), 2},
    {TRACE_RECORD_SUM_BUSY,     FIELD(trace_sum_busy, count), 3},
    {TRACE_RECORD_SUM_BUSY,     FIELD(trace_sum_busy, count), 0x20000001},
    {TRACE_RECORD_SUM_BUSY,     sizeof(struct trace_sum_busy) + 8, 8, 5},            /* ends before it starts */
    {TRACE_RECORD_SUM_BUSY,     sizeof(struct trace_sum_busy) + 16, 8, 11},          /* busy for longer than it is */
    {TRACE_RECORD_SUM_ACTIVITY, FIELD(trace_sum_activity, known), 2},
    {TRACE_RECORD_SUM_ACTIVITY, FIELD(trace_sum_activity, count), 3},
    {TRACE_RECORD_SUM_ACTIVITY, FIELD(trace_sum_activity, count), 0x20000001},
    {TRACE_RECORD_SUM_ACTIVITY, sizeof(struct trace_sum_activity) + 8, 8, 5},
    {TRACE_RECORD_SUM_ACTIVITY, sizeof(struct trace_sum_activity) + 16, 8, 11},
    {TRACE_RECORD_SUM_SEQUENCE, FIELD(trace_sum_sequence, kind), 3},
    {TRACE_RECORD_SUM_SEQUENCE, FIELD(trace_sum_sequence, kind), TRACE_SEQUENCE_ATTENTION}, /* of three */
    {TRACE_RECORD_SUM_SEQUENCE, FIELD(trace_sum_sequence, count), 1},
    {TRACE_RECORD_SUM_SEQUENCE, FIELD(trace_sum_sequence, count), 9},
    {TRACE_RECORD_SUM_SEQUENCE, FIELD(trace_sum_sequence, scores_read), 2},
    {TRACE_RECORD_SAMPLE,       FIELD(trace_sample, record_bytes), 12},
    {TRACE_RECORD_SAMPLE,       FIELD(trace_sample, record_bytes), 0},
    {TRACE_RECORD_SAMPLE,       FIELD(trace_sample, record_bytes), 0xfffffff8},
    {TRACE_RECORD_SAMPLE,       FIELD(trace_sample, content_bytes), 8},
    {TRACE_RECORD_SAMPLE,       FIELD(trace_sample, content_bytes), 0x1000},
    {TRACE_RECORD_SAMPLE,       sizeof(struct trace_sample), 2, TRACE_RECORD_NOTE},  /* no sample is one */
    {TRACE_RECORD_SAMPLE,       sizeof(struct trace_sample), 2, 200},
    {TRACE_RECORD_SAMPLE,       sizeof(struct trace_sample) + 2, 2, 56},             /* not as long as is said */
    {TRACE_RECORD_SAMPLE,       sizeof(struct trace_sample) + sizeof(struct trace_launch), 2, TRACE_RECORD_SIGNATURE},
};
/* clang-format on */

/* Damaged records of a block with one record of TYPE, FAULT in it unless NULL. */
static uint64_t damaged(uint16_t type, const struct fault *fault)
{
    struct builder b = {0};
    struct seen seen;
    struct trace_error error;
    builder_block(&b, TRACE_BLOCK_RECORDS);
    uint32_t signature = builder_signature(&b, 4), at = builder_sum(&b, type, signature);
    if (fault)
        memcpy((unsigned char *)builder_record(&b, at) + fault->offset, &fault->value, fault->bytes);
    builder_end(&b);
    builder_seal(&b);
    assert_true(read_all(trace_reader_open_memory(b.bytes, b.size, &error), &seen, NULL, NULL));
    assert_int_equal(seen.of_type[type] + seen.stats.records_damaged, 1);
    assert_int_equal(seen.stats.blocks_damaged, 0);
    builder_free(&b);
    return seen.stats.records_damaged;
}

static void whole_ones_are_read(void **state)
{
    (void)state;
    for (uint16_t type = TRACE_RECORD_SUM_PROCESS; type <= TRACE_RECORD_ROTATED; type++)
        assert_int_equal(damaged(type, NULL), 0);
}

static void each_fault_is_damage(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        if (!damaged(faults[i].type, &faults[i]))
            fail_msg("row %zu of faults is taken for a good record", i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_ones_are_read),
        cmocka_unit_test(each_fault_is_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
