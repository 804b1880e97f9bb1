/* SPDX-License-Identifier: Apache-2.0 */
/* `rooftap ctl start|stop|mark NAME|status TARGET`: says to recorded processes when to time kernels. They look at what is said
 * in their own time; this waits a moment for them, so that its end says that they did. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/commands.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/timing_page.h"
#include "trace/clock.h"
#include "trace/trace.h"

#define COMMAND "ctl"

static const uint64_t patience_ns = 2000000000;

enum asked { ASKED_WORD, ASKED_MARK };

static const char *mode_text(uint32_t mode)
{
    static const char *const texts[] = {"off", "auto", "node", "graph", "sampled", "events"};
    return mode < sizeof texts / sizeof texts[0] ? texts[mode] : "unknown";
}

static enum timing_control_state state_of(const struct timing_control_process *process)
{
    return (enum timing_control_state)__atomic_load_n(&process->state, __ATOMIC_ACQUIRE);
}

static bool is_meant(const struct timing_target *target, const struct timing_control_process *process)
{
    uint64_t owner = __atomic_load_n(&process->owner, __ATOMIC_ACQUIRE);
    return owner && (!target->owner || target->owner == owner) && timing_page_is_alive(process);
}

/* What WORD or mark says has been looked at; those that time nothing yet, or no more, are not waited for. */
static bool has_followed(const struct timing_control_process *process, enum asked asked, uint64_t number)
{
    enum timing_control_state state = state_of(process);
    if (asked == ASKED_MARK)
        return __atomic_load_n(&process->marks, __ATOMIC_ACQUIRE) >= number;
    return state == TIMING_CONTROL_WAITING || state == TIMING_CONTROL_OFF ||
           __atomic_load_n(&process->seen, __ATOMIC_ACQUIRE) >= number;
}

static bool all_followed(const struct timing_target *target, enum asked asked, uint64_t number)
{
    for (unsigned i = 0; i < TIMING_CONTROL_PROCESSES; i++) {
        const struct timing_control_process *process = &target->page->processes[i];
        if (is_meant(target, process) && !has_followed(process, asked, number))
            return false;
    }
    return true;
}

static void wait_for(const struct timing_target *target, enum asked asked, uint64_t number)
{
    uint64_t until_ns = clock_monotonic_ns() + patience_ns;
    while (!all_followed(target, asked, number) && clock_monotonic_ns() < until_ns)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

static void print_state(const struct timing_control_process *process, bool answered)
{
    static const char *const texts[] = {
        [TIMING_CONTROL_WAITING] = "has not used the GPU yet",
        [TIMING_CONTROL_OPEN] = "kernels are timed",
        [TIMING_CONTROL_CLOSED] = "kernels are not timed now",
        [TIMING_CONTROL_OFF] = "kernels are not timed in this run",
    };
    enum timing_control_state state = state_of(process);
    uint32_t windows = __atomic_load_n(&process->windows, __ATOMIC_ACQUIRE);
    printf("process %u: %s", (unsigned)(uint32_t)process->owner,
           state <= TIMING_CONTROL_OFF ? texts[state] : "state not known");
    if (state == TIMING_CONTROL_OPEN || state == TIMING_CONTROL_CLOSED)
        printf(", mode %s, %u window%s so far", mode_text(__atomic_load_n(&process->mode, __ATOMIC_ACQUIRE)),
               (unsigned)windows, windows == 1 ? "" : "s");
    printf("%s\n", answered ? "" : "; it has not answered yet, and follows when it runs");
}

static unsigned print_all(const struct timing_target *target, enum asked asked, uint64_t number)
{
    unsigned count = 0;
    for (unsigned i = 0; i < TIMING_CONTROL_PROCESSES; i++) {
        const struct timing_control_process *process = &target->page->processes[i];
        if (!is_meant(target, process))
            continue;
        print_state(process, has_followed(process, asked, number));
        count++;
    }
    return count;
}

static int give(struct timing_target *target, enum timing_command command)
{
    uint64_t *word = &target->page->word;
    if (target->owner) {
        const struct timing_control_process *process = timing_control_find(target->page, target->owner);
        word = process ? (uint64_t *)&target->page->processes[process - target->page->processes].word : NULL;
    }
    if (!word) {
        message_error(COMMAND, "%s has just ended", target->shown);
        return EXIT_USAGE;
    }
    uint64_t given = timing_control_give(word, command);
    wait_for(target, ASKED_WORD, given);
    if (!print_all(target, ASKED_WORD, given))
        printf("no process of %s uses the GPU now; those to come follow\n", target->shown);
    return 0;
}

static int start(struct timing_target *target, const char *name)
{
    (void)name;
    return give(target, TIMING_COMMAND_START);
}

static int stop(struct timing_target *target, const char *name)
{
    (void)name;
    return give(target, TIMING_COMMAND_STOP);
}

static int mark(struct timing_target *target, const char *name)
{
    bool anybody = false;
    for (unsigned i = 0; i < TIMING_CONTROL_PROCESSES && !anybody; i++)
        anybody = is_meant(target, &target->page->processes[i]);
    if (!anybody || (target->owner && !target->has_begun)) {
        message_error(COMMAND, "%s has not used the GPU yet: there is nothing to put a mark into", target->shown);
        return EXIT_USAGE;
    }
    uint64_t sequence = timing_control_mark(target->page, target->owner, name, strlen(name));
    wait_for(target, ASKED_MARK, sequence);
    if (all_followed(target, ASKED_MARK, sequence))
        return 0;
    printf("%s has not taken the mark yet, and does when it runs\n", target->shown);
    return 0;
}

static int status(struct timing_target *target, const char *name)
{
    (void)name;
    if (!print_all(target, ASKED_WORD, 0))
        printf("no process of %s uses the GPU now\n", target->shown);
    return 0;
}

static const struct {
    const char *name;
    bool takes_name;
    int (*run)(struct timing_target *target, const char *name);
} actions[] = {{"start", false, start}, {"stop", false, stop}, {"mark", true, mark}, {"status", false, status}};

static bool check_name(const char *name)
{
    if (*name && strlen(name) <= TIMING_CONTROL_MARK_BYTES)
        return true;
    message_error(COMMAND, "a mark's name has 1 to %d bytes, this one has %zu", TIMING_CONTROL_MARK_BYTES,
                  strlen(name));
    return false;
}

static int act(int count, char **words)
{
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(words[0], actions[i].name) != 0)
            continue;
        bool named = actions[i].takes_name;
        struct timing_target target;
        if (count != (named ? 3 : 2)) {
            message_error(COMMAND, "expected rooftap ctl %s%s PID|DIR", words[0], named ? " NAME" : "");
            return EXIT_USAGE;
        }
        if ((named && !check_name(words[1])) || !timing_target_find(&target, words[count - 1], COMMAND))
            return EXIT_USAGE;
        int result = actions[i].run(&target, named ? words[1] : NULL);
        timing_target_close(&target);
        return result;
    }
    message_error(COMMAND, "'%s' is no action; it takes start, stop, mark or status", words[0]);
    return EXIT_USAGE;
}

int cmd_ctl(int argc, char **argv)
{
    static const struct option_row rows[] = {{NULL, 0, OPTION_FLAG, NULL, NULL, NULL}};
    const struct option_set set = {
        .command = COMMAND,
        .synopsis = "start|stop|mark NAME|status PID|DIR",
        .about =
            "Says to a process that 'rooftap record' records, or to all processes of the session in DIR:\n"
            "  start      time kernels from now on; with --duration for so long\n"
            "  stop       time none\n"
            "  mark NAME  put NAME, at most 96 bytes, into the recording at this moment\n"
            "  status     tell whether it times\n"
            "Shapes of calls are noted at all times, also those of graphs that are captured meanwhile. What is said\n"
            "to DIR also holds for its processes to come. 'record --delay ctl' times nothing before start.",
        .rows = rows,
        .footer = "The exit status is 2, after one line, where PID is gone, not recorded, or another user's.",
    };
    int first, result;
    if (!options_parse(&set, argc, argv, &first, &result))
        return result;
    if (first == argc) {
        message_error(COMMAND, "nothing to do; rooftap ctl start|stop|mark NAME|status PID|DIR");
        return EXIT_USAGE;
    }
    return act(argc - first, argv + first);
}
