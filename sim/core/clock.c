/* SPDX-License-Identifier: Apache-2.0 */
/* The core's lock and its clock. The wall clock is CLOCK_REALTIME; the device's timeline may run ahead of it, and in
 * virtual mode a host that waits simply declares that time reached. */
#include "sim/core/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct pending_notice {
    struct simgpu_graph_notice what;
    struct pending_notice *next;
};
static __thread struct pending_notice *first_notice, **last_notice;

void core_lock(void)
{
    pthread_mutex_lock(&lock);
}

void core_wait(pthread_cond_t *changed)
{
    pthread_cond_wait(changed, &lock);
}

static void tell_notices(void)
{
    struct pending_notice *told = first_notice;
    first_notice = NULL;
    while (told) {
        struct pending_notice *next = told->next;
        const struct simgpu_observer *observer = api_enter_observer();
        if (observer) {
            if (observer->graph)
                observer->graph(&told->what);
            api_leave_observer();
        }
        free(told);
        told = next;
    }
}

void core_unlock(void)
{
    pthread_mutex_unlock(&lock);
    if (first_notice)
        tell_notices();
}

void notice(enum simgpu_graph_event event, struct simgpu_graph *graph, struct simgpu_graph *original_graph,
            struct simgpu_node *node, struct simgpu_node *original_node, struct simgpu_exec *exec)
{
    if (!api_observer())
        return;
    struct pending_notice *added = malloc(sizeof *added);
    if (!added)
        return;
    added->what = (struct simgpu_graph_notice){.event = event,
                                               .graph = graph,
                                               .original_graph = original_graph,
                                               .node = node,
                                               .original_node = original_node,
                                               .exec = exec,
                                               .node_type = node ? (int)node->work.type : -1};
    added->next = NULL;
    if (!first_notice)
        last_notice = &first_notice;
    *last_notice = added;
    last_notice = &added->next;
}

uint64_t simgpu_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool clock_is_real(void)
{
    static int real = -1;
    int known = __atomic_load_n(&real, __ATOMIC_RELAXED);
    if (known < 0) {
        const char *setting = getenv("SIMGPU_CLOCK");
        known = setting && !strcmp(setting, "real");
        __atomic_store_n(&real, known, __ATOMIC_RELAXED);
    }
    return known;
}

void timeline_sleep_until(uint64_t time_ns)
{
    if (!clock_is_real() || simgpu_now_ns() >= time_ns)
        return;
    struct timespec until = {.tv_sec = (time_t)(time_ns / 1000000000u), .tv_nsec = (long)(time_ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

static uint64_t reached_ns;

uint64_t timeline_now(void)
{
    uint64_t now = simgpu_now_ns();
    return now > reached_ns ? now : reached_ns;
}

void timeline_reached(uint64_t time_ns)
{
    if (!clock_is_real() && time_ns > reached_ns)
        reached_ns = time_ns;
}
