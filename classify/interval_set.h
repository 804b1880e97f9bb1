/* SPDX-License-Identifier: Apache-2.0 */
/* The union of any number of time intervals, given in any order, in constant memory: sorted runs go to a temporary file
 * and are merged at the end. Tells how long a device was busy however much its streams overlap. */
#ifndef CLASSIFY_INTERVAL_SET_H
#define CLASSIFY_INTERVAL_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INTERVAL_SET_BUFFER = 1 << 17 }; /* intervals held in memory */

struct interval_set;

struct interval_union {
    bool known;                 /* false: nothing was added, or the temporary file failed */
    uint64_t covered_ns;        /* length of the union */
    uint64_t first_ns, last_ns; /* earliest start, latest end */
};

struct interval_set *interval_set_open(size_t buffer); /* INTERVAL_SET_BUFFER, or fewer in tests; at least 2 */
void interval_set_add(struct interval_set *set, uint64_t start_ns, uint64_t end_ns); /* end before start: ignored */
/* Adds all of FROM, which is emptied and closed. */
void interval_set_absorb(struct interval_set *set, struct interval_set *from);
struct interval_union interval_set_union(struct interval_set *set);
/* Calls VISIT in ascending order of start; what overlaps may come joined or not. False: some were lost. */
typedef void interval_visit(void *context, uint64_t start_ns, uint64_t end_ns);
bool interval_set_visit(struct interval_set *set, interval_visit *visit, void *context);
void interval_set_close(struct interval_set *set);

#endif
