/* SPDX-License-Identifier: Apache-2.0 */
/* The page of `rooftap ctl`: who may map it, places of processes, commands by age, and marks under many writers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/timing_control.h"
#include "trace_fixture.h"

static char folder[PATH_MAX], file[PATH_MAX + 32];

static int begin(void **state)
{
    (void)state;
    folder_make(folder);
    snprintf(file, sizeof file, "%s/" TIMING_CONTROL_FILE, folder);
    return 0;
}

static int end(void **state)
{
    (void)state;
    folder_remove(folder);
    return 0;
}

static struct timing_control *made(void)
{
    assert_true(timing_control_make(folder));
    struct timing_control *page = timing_control_map(folder);
    assert_non_null(page);
    return page;
}

static void only_ones_own_is_mapped(void **state)
{
    (void)state;
    assert_null(timing_control_map(folder));
    assert_int_equal(errno, ENOENT);
    struct timing_control *page = made(), *again;
    page->word = 77;
    assert_true(timing_control_make(folder)); /* it is there: as good, and left alone */
    again = timing_control_map_file(file);
    assert_non_null(again);
    assert_int_equal(again->word, 77);
    timing_control_unmap(again);
    assert_int_equal(chmod(file, 0640), 0);
    assert_null(timing_control_map(folder));
    assert_int_equal(errno, EPERM);
    assert_int_equal(chmod(file, 0600), 0);
    page->version++;
    assert_null(timing_control_map(folder));
    assert_int_equal(errno, EPROTO);
    page->version--;
    timing_control_unmap(page);
    assert_int_equal(truncate(file, 100), 0);
    assert_null(timing_control_map(folder));
    assert_int_equal(errno, EPROTO);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(symlink("/dev/zero", file), 0);
    assert_null(timing_control_map(folder));
    assert_int_equal(unlink(file), 0);
    assert_int_equal(mkfifo(file, 0600), 0);
    assert_null(timing_control_map(folder)); /* and nobody waits for its other end */
}

static void no_draft_is_left(void **state)
{
    (void)state;
    char command[PATH_MAX + 64];
    timing_control_unmap(made());
    snprintf(command, sizeof command, "test \"$(ls -A '%s')\" = " TIMING_CONTROL_FILE, folder);
    assert_int_equal(system(command), 0);
    assert_false(timing_control_make("/nonexistent/folder"));
    assert_int_equal(errno, ENOENT);
}

static void places_are_given_once_and_again(void **state)
{
    (void)state;
    struct timing_control *page = made();
    uint32_t pid_namespace;
    uint64_t own = timing_control_own(&pid_namespace);
    struct timing_control_process *place = timing_control_join(page, own, pid_namespace);
    assert_non_null(place);
    assert_ptr_equal(timing_control_join(page, own, pid_namespace), place);
    assert_ptr_equal(timing_control_find(page, own), place);
    timing_control_leave(place, own + 1); /* not its own */
    assert_ptr_equal(timing_control_find(page, own), place);
    timing_control_leave(place, own);
    assert_null(timing_control_find(page, own));

    pid_t child = fork(); /* a number that was a process's, and is none's */
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    for (uint64_t i = 0; i < TIMING_CONTROL_PROCESSES; i++) /* all live here, one is dead */
        assert_non_null(
            timing_control_join(page, timing_control_owner(i == 100 ? child : (int)getpid(), 1000 + i), pid_namespace));
    place = timing_control_join(page, own, pid_namespace);
    assert_non_null(place);
    assert_ptr_equal(place, &page->processes[100]);
    assert_null(timing_control_join(page, own + ((uint64_t)1 << 40), pid_namespace));
    timing_control_unmap(page);
}

static void the_newest_command_holds(void **state)
{
    (void)state;
    struct timing_control *page = made();
    uint64_t own = timing_control_owner(1, 2);
    struct timing_control_process *place = timing_control_join(page, own, 0);
    assert_int_equal(timing_control_word(page, place), 0);
    uint64_t first = timing_control_give(&page->word, TIMING_COMMAND_STOP);
    assert_int_equal(timing_control_word(page, place), first);
    assert_int_equal(timing_control_word(page, NULL), first);
    usleep(10);
    uint64_t second = timing_control_give(&place->word, TIMING_COMMAND_START);
    assert_true(second > first && timing_command_of(second) == TIMING_COMMAND_START);
    assert_int_equal(timing_control_word(page, place), second);
    assert_int_equal(timing_control_word(page, NULL), first);
    uint64_t before = page->word;
    for (int i = 0; i < 1000; i++) { /* also within one microsecond */
        uint64_t next = timing_control_give(&page->word, i % 2 ? TIMING_COMMAND_START : TIMING_COMMAND_STOP);
        assert_true(next > before);
        before = next;
    }
    timing_control_unmap(page);
}

enum { WRITERS = 4, MARKS_EACH = 5000 };

static void *write_marks(void *argument)
{
    struct timing_control *page = argument;
    char text[TIMING_CONTROL_MARK_BYTES];
    for (int i = 0; i < MARKS_EACH; i++) { /* of one letter, so that a mixed one is told */
        size_t bytes = (size_t)(i % TIMING_CONTROL_MARK_BYTES) + 1;
        memset(text, 'a' + (int)(bytes % 26), bytes);
        timing_control_mark(page, bytes, text, bytes);
    }
    return NULL;
}

/* None is torn, and each is either taken or counted. */
static void marks_of_many_writers(void **state)
{
    (void)state;
    struct timing_control *page = made();
    pthread_t writers[WRITERS];
    uint64_t cursor = 0, taken = 0, lost = 0;
    struct timing_control_mark mark;
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, write_marks, page), 0);
    while (cursor < (uint64_t)WRITERS * MARKS_EACH) {
        uint64_t before = cursor;
        if (timing_control_next_mark(page, &cursor, &mark, &lost) != TIMING_CONTROL_TAKEN)
            continue;
        taken++;
        assert_true(cursor > before && mark.sequence == cursor && mark.owner == mark.bytes);
        for (uint32_t i = 0; i < mark.bytes; i++)
            assert_int_equal(mark.text[i], 'a' + (int)(mark.bytes % 26));
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    assert_int_equal(taken + lost, WRITERS * MARKS_EACH);
    assert_int_equal(timing_control_next_mark(page, &cursor, &mark, &lost), TIMING_CONTROL_NOTHING);
    timing_control_unmap(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(only_ones_own_is_mapped, begin, end),
        cmocka_unit_test_setup_teardown(no_draft_is_left, begin, end),
        cmocka_unit_test_setup_teardown(places_are_given_once_and_again, begin, end),
        cmocka_unit_test_setup_teardown(the_newest_command_holds, begin, end),
        cmocka_unit_test_setup_teardown(marks_of_many_writers, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
