/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the tables of cupti/, and tries the join's table by itself: from many threads, and with what must not be believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "cupti/activity_buffers.h"
#include "cupti/cupti_versions.h"
#include "cupti/kernel_timing.h"
#include "cupti/launch_join.h"

static void versions_ascend(void **state)
{
    (void)state;
    for (unsigned i = 0; i < cupti_version_count; i++) {
        const struct cupti_version *v = &cupti_versions[i];
        assert_true(v->cuda && *v->cuda && v->kernel_bytes >= 160 && v->kernel_bytes % 8 == 0);
        if (i > 0) {
            assert_true(v->api_version > v[-1].api_version);
            assert_true(v->kernel_bytes >= v[-1].kernel_bytes);       /* records only grow */
            assert_int_equal(v->fields & v[-1].fields, v[-1].fields); /* and keep what they had */
        }
        bool exact = false;
        assert_ptr_equal(cupti_version_find(v->api_version, &exact), v);
        assert_true(exact);
    }
}

static void versions_between_and_beyond(void **state)
{
    (void)state;
    bool exact = true;
    assert_null(cupti_version_find(16, &exact));
    assert_false(exact);
    assert_string_equal(cupti_version_find(19, &exact)->cuda, "11.8 to 12.1");
    assert_false(exact);
    assert_string_equal(cupti_version_find(UINT32_MAX, &exact)->cuda, cupti_versions[cupti_version_count - 1].cuda);
    assert_false(exact);
}

static void results_have_a_text(void **state)
{
    (void)state;
    assert_non_null(strstr(cupti_result_text(39), "another profiler"));
    assert_non_null(strstr(cupti_result_text(35), "administrator"));
    assert_string_equal(cupti_result_text(-5), "unknown result");
}

static void join_knows_only_what_was_noted(void **state)
{
    (void)state;
    struct launch_owner owner;
    uint32_t chain = 0;
    assert_true(launch_join_open(true));
    assert_int_equal(launch_join_find(0, &owner), LAUNCH_JOIN_UNSEEN); /* an untouched entry is not the id 0 */
    launch_join_note(7, 100, &chain);
    launch_join_note(9, 100, &chain);
    assert_int_equal(launch_join_find(7, &owner), LAUNCH_JOIN_PENDING);
    assert_int_equal(owner.call_id, 100);
    assert_int_equal(launch_join_publish(chain, 2, 100, TRACE_OWNER_CALL, 55), 0);
    assert_int_equal(launch_join_find(7, &owner), LAUNCH_JOIN_FOUND);
    assert_true(owner.call_id == 100 && owner.owner_id == 55 && owner.owner == TRACE_OWNER_CALL);
    assert_int_equal(launch_join_find(7 + LAUNCH_JOIN_ENTRIES, &owner), LAUNCH_JOIN_UNSEEN);
    assert_int_equal(owner.call_id, 0);
    /* The end of a call that isn't the entry's gives it nothing. */
    chain = 0;
    launch_join_note(20, 101, &chain);
    assert_int_equal(launch_join_publish(chain, 1, 102, TRACE_OWNER_CALL, 66), 1);
    assert_int_equal(launch_join_find(20, &owner), LAUNCH_JOIN_PENDING);
}

/* Threads write the same few entries at once while one reads: it may find nothing, but never somebody else's owner. */
enum { WRITERS = 4, ROUNDS = 200000, SHARED_ENTRIES = 4 };
static _Atomic bool done;

static void *collide(void *argument)
{
    uint64_t self = (uintptr_t)argument;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint32_t chain = 0;
        uint64_t call_id = self << 32 | i;
        uint32_t correlation = (uint32_t)((self * 16 + i % 16) * LAUNCH_JOIN_ENTRIES + i % SHARED_ENTRIES);
        launch_join_note(correlation, call_id, &chain);
        launch_join_publish(chain, 1, call_id, TRACE_OWNER_CALL, call_id ^ 0x5555);
    }
    return NULL;
}

static void *look(void *found)
{
    struct launch_owner owner;
    while (!done)
        for (uint32_t self = 1; self <= WRITERS; self++)
            for (uint32_t i = 0; i < 16 * SHARED_ENTRIES; i++) {
                uint32_t correlation = (self * 16 + i % 16) * LAUNCH_JOIN_ENTRIES + i % SHARED_ENTRIES;
                if (launch_join_find(correlation, &owner) != LAUNCH_JOIN_FOUND)
                    continue;
                ++*(uint64_t *)found;
                if (owner.owner_id != (owner.call_id ^ 0x5555) || owner.call_id >> 32 != self)
                    return "somebody else's";
            }
    return NULL;
}

static void join_never_mixes_threads(void **state)
{
    (void)state;
    pthread_t writers[WRITERS], reader;
    uint64_t found = 0;
    void *fault = NULL;
    assert_true(launch_join_open(false));
    assert_int_equal(pthread_create(&reader, NULL, look, &found), 0);
    for (uintptr_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, collide, (void *)(i + 1)), 0);
    for (unsigned i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    done = true;
    pthread_join(reader, &fault);
    assert_null(fault);
    assert_true(found > 0);
}

/* A record may be read at the very moment at which the call ends: then it has to wait, not to count as never noted. */
static _Atomic uint32_t noted;

static void *note_and_end(void *unused)
{
    for (uint32_t id = 1; id <= ROUNDS; id++) {
        uint32_t chain = 0;
        launch_join_note(id, id, &chain);
        noted = id;
        launch_join_publish(chain, 1, id, TRACE_OWNER_CALL, id);
    }
    return unused;
}

static void join_waits_for_a_call_that_ends(void **state)
{
    (void)state;
    pthread_t writer;
    struct launch_owner owner;
    unsigned looks = 0, unseen = 0;
    assert_true(launch_join_open(false));
    noted = 0;
    assert_int_equal(pthread_create(&writer, NULL, note_and_end, NULL), 0);
    while (noted < ROUNDS) {
        uint32_t id = noted;
        looks += id != 0;
        unseen += id && launch_join_find(id, &owner) == LAUNCH_JOIN_UNSEEN;
    }
    pthread_join(writer, NULL);
    assert_true(looks > 0);
    assert_int_equal(unseen, 0);
}

static void external_comes_in_any_order(void **state)
{
    (void)state;
    struct launch_owner owner;
    assert_true(launch_join_open(true));
    uint32_t chain = 0;
    launch_join_note(ROUNDS + 3000, 899, &chain); /* callbacks may give the id to another launch */
    assert_int_equal(launch_join_external_find(ROUNDS + 3000, &owner), LAUNCH_JOIN_UNSEEN);
    launch_join_external_note(ROUNDS + 3000, 900);
    assert_int_equal(launch_join_find(ROUNDS + 3000, &owner), LAUNCH_JOIN_PENDING);
    assert_int_equal(owner.call_id, 899);
    assert_int_equal(launch_join_external_find(ROUNDS + 3000, &owner), LAUNCH_JOIN_PENDING);
    launch_join_external_publish(900, TRACE_OWNER_LAUNCH_VALUES, 44);
    assert_int_equal(launch_join_external_find(ROUNDS + 3000, &owner), LAUNCH_JOIN_FOUND);
    assert_true(owner.call_id == 900 && owner.owner_id == 44 && owner.owner == TRACE_OWNER_LAUNCH_VALUES);
}

static bool pass(uint8_t *buffer, size_t valid_bytes)
{
    assert_int_equal(buffer[valid_bytes - 1], 1);
    return true;
}

static size_t resident_pages(uint8_t *buffer, size_t bytes)
{
    unsigned char pages[64];
    size_t count = bytes / 4096, resident = 0;
    assert_int_equal(mincore(buffer, bytes, pages), 0);
    for (size_t i = 0; i < count; i++)
        resident += pages[i] & 1;
    return resident;
}

/* Memory that CUPTI filled because nobody came to read it goes back; that of every day stays. */
static void burst_is_given_back(void **state)
{
    enum { COUNT = 20, BYTES = 65536, PAGES = BYTES / 4096 };
    uint8_t *buffers[COUNT];
    size_t bytes, kept = 0;
    (void)state;
    assert_true(activity_buffers_open(COUNT, BYTES));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            buffers[i] = activity_buffers_request(&bytes);
            assert_int_equal(bytes, BYTES);
            memset(buffers[i], 1, BYTES);
        }
        for (int i = 0; i < COUNT; i++)
            activity_buffers_complete(buffers[i], BYTES);
        assert_int_equal(activity_buffers_take(pass), COUNT);
    }
    for (int i = 0; i < COUNT; i++)
        kept += resident_pages(buffers[i], BYTES);
    assert_int_equal(kept, 8 * PAGES);
    assert_int_equal(resident_pages(buffers[0], BYTES), PAGES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_ascend),
        cmocka_unit_test(versions_between_and_beyond),
        cmocka_unit_test(results_have_a_text),
        cmocka_unit_test(join_knows_only_what_was_noted),
        cmocka_unit_test(join_never_mixes_threads),
        cmocka_unit_test(join_waits_for_a_call_that_ends),
        cmocka_unit_test(external_comes_in_any_order),
        cmocka_unit_test(burst_is_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
