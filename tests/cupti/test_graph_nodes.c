/* SPDX-License-Identifier: Apache-2.0 */
/* The table of graph nodes by itself, one scenario a process: copies, updates and late records of what was before, ids that
 * come back, no room, and threads that capture while another one reads. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "cupti/graph_nodes.h"
#include "tests/cupti/host.h"

static uint64_t node(uint32_t graph, uint32_t number)
{
    return (uint64_t)graph << 32 | number;
}

/* As where kernels are timed: what a node was before is asked for. */
static void open_table(void)
{
    CHECK(graph_nodes_open());
    graph_nodes_records_come(true);
}

static void note_named(uint64_t id, uint64_t call, uint64_t name, uint32_t correlation)
{
    uint32_t chain = 0;
    struct graph_node_maker maker = {.call_id = call, .name_id = name, .chain = &chain, .correlation_id = correlation};
    graph_nodes_note(id, &maker);
    if (call)
        graph_nodes_publish(chain, call, TRACE_OWNER_CALL, call + 5000, 0);
}

static void note(uint64_t id, uint64_t call)
{
    note_named(id, call, 0, 0);
}

static void copy(uint64_t id, uint64_t to)
{
    uint32_t chain = 0;
    graph_nodes_copy(id, to, GRAPH_NODES_IN_EXECUTABLE, &(struct graph_node_maker){.chain = &chain});
    CHECK(chain == 0);
}

static void check_call(uint64_t id, uint32_t correlation, uint64_t call)
{
    struct launch_owner found;
    CHECK(graph_nodes_find(id, correlation, 0, &found) == LAUNCH_JOIN_FOUND);
    CHECK(found.call_id == call && found.owner == TRACE_OWNER_CALL &&
          found.owner_id == trace_call_without_copy(call) + 5000);
}

static void check_result(uint64_t id, uint32_t correlation, enum launch_join_result result, uint64_t call)
{
    struct launch_owner found;
    CHECK(graph_nodes_find(id, correlation, 0, &found) == result);
    CHECK(found.owner == TRACE_OWNER_NONE && found.owner_id == 0 && found.call_id == call);
}

static void drain(void)
{
    for (int i = 0; i < 3; i++)
        graph_nodes_drained();
}

/* ---- scenarios ---- */

static void owners_by(enum trace_owner launch)
{
    uint32_t chain = 0;
    struct graph_node_maker maker = {.call_id = 7, .chain = &chain};
    check_result(node(1, 0), 1, LAUNCH_JOIN_UNSEEN, 0); /* the table isn't there yet */
    CHECK(graph_nodes_open() && graph_nodes_open());
    check_result(node(1, 0), 1, LAUNCH_JOIN_UNSEEN, 0);
    for (uint32_t i = 0; i < 100; i++)
        graph_nodes_note(node(1, i), &maker);
    note(node(1, 100), 0);
    check_result(node(1, 3), 1, LAUNCH_JOIN_PENDING, 7);
    graph_nodes_publish(chain, 8, TRACE_OWNER_CALL, 1, 0); /* not that call's */
    check_result(node(1, 99), 1, LAUNCH_JOIN_PENDING, 7);
    graph_nodes_publish(chain, 7, launch, 70, 0);
    for (uint32_t i = 0; i < 100; i++) {
        struct launch_owner found;
        CHECK(graph_nodes_find(node(1, i), 1, 0, &found) == LAUNCH_JOIN_FOUND);
        CHECK(found.call_id == 7 && found.owner == launch && found.owner_id == 70);
    }
    check_result(node(1, 100), 1, LAUNCH_JOIN_NONE, 0); /* the program's own */
    check_result(node(1, 101), 1, LAUNCH_JOIN_UNSEEN, 0);
    chain = 0;
    graph_nodes_note(node(2, 0), &maker);
    graph_nodes_publish(chain, 7, TRACE_OWNER_NONE, 0, 0); /* the call failed */
    check_result(node(2, 0), 1, LAUNCH_JOIN_NONE, 7);
}

static void owners(void)
{
    owners_by(TRACE_OWNER_LAUNCH);
}

static void owners_with_values(void)
{
    struct launch_owner found;
    uint32_t chain = 0;
    owners_by(TRACE_OWNER_LAUNCH_VALUES);
    struct graph_node_maker maker = {.call_id = 9, .chain = &chain};
    graph_nodes_copy(node(1, 5), node(3, 5), GRAPH_NODES_IN_GRAPH, &maker); /* a copy keeps it, and is told apart */
    CHECK(graph_nodes_find(node(3, 5), 1, 0, &found) == LAUNCH_JOIN_FOUND);
    CHECK(found.owner == TRACE_OWNER_LAUNCH_VALUES && found.owner_id == 70 &&
          found.call_id == trace_call_in_copy(7, 3));
}

static void names(void)
{
    struct launch_owner found;
    open_table();
    note_named(node(1, 0), 7, 111, 0);
    CHECK(graph_nodes_find(node(1, 0), 1, 111, &found) == LAUNCH_JOIN_FOUND);
    CHECK(graph_nodes_find(node(1, 0), 1, 0, &found) == LAUNCH_JOIN_FOUND);
    CHECK(graph_nodes_find(node(1, 0), 1, 112, &found) == LAUNCH_JOIN_UNSEEN && found.call_id == 0);
}

static void copies(void)
{
    open_table();
    for (uint32_t i = 0; i < 40; i++)
        note(node(1, i), 10 + i);
    for (uint32_t graph = 2; graph < 5; graph++)
        for (uint32_t i = 0; i < 40; i++)
            copy(node(1, i), node(graph, i));
    copy(node(9, 0), node(5, 40)); /* of a node that nobody saw */
    graph_nodes_retire_all(1);
    for (uint32_t i = 0; i < 40; i++)
        graph_nodes_retire(node(2, i));
    check_call(node(1, 39), 1, 49); /* its records may still come */
    drain();
    for (uint32_t graph = 3; graph < 5; graph++)
        for (uint32_t i = 0; i < 40; i++)
            check_call(node(graph, i), 1, 10 + i);
    check_result(node(5, 40), 1, LAUNCH_JOIN_UNSEEN, 0);

    /* A graph that another one holds twice: each copy runs the call once more, and in an executable they are still two. */
    uint32_t none = 0;
    struct graph_node_maker nobody = {.chain = &none};
    for (uint32_t graph = 20; graph < 22; graph++) {
        graph_nodes_copy(node(3, 0), node(graph, 0), GRAPH_NODES_IN_GRAPH, &nobody);
        copy(node(graph, 0), node(30, graph));
        check_call(node(30, graph), 1, trace_call_in_copy(10, graph));
    }
    CHECK(trace_call_in_copy(10, 20) != trace_call_in_copy(10, 21));
    CHECK(trace_call_without_copy(trace_call_in_copy(10, 21)) == 10 && trace_call_in_copy(0, 21) == 0);

    /* Copies that the call itself makes wait for its end like their originals. */
    uint32_t chain = 0;
    struct graph_node_maker maker = {.call_id = 99, .chain = &chain};
    graph_nodes_note(node(6, 0), &maker);
    graph_nodes_copy(node(6, 0), node(7, 0), GRAPH_NODES_IN_EXECUTABLE, &maker);
    graph_nodes_publish(chain, 99, TRACE_OWNER_CALL, 5099, 0);
    check_call(node(6, 0), 1, 99);
    check_call(node(7, 0), 1, 99);
}

/* Instantiating may tell of a node as made, before or after it tells of the copy. */
static void told_twice(void)
{
    open_table();
    note(node(1, 0), 10);
    note(node(2, 0), 0);
    copy(node(1, 0), node(2, 0));
    check_call(node(2, 0), 1, 10);
    copy(node(1, 0), node(3, 0));
    note(node(3, 0), 0);
    check_call(node(3, 0), 1, 10);
}

static void updates(void)
{
    open_table();
    const uint32_t before = UINT32_MAX - 2; /* ids wrap */
    for (uint32_t i = 0; i < 3; i++) {
        note(node(1, i), 10 + i);
        note(node(2, i), 20 + i);
        note(node(3, i), 30 + i);
        copy(node(1, i), node(4, i));
    }
    CHECK(graph_nodes_update_all(2, 4, before + 2));
    CHECK(graph_nodes_update_all(2, 4, before + 2)); /* the runtime's call and the driver's */
    CHECK(graph_nodes_update_all(3, 4, before + 10));
    for (uint32_t i = 0; i < 3; i++) {
        check_call(node(4, i), before, 10 + i);
        check_call(node(4, i), before + 1, 10 + i);
        check_call(node(4, i), before + 2, 20 + i);
        check_call(node(4, i), before + 9, 20 + i);
        check_call(node(4, i), before + 10, 30 + i);
        check_call(node(4, i), before + 1000, 30 + i);
        check_call(node(1, i), before, 10 + i);
    }
    /* To what nobody saw, and back. */
    CHECK(graph_nodes_update_all(77, 4, before + 2000));
    check_result(node(4, 0), before + 2000, LAUNCH_JOIN_UNSEEN, 0);
    check_call(node(4, 0), before + 1999, 30);
    CHECK(graph_nodes_update_all(1, 4, before + 3000));
    check_call(node(4, 0), before + 3000, 10);

    graph_nodes_set_nested(3);
    CHECK(!graph_nodes_update_all(3, 4, before + 4000));
    graph_nodes_distrust_ids();
    check_result(node(4, 0), before + 3000, LAUNCH_JOIN_UNSEEN, 0);
    check_call(node(1, 0), before, 10);
    graph_nodes_distrust();
    check_result(node(1, 0), before, LAUNCH_JOIN_UNSEEN, 0);
}

/* More changes than are remembered: what is too old is not known. */
static void many_changes(void)
{
    open_table();
    note(node(1, 0), 10);
    note(node(2, 0), 20);
    copy(node(1, 0), node(3, 0));
    const uint32_t changes = GRAPH_NODES_CHANGES + 100;
    for (uint32_t i = 1; i <= changes; i++)
        graph_nodes_update(node(1 + i % 2, 0), node(3, 0), 10 * i);
    check_call(node(3, 0), 10 * changes + 5, changes % 2 ? 20 : 10);
    check_call(node(3, 0), 10 * 200 + 5, 10);
    check_call(node(3, 0), 10 * 201 + 5, 20);
    check_result(node(3, 0), 5, LAUNCH_JOIN_UNSEEN, 0);
}

static void ids_come_back(void)
{
    open_table();
    for (uint32_t i = 0; i < 4; i++)
        note_named(node(1, i), 10, 0, 100);
    graph_nodes_retire_all(1);
    note_named(node(1, 0), 20, 0, 200);
    check_call(node(1, 0), 150, 10); /* late records of what was there before */
    check_call(node(1, 0), 200, 20);
    note_named(node(1, 1), 20, 0, 0); /* it isn't known when: nobody's */
    check_result(node(1, 1), 200, LAUNCH_JOIN_UNSEEN, 0);
    drain();
    note_named(node(1, 2), 20, 0, 0); /* there is no record of before any more */
    check_call(node(1, 2), 50, 20);
    note_named(node(1, 0), 30, 0, 0); /* told again without having been destroyed */
    check_result(node(1, 0), 300, LAUNCH_JOIN_UNSEEN, 0);
}

static void fill(uint32_t first_graph, uint32_t *graphs)
{
    uint64_t before = graph_nodes_refused();
    uint32_t graph = first_graph;
    for (; graph_nodes_refused() == before && graph - first_graph < GRAPH_NODES_MOST; graph++)
        for (uint32_t i = 0; i < 100; i++)
            note(node(graph, i), graph + 1);
    *graphs = graph - first_graph;
}

static void no_room(void)
{
    uint32_t graphs, again;
    open_table();
    fill(1, &graphs);
    CHECK(graph_nodes_refused() > 0 && graphs * 100 > GRAPH_NODES_MOST / 2 && graphs * 100 <= GRAPH_NODES_MOST);
    for (uint32_t graph = 1; graph < graphs; graph++) /* of the last one some were refused */
        for (uint32_t i = 0; i < 100; i++)
            check_call(node(graph, i), 1, graph + 1);
    for (uint32_t graph = 1; graph <= graphs; graph++)
        graph_nodes_retire_all(graph);
    note(node(5000000, 0), 3); /* may be refused: everything may still have records */
    drain();
    fill(6000000, &again);
    CHECK(again * 2 > graphs);
    for (uint32_t graph = 6000000; graph < 6000000 + again - 1; graph++)
        check_call(node(graph, 99), 1, graph + 1);
}

/* Many graphs come and go: what was drained makes room, nothing is refused. */
static void come_and_go(void)
{
    open_table();
    for (uint32_t graph = 1; graph <= 200000; graph++) {
        for (uint32_t i = 0; i < 10; i++)
            note(node(graph, i), graph);
        check_call(node(graph, 9), 1, graph);
        graph_nodes_retire_all(graph);
        if (graph % 1000 == 0)
            graph_nodes_drained();
    }
    CHECK(graph_nodes_refused() == 0);
}

enum { CAPTURING = 4, GRAPHS = 400, NODES = 50 };
static _Atomic int capturing = CAPTURING;
static _Atomic uint32_t made[CAPTURING];

static void *capture(void *argument)
{
    uint32_t thread = (uint32_t)(uintptr_t)argument;
    for (uint32_t g = 0; g < GRAPHS; g++) {
        uint32_t graph = 1 + 2 * (thread * GRAPHS + g);
        for (uint32_t i = 0; i < NODES; i++)
            note(node(graph, i), (uint64_t)graph * NODES + i);
        for (uint32_t i = 0; i < NODES; i++)
            copy(node(graph, i), node(graph + 1, i));
        atomic_store(&made[thread], g + 1);
        if (g % 3 == 0)
            graph_nodes_retire_all(graph);
    }
    atomic_fetch_sub(&capturing, 1);
    return NULL;
}

/* What is there is right, whoever writes beside it. */
static void threads(void)
{
    pthread_t thread[CAPTURING];
    uint64_t found_some = 0;
    open_table();
    for (uintptr_t i = 0; i < CAPTURING; i++)
        CHECK(pthread_create(&thread[i], NULL, capture, (void *)i) == 0);
    for (uint32_t round = 0; atomic_load(&capturing) || round % (CAPTURING * GRAPHS); round++) {
        uint32_t t = round % CAPTURING, g = round / CAPTURING % GRAPHS, graph = 1 + 2 * (t * GRAPHS + g);
        bool whole = g < atomic_load(&made[t]);
        for (uint32_t i = 0; i < NODES; i++) {
            struct launch_owner found;
            enum launch_join_result result = graph_nodes_find(node(graph + 1, i), 1, 0, &found);
            CHECK(whole ? result == LAUNCH_JOIN_FOUND : result != LAUNCH_JOIN_NONE);
            CHECK(result != LAUNCH_JOIN_FOUND || found.owner_id == (uint64_t)graph * NODES + i + 5000);
            found_some += result == LAUNCH_JOIN_FOUND;
        }
        if (round % 64 == 0)
            graph_nodes_drained();
    }
    for (uintptr_t i = 0; i < CAPTURING; i++)
        pthread_join(thread[i], NULL);
    CHECK(found_some > 0 && graph_nodes_refused() == 0);
}

static const struct scenario scenarios[] = {
    {"owners", owners},
    {"owners_with_values", owners_with_values},
    {"names", names},
    {"copies", copies},
    {"told_twice", told_twice},
    {"updates", updates},
    {"many_changes", many_changes},
    {"no_room", no_room},
    {"ids_come_back", ids_come_back},
    {"threads", threads},
    {"come_and_go", come_and_go},
};

int main(int argc, char **argv)
{
    return host_run(argc, argv, scenarios, sizeof scenarios / sizeof *scenarios);
}
