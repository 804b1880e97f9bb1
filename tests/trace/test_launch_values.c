/* SPDX-License-Identifier: Apache-2.0 */
/* Parameter values in launch shapes: packed and read back, against bytes laid out by hand; plans and values that don't fit
 * together; and shapes of every size through the writer and the reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/launch_values.h"
#include "trace/trace_reader.h"
#include "trace/trace_writer.h"

static unsigned random_state = 7;

static unsigned pick(unsigned below)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 10) % below;
}

static void words_take_what_they_need(void **state)
{
    (void)state;
    /* 0; 7; 0x1234; 0x12345678; 0xff; 0x100: tags 0, 1, 2, 3, then 1, 2, four a byte from the low bits on */
    const uint32_t words[] = {0, 7, 0x1234, 0x12345678, 0xff, 0x100};
    const unsigned char expected[] = {
        0 | 1 << 2 | 2 << 4 | 3 << 6, 1 | 2 << 2, 7, 0x34, 0x12, 0x78, 0x56, 0x34, 0x12, 0xff, 0x00, 0x01};
    unsigned char packed[LAUNCH_VALUES_PACKED_MOST];
    assert_int_equal(launch_values_pack(words, sizeof words, packed), sizeof expected);
    assert_memory_equal(packed, expected, sizeof expected);
    assert_int_equal(launch_values_pack(words, 0, packed), 0);
}

/* PLAN of the shape "p 4 12 p 8/5 0": five bytes are kept of eight. */
static const struct {
    struct trace_parameter_plan head;
    struct trace_parameter parameter[6];
} plan = {{.count = 6},
          {{8, 0, TRACE_PARAMETER_POINTER, 0, {0}},
           {4, 4, TRACE_PARAMETER_VALUE, 0, {0}},
           {12, 12, TRACE_PARAMETER_VALUE, 0, {0}},
           {8, 0, TRACE_PARAMETER_POINTER, 0, {0}},
           {8, 5, TRACE_PARAMETER_VALUE, 0, {0}},
           {40, 0, TRACE_PARAMETER_VALUE, 0, {0}}}};

static struct trace_launch_values *pack_behind(unsigned char *room, const void *values, unsigned bytes, uint32_t nulls)
{
    struct trace_launch_values *head = (void *)room;
    head->null_pointers = nulls;
    head->value_bytes = (uint16_t)bytes;
    head->packed_bytes = (uint16_t)launch_values_pack(values, bytes, head->packed);
    return head;
}

static void parameters_are_found_by_the_plan(void **state)
{
    (void)state;
    _Alignas(8) unsigned char room[LAUNCH_SHAPE_BYTES_MOST];
    const unsigned char values[24] = {1, 2, 3, 4, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 31, 32, 33, 34, 35};
    const struct trace_launch_pointers pointers = {{0x7000, 0, 0, 0}};
    struct launch_parameters p;
    unsigned kept;
    uint64_t address;
    struct trace_launch_values *head = pack_behind(room, values, sizeof values, 1);
    assert_true(launch_plan_holds(&plan.head) && launch_values_hold(head, head->packed_bytes));
    assert_false(launch_values_hold(head, head->packed_bytes - 1u));
    assert_true(launch_parameters_read(&plan.head, head, &pointers, &p));
    assert_memory_equal(launch_parameter_value(&p, 1, &kept), values, 4);
    assert_int_equal(kept, 4);
    assert_memory_equal(launch_parameter_value(&p, 2, &kept), values + 4, 12);
    assert_memory_equal(launch_parameter_value(&p, 4, &kept), values + 16, 5);
    assert_int_equal(kept, 5);
    assert_null(launch_parameter_value(&p, 0, &kept));
    assert_null(launch_parameter_value(&p, 5, &kept));
    assert_null(launch_parameter_value(&p, 6, &kept));
    assert_int_equal(launch_parameter_pointer(&p, 0, &address), LAUNCH_POINTER_NULL);
    assert_int_equal(launch_parameter_pointer(&p, 3, &address), LAUNCH_POINTER_SET);
    assert_int_equal(address, 0x7000);
    assert_int_equal(launch_parameter_pointer(&p, 1, &address), LAUNCH_POINTER_UNKNOWN);
    pack_behind(room, values, 20, 0);
    assert_false(launch_parameters_read(&plan.head, head, NULL, &p)); /* not what the plan keeps */
}

static void what_does_not_hold_is_told(void **state)
{
    (void)state;
    struct {
        struct trace_parameter_plan head;
        struct trace_parameter parameter[TRACE_PARAMETERS_MOST];
    } p = {{.count = 1}, {{8, 8, TRACE_PARAMETER_VALUE, 0, {0}}}};
    assert_true(launch_plan_holds(&p.head));
    p.parameter[0].kept = 9; /* more than there is */
    assert_false(launch_plan_holds(&p.head));
    p.parameter[0] = (struct trace_parameter){600, 516, TRACE_PARAMETER_VALUE, 0, {0}}; /* more than may be */
    assert_false(launch_plan_holds(&p.head));
    p.parameter[0] = (struct trace_parameter){8, 8, TRACE_PARAMETER_POINTER, 0, {0}};
    assert_false(launch_plan_holds(&p.head));
    p.parameter[0] = (struct trace_parameter){8, 8, 7, 0, {0}};
    assert_false(launch_plan_holds(&p.head));
    p.head.count = TRACE_PARAMETERS_MOST + 1;
    assert_false(launch_plan_holds(&p.head));
    p.head.count = TRACE_PARAMETERS_MOST;
    for (unsigned i = 0; i < TRACE_PARAMETERS_MOST; i++)
        p.parameter[i] = (struct trace_parameter){8, 0, TRACE_PARAMETER_POINTER, 0, {0}};
    assert_false(launch_plan_holds(&p.head)); /* more pointers than bits */
}

static void any_values_come_back(void **state)
{
    (void)state;
    static struct {
        struct trace_parameter_plan head;
        struct trace_parameter whole;
    } one = {{.count = 1}, {0, 0, TRACE_PARAMETER_VALUE, 0, {0}}};
    _Alignas(8) unsigned char room[LAUNCH_SHAPE_BYTES_MOST];
    unsigned char values[TRACE_VALUE_BYTES_MOST];
    for (unsigned round = 0; round < 2000; round++) {
        unsigned bytes = 4 * pick(TRACE_VALUE_BYTES_MOST / 4 + 1);
        for (unsigned i = 0; i < bytes; i++)
            values[i] = (unsigned char)(pick(3) ? 0 : pick(256));
        struct trace_launch_values *head = pack_behind(room, values, bytes, 0);
        struct launch_parameters p;
        one.whole.kept = (uint16_t)bytes;
        assert_true(head->packed_bytes <= LAUNCH_VALUES_PACKED_MOST && launch_values_hold(head, head->packed_bytes));
        assert_true(launch_parameters_read(&one.head, head, NULL, &p));
        assert_memory_equal(p.values, values, bytes);
        if (head->packed_bytes > 1 && values[0]) { /* cut off, or with a word that is larger */
            head->packed_bytes--;
            assert_false(launch_values_hold(head, head->packed_bytes));
        }
    }
}

/* ---- through the writer ---- */

enum { SHAPES = 40, LAUNCHES = 3000 };

static uint32_t content_of(unsigned number, unsigned char *room)
{
    struct trace_launch_shape *shape = (void *)room;
    unsigned char values[TRACE_VALUE_BYTES_MOST];
    unsigned bytes = number * 13 * 4 % (TRACE_VALUE_BYTES_MOST + 4);
    memset(room, 0, LAUNCH_SHAPE_BYTES_MOST);
    shape->name_id = 5;
    shape->grid[0] = 1;
    for (unsigned i = 0; i < bytes; i++)
        values[i] = (unsigned char)(number * (i / 3 + 1));
    struct trace_launch_values *head = pack_behind(room + sizeof *shape, values, bytes, number);
    return (uint32_t)(sizeof *shape + ((sizeof *head + head->packed_bytes + 7u) & ~7u));
}

static void write_launches(const char *folder)
{
    _Alignas(8) unsigned char room[LAUNCH_SHAPE_BYTES_MOST];
    trace_writer_open(folder);
    struct trace_thread *thread = trace_thread_get();
    if (!trace_plan_intern(thread, 5, TRACE_PLAN_NAME, plan.parameter, 6) ||
        !trace_plan_intern(thread, 5, TRACE_PLAN_NAME, plan.parameter, 6))
        _exit(1);
    for (unsigned i = 0; i < LAUNCHES; i++) {
        uint64_t id;
        uint32_t offset, size = content_of(i * 7 % SHAPES, room);
        struct trace_launch *launch =
            trace_reserve_with(thread, TRACE_RECORD_LAUNCH_SHAPE, room, size, TRACE_RECORD_LAUNCH,
                               sizeof *launch + sizeof(struct trace_launch_pointers), &id, &offset);
        if (!launch || id != trace_content_id(room, size))
            _exit(2);
        launch->shape_offset = offset;
        launch->call_id = i + 1;
        ((struct trace_launch_pointers *)(void *)(launch + 1))->pointer[0] = i;
        trace_commit(thread, launch);
    }
    trace_writer_end();
    _exit(0);
}

static struct trace_reader *open_only_trace(const char *folder)
{
    char path[600];
    struct trace_error error;
    struct trace_reader *reader = NULL;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (strstr(e->d_name, TRACE_FILE_SUFFIX)) {
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
            reader = trace_reader_open(path, &error);
        }
    closedir(d);
    return reader;
}

static void shapes_of_any_size_are_read_back(void **state)
{
    (void)state;
    char folder[] = "launch_values.XXXXXX";
    _Alignas(8) unsigned char room[LAUNCH_SHAPE_BYTES_MOST];
    unsigned launches = 0, plans = 0, shapes = 0;
    int status;
    assert_non_null(mkdtemp(folder));
    char *absolute = realpath(folder, NULL);
    if (!fork())
        write_launches(absolute);
    assert_true(wait(&status) > 0 && status == 0);
    struct trace_reader *reader = open_only_trace(folder);
    struct trace_item item;
    assert_non_null(reader);
    while (trace_reader_next(reader, &item)) {
        plans += item.record->type == TRACE_RECORD_PARAMETER_PLAN;
        shapes += item.record->type == TRACE_RECORD_LAUNCH_SHAPE;
        if (item.record->type != TRACE_RECORD_LAUNCH)
            continue;
        uint32_t size = content_of(launches * 7 % SHAPES, room);
        assert_int_equal(item.shape->record.size, size);
        assert_memory_equal((const char *)item.shape + 16, room + 16, size - 16);
        assert_int_equal(launch_pointers((const void *)item.record)->pointer[0], launches);
        launches++;
    }
    assert_int_equal(launches, LAUNCHES);
    assert_int_equal(plans, 1);
    assert_true(shapes < LAUNCHES / 2 && shapes >= SHAPES); /* once a block */
    assert_int_equal(trace_reader_stats(reader)->records_damaged, 0);
    trace_reader_close(reader);
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", absolute);
    assert_int_equal(system(command), 0);
    free(absolute);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_take_what_they_need),        cmocka_unit_test(parameters_are_found_by_the_plan),
        cmocka_unit_test(what_does_not_hold_is_told),       cmocka_unit_test(any_values_come_back),
        cmocka_unit_test(shapes_of_any_size_are_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
