/* SPDX-License-Identifier: Apache-2.0 */
/* The union of any number of time intervals, given in any order, in constant memory: sorted runs go to a temporary file
 * and are merged at the end. Tells how long a device was busy however much its streams overlap. A bounded set uses no file:
 * its oldest intervals become stretches of which only the busy length is kept, so an interval must not come much too late. */
#ifndef CLASSIFY_INTERVAL_SET_H
#define CLASSIFY_INTERVAL_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INTERVAL_SET_BUFFER = 1 << 17 }; /* intervals held in memory */

struct interval_set;

struct interval_union {
    bool known;          /* false: nothing was added, the temporary file failed, or what overlaps can't be told */
    uint64_t covered_ns; /* length of the union */
    uint64_t first_ns, last_ns; /* earliest start, latest end */
};

/* Time from start to end, and how much of it was covered. */
struct interval_stretch {
    uint64_t start_ns, end_ns, busy_ns;
};

#define INTERVAL_SET_GAP_NS 10000000u /* stretches hold gaps up to this, and longer ones once there are too many */

struct interval_set *interval_set_open(size_t buffer); /* INTERVAL_SET_BUFFER, or fewer in tests; at least 2 */
/* At most so many intervals and stretches, each at least 2. */
struct interval_set *interval_set_open_bounded(size_t buffer, size_t stretches);
void interval_set_add(struct interval_set *set, uint64_t start_ns, uint64_t end_ns); /* end before start: ignored */
/* Adds all of FROM, which is emptied and closed. */
void interval_set_absorb(struct interval_set *set, struct interval_set *from);
/* The same, but FROM stays as it is. */
void interval_set_include(struct interval_set *set, struct interval_set *from);
bool interval_set_is_empty(const struct interval_set *set); /* nothing was ever added */
struct interval_union interval_set_union(struct interval_set *set);
/* Calls VISIT in ascending order of start; what overlaps may come joined or not. False: some were lost. */
typedef void interval_visit(void *context, uint64_t start_ns, uint64_t end_ns);
bool interval_set_visit(struct interval_set *set, interval_visit *visit, void *context);
/* A stretch of another set. One that overlaps anything makes the union unknown, unless it is covered all over. */
void interval_set_add_stretch(struct interval_set *set, const struct interval_stretch *stretch);
/* What a bounded set holds, ascending and apart: its stretches, then its intervals, or, where these are more than MOST,
 * stretches for them, too. SET is left as it is. free() the array. */
struct interval_summary {
    struct interval_stretch *stretches;
    size_t count;
    uint64_t gap_ns; /* the longest gap that stretches hold */
    bool known;      /* false: some interval came after the time around it had become a stretch */
};
struct interval_summary interval_set_summary(const struct interval_set *set, size_t most);
/* The longest gap that its stretches may hold; 0: it has none. */
uint64_t interval_set_gap(const struct interval_set *set);
/* As another set said of what was added: both are kept from then on. */
void interval_set_take(struct interval_set *set, uint64_t gap_ns, bool known);
void interval_set_close(struct interval_set *set);

#endif
