/* SPDX-License-Identifier: Apache-2.0 */
/* One node of a graph, given to two calls in turn by updates in place: whatever order its records are read in, each call was
 * executed as often as the graph was launched while the node was its. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "classify/graph_replays.h"

enum { GRAPH = 4, FIRST = 100, SECOND = 200 };

/* Launches before each record: 5 of the first call, 6 of the second, 7 and 8. */
static const struct trace_graph_node records[4] = {
    {.graph_node_id = 9, .graph_id = GRAPH, .call_id = 1, .owner_id = FIRST, .owner = TRACE_OWNER_CALL, .launches = 0},
    {.graph_node_id = 9, .graph_id = GRAPH, .call_id = 2, .owner_id = SECOND, .owner = TRACE_OWNER_CALL, .launches = 5},
    {.graph_node_id = 9, .graph_id = GRAPH, .call_id = 3, .owner_id = FIRST, .owner = TRACE_OWNER_CALL, .launches = 11},
    {.graph_node_id = 9,
     .graph_id = GRAPH,
     .call_id = 4,
     .owner_id = SECOND,
     .owner = TRACE_OWNER_CALL,
     .launches = 18},
};

static uint64_t executed(struct graph_replays *replays, uint64_t id)
{
    const struct replay_count *count = graph_replays_count(replays, (struct graph_use){.of = USE_CALL, .id = id});
    return time_slices_sum(&count->slices).all;
}

static void check_order(const int order[4])
{
    struct graph_replays replays = {0};
    struct trace_graph_launches launches = {.graph_id = GRAPH, .launches = 26, .realtime_ns = 1000, .ended = 1};
    for (int i = 0; i < 4; i++)
        graph_replays_add_node(&replays, &records[order[i]], false, 100 + records[order[i]].launches);
    graph_replays_add_launches(&replays, &launches);
    graph_replays_end(&replays, false);
    assert_int_equal(executed(&replays, FIRST), 5 + 7);
    assert_int_equal(executed(&replays, SECOND), 6 + 8);
    graph_replays_free(&replays);
}

/* A thread's records stay in their order; the first one is another thread's, and may be read at any time. */
static void the_first_record_at_any_time(void **state)
{
    (void)state;
    check_order((const int[4]){0, 1, 2, 3});
    check_order((const int[4]){1, 0, 2, 3});
    check_order((const int[4]){1, 2, 0, 3});
    check_order((const int[4]){1, 2, 3, 0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_first_record_at_any_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
