/* SPDX-License-Identifier: Apache-2.0 */
/* The file that outlives a victim: 64-bit numbers, PLACE_WORDS a process. places.py reads the same. */
#ifndef ROOFTAP_TESTS_KILL_VICTIM_H
#define ROOFTAP_TESTS_KILL_VICTIM_H

#include <stdint.h>

enum {
    PLACES = 64,
    PLACE_WORDS = 32,
    WITNESS_BYTES = PLACES * PLACE_WORDS * 8,
    RETURNED_MOST = 16, /* threads of one place */
    K = 64,
};

/* How far a process is. */
enum phase { PHASE_NONE = 0, PHASE_MAIN, PHASE_CALLING, PHASE_LEAVING };

/* What it is told to do to itself; signals come from outside. */
enum order {
    ORDER_NONE = 0,
    ORDER_SEGV,
    ORDER_ABRT,
    ORDER_EXIT_NOW,
    ORDER_QUICK_EXIT,
    ORDER_EXEC,
    ORDER_HOG,
    ORDER_LEAVE,
    ORDER_LEAVE_AT_ONCE
};

struct place {
    uint64_t pid;
    uint64_t phase;        /* enum phase */
    uint64_t order;        /* enum order, written by the test */
    uint64_t child_status; /* of waitpid(), 1 + what it gave */
    uint64_t blocked_tid;  /* the thread that is in a call which never returns */
    uint64_t unused[11];
    uint64_t returned[RETURNED_MOST]; /* calls of each thread that came back */
};

_Static_assert(sizeof(struct place) == PLACE_WORDS * 8, "a place is PLACE_WORDS numbers");

#endif
