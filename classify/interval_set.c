/* SPDX-License-Identifier: Apache-2.0 */
/* External merge sort of intervals, and, in a bounded set, a list of stretches for the old ones. Runs lie behind one another in one temporary file; each is sorted and free of
 * overlaps, so that back-to-back kernels of a busy stream cost one interval, not many. */
#include "classify/interval_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "classify/allocate.h"

struct interval {
    uint64_t start, end;
};

struct run {
    uint64_t first, count; /* in intervals, from the file's start */
};

struct interval_set {
    struct interval *buffer;
    size_t capacity, count, room; /* ROOM grows up to CAPACITY: most processes of a large session need little */
    FILE *file;                   /* NULL until the buffer was full once */
    bool failed;
    struct run *runs;
    size_t run_count, run_capacity;
    uint64_t written;
    struct interval_stretch *stretches; /* ascending and apart in a bounded set; as they came in others */
    size_t stretch_count, stretch_capacity;
    size_t stretches_most; /* 0: not bounded */
    uint64_t gap_ns;
    bool late;
};

struct interval_set *interval_set_open(size_t buffer)
{
    struct interval_set *set = allocate(1, sizeof *set);
    set->capacity = buffer < 2 ? 2 : buffer;
    return set;
}

struct interval_set *interval_set_open_bounded(size_t buffer, size_t stretches)
{
    struct interval_set *set = interval_set_open(buffer);
    set->stretches_most = stretches < 2 ? 2 : stretches;
    set->gap_ns = INTERVAL_SET_GAP_NS;
    return set;
}

static int compare_starts(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* As one stream's kernels come, mostly. */
static bool is_ascending(const struct interval_set *set)
{
    for (size_t i = 1; i < set->count; i++)
        if (set->buffer[i].start < set->buffer[i - 1].start)
            return false;
    return true;
}

/* Sorts what the buffer holds and joins what touches. */
static void tidy(struct interval_set *set)
{
    if (!set->count)
        return;
    if (!is_ascending(set))
        qsort(set->buffer, set->count, sizeof *set->buffer, compare_starts);
    size_t last = 0;
    for (size_t i = 1; i < set->count; i++) {
        if (set->buffer[i].start <= set->buffer[last].end) {
            if (set->buffer[i].end > set->buffer[last].end)
                set->buffer[last].end = set->buffer[i].end;
        } else {
            set->buffer[++last] = set->buffer[i];
        }
    }
    set->count = last + 1;
}

static void spill(struct interval_set *set)
{
    if (!set->file && !set->failed) {
        set->file = tmpfile();
        set->failed = !set->file;
    }
    if (!set->failed && fwrite(set->buffer, sizeof *set->buffer, set->count, set->file) != set->count)
        set->failed = true;
    set->runs = allocate_grow(set->runs, set->run_count, &set->run_capacity, sizeof *set->runs);
    set->runs[set->run_count++] = (struct run){set->written, set->count};
    set->written += set->count;
    set->count = 0;
}

/* ---- stretches ---- */

static void push_stretch(struct interval_set *set, const struct interval_stretch *stretch)
{
    set->stretches = allocate_grow(set->stretches, set->stretch_count, &set->stretch_capacity, sizeof *set->stretches);
    set->stretches[set->stretch_count++] = *stretch;
}

/* Too many: longer and longer gaps are none, until half of the stretches are left. */
static void coarsen(struct interval_set *set)
{
    while (set->stretch_count > set->stretches_most / 2) {
        size_t last = 0;
        set->gap_ns = set->gap_ns > UINT64_MAX / 2 ? UINT64_MAX : 2 * set->gap_ns;
        for (size_t i = 1; i < set->stretch_count; i++) {
            struct interval_stretch *before = &set->stretches[last], *stretch = &set->stretches[i];
            if (stretch->start_ns - before->end_ns <= set->gap_ns) {
                before->end_ns = stretch->end_ns;
                before->busy_ns += stretch->busy_ns;
            } else {
                set->stretches[++last] = *stretch;
            }
        }
        set->stretch_count = last + 1;
    }
}

/* Before which stretch one belongs that ends there: the first that ends at START or later. */
static size_t place_of(const struct interval_set *set, uint64_t start)
{
    size_t low = 0, high = set->stretch_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->stretches[middle].end_ns < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* An interval that is older than some stretch. What of it falls into one may have been counted there, or not. */
static void fold_late(struct interval_set *set, const struct interval *interval)
{
    size_t at = place_of(set, interval->start);
    struct interval_stretch *stretch = &set->stretches[at];
    if (at < set->stretch_count && stretch->start_ns <= interval->end) {
        bool covered = stretch->busy_ns == stretch->end_ns - stretch->start_ns;
        set->late |= !covered || interval->start < stretch->start_ns || interval->end > stretch->end_ns;
        return;
    }
    push_stretch(set, &(struct interval_stretch){0}); /* room */
    for (size_t i = set->stretch_count - 1; i > at; i--)
        set->stretches[i] = set->stretches[i - 1];
    set->stretches[at] = (struct interval_stretch){interval->start, interval->end, interval->end - interval->start};
}

static void fold_interval(struct interval_set *set, const struct interval *interval)
{
    uint64_t length = interval->end - interval->start;
    struct interval_stretch *last = set->stretch_count ? &set->stretches[set->stretch_count - 1] : NULL;
    if (last && interval->start <= last->end_ns) {
        fold_late(set, interval);
    } else if (last && interval->start - last->end_ns <= set->gap_ns) {
        last->end_ns = interval->end;
        last->busy_ns += length;
    } else {
        push_stretch(set, &(struct interval_stretch){interval->start, interval->end, length});
    }
    if (set->stretch_count > set->stretches_most)
        coarsen(set);
}

/* The oldest COUNT intervals of a tidy buffer. */
static void fold(struct interval_set *set, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fold_interval(set, &set->buffer[i]);
    set->count -= count;
    memmove(set->buffer, set->buffer + count, set->count * sizeof *set->buffer);
}

void interval_set_add_stretch(struct interval_set *set, const struct interval_stretch *stretch)
{
    if (stretch->end_ns < stretch->start_ns)
        return;
    if (stretch->busy_ns == stretch->end_ns - stretch->start_ns)
        interval_set_add(set, stretch->start_ns, stretch->end_ns);
    else
        push_stretch(set, stretch);
}

struct interval_summary interval_set_summary(const struct interval_set *set, size_t most)
{
    struct interval_set copy = *set; /* bounded: no runs, no file */
    copy.buffer = allocate(set->count, sizeof *copy.buffer);
    if (set->count)
        memcpy(copy.buffer, set->buffer, set->count * sizeof *copy.buffer);
    copy.stretch_capacity = set->stretch_count;
    copy.stretches = allocate(set->stretch_count, sizeof *copy.stretches);
    if (set->stretch_count)
        memcpy(copy.stretches, set->stretches, set->stretch_count * sizeof *copy.stretches);
    tidy(&copy);
    if (copy.count > most)
        fold(&copy, copy.count);
    for (size_t i = 0; i < copy.count; i++)
        push_stretch(&copy, &(struct interval_stretch){copy.buffer[i].start, copy.buffer[i].end,
                                                       copy.buffer[i].end - copy.buffer[i].start});
    free(copy.buffer);
    return (struct interval_summary){copy.stretches, copy.stretch_count, copy.gap_ns, !copy.late};
}

uint64_t interval_set_gap(const struct interval_set *set)
{
    return set->gap_ns;
}

void interval_set_take(struct interval_set *set, uint64_t gap_ns, bool known)
{
    if (gap_ns > set->gap_ns)
        set->gap_ns = gap_ns;
    set->late |= !known;
}

void interval_set_add(struct interval_set *set, uint64_t start_ns, uint64_t end_ns)
{
    if (end_ns < start_ns)
        return;
    if (set->count) { /* the usual case: in order */
        struct interval *last = &set->buffer[set->count - 1];
        if (start_ns >= last->start && start_ns <= last->end) {
            if (end_ns > last->end)
                last->end = end_ns;
            return;
        }
    }
    if (set->count == set->room && set->room < set->capacity)
        set->buffer = allocate_grow(set->buffer, set->count, &set->room, sizeof *set->buffer);
    if (set->count >= set->capacity) {
        tidy(set);
        if (set->count > set->capacity / 2 && set->stretches_most)
            fold(set, set->count - set->capacity / 2);
        else if (set->count > set->capacity / 2)
            spill(set);
    }
    set->buffer[set->count++] = (struct interval){start_ns, end_ns};
}

/* ---- merging ---- */

struct cursor {
    struct interval *buffer;
    size_t count, next, capacity;
    uint64_t file_next, file_left; /* in intervals; none for the part that never left memory */
};

static bool cursor_fill(struct interval_set *set, struct cursor *c)
{
    if (c->next < c->count)
        return true;
    if (!c->file_left)
        return false;
    size_t want = c->file_left < c->capacity ? (size_t)c->file_left : c->capacity;
    ssize_t got =
        pread(fileno(set->file), c->buffer, want * sizeof *c->buffer, (off_t)(c->file_next * sizeof *c->buffer));
    if (got != (ssize_t)(want * sizeof *c->buffer)) {
        set->failed = true;
        c->file_left = 0;
        return false;
    }
    c->file_next += want;
    c->file_left -= want;
    c->count = want;
    c->next = 0;
    return true;
}

static uint64_t head_of(const struct cursor *c)
{
    return c->buffer[c->next].start;
}

static void sift_down(struct cursor **heap, size_t count, size_t i)
{
    for (;;) {
        size_t least = i, left = 2 * i + 1;
        for (size_t child = left; child < left + 2 && child < count; child++)
            if (head_of(heap[child]) < head_of(heap[least]))
                least = child;
        if (least == i)
            return;
        struct cursor *t = heap[i];
        heap[i] = heap[least];
        heap[least] = t;
        i = least;
    }
}

/* Visits all intervals, each run's own joined ones, in ascending order of start. */
static void visit_sorted(struct interval_set *set, interval_visit *visit, void *context)
{
    tidy(set);
    if (set->file && fflush(set->file))
        set->failed = true;
    if (set->failed)
        return;
    size_t cursors = set->run_count + 1, live = 0;
    struct cursor *all = allocate(cursors, sizeof *all);
    struct cursor **heap = allocate(cursors, sizeof *heap);
    size_t each = (size_t)INTERVAL_SET_BUFFER / cursors;
    all[set->run_count] = (struct cursor){.buffer = set->buffer, .count = set->count};
    for (size_t i = 0; i < set->run_count; i++)
        all[i] = (struct cursor){.buffer = allocate(each < 16 ? 16 : each, sizeof *all[i].buffer),
                                 .capacity = each < 16 ? 16 : each,
                                 .file_next = set->runs[i].first,
                                 .file_left = set->runs[i].count};
    for (size_t i = 0; i < cursors; i++)
        if (cursor_fill(set, &all[i]))
            heap[live++] = &all[i];
    for (size_t i = live; i-- > 0;)
        sift_down(heap, live, i);
    while (live) {
        struct cursor *c = heap[0];
        visit(context, c->buffer[c->next].start, c->buffer[c->next].end);
        c->next++;
        if (!cursor_fill(set, c))
            heap[0] = heap[--live];
        sift_down(heap, live, 0);
    }
    for (size_t i = 0; i < set->run_count; i++)
        free(all[i].buffer);
    free(all);
    free(heap);
}

static int compare_stretches(const void *a, const void *b)
{
    const struct interval_stretch *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

typedef void stretch_visit(void *context, const struct interval_stretch *stretch);

struct merged_walk {
    const struct interval_set *set;
    size_t next; /* of its stretches */
    stretch_visit *visit;
    void *context;
};

static void visit_stretches_before(struct merged_walk *walk, uint64_t start)
{
    while (walk->next < walk->set->stretch_count && walk->set->stretches[walk->next].start_ns <= start)
        walk->visit(walk->context, &walk->set->stretches[walk->next++]);
}

static void visit_merged(void *context, uint64_t start, uint64_t end)
{
    struct merged_walk *walk = context;
    visit_stretches_before(walk, start);
    walk->visit(walk->context, &(struct interval_stretch){start, end, end - start});
}

/* Intervals and stretches together, in ascending order of start. */
static void visit_all(struct interval_set *set, stretch_visit *visit, void *context)
{
    struct merged_walk walk = {set, 0, visit, context};
    if (set->stretch_count)
        qsort(set->stretches, set->stretch_count, sizeof *set->stretches, compare_stretches);
    visit_sorted(set, visit_merged, &walk);
    visit_stretches_before(&walk, UINT64_MAX);
}

struct plain_walk {
    interval_visit *visit;
    void *context;
};

static void visit_plain(void *context, const struct interval_stretch *stretch)
{
    const struct plain_walk *walk = context;
    walk->visit(walk->context, stretch->start_ns, stretch->end_ns);
}

bool interval_set_visit(struct interval_set *set, interval_visit *visit, void *context)
{
    struct plain_walk walk = {visit, context};
    visit_all(set, visit_plain, &walk);
    return !set->failed;
}

static void visit_absorb(void *context, const struct interval_stretch *stretch)
{
    interval_set_add_stretch(context, stretch);
}

void interval_set_include(struct interval_set *set, struct interval_set *from)
{
    visit_all(from, visit_absorb, set);
    if (from->failed)
        set->failed = true;
    interval_set_take(set, from->gap_ns, !from->late);
}

void interval_set_absorb(struct interval_set *set, struct interval_set *from)
{
    interval_set_include(set, from);
    interval_set_close(from);
}

bool interval_set_is_empty(const struct interval_set *set)
{
    return !set->count && !set->run_count && !set->stretch_count && !set->failed && !set->late;
}

struct union_walk {
    struct interval_union result;
    struct interval_stretch open;
    bool overlap; /* of a stretch: how much of it is not known */
};

static void visit_union(void *context, const struct interval_stretch *stretch)
{
    struct union_walk *walk = context;
    struct interval_stretch *open = &walk->open;
    if (!walk->result.known) {
        walk->result.known = true;
        walk->result.first_ns = stretch->start_ns;
        *open = *stretch;
    } else if (stretch->start_ns > open->end_ns) {
        walk->result.covered_ns += open->busy_ns;
        *open = *stretch;
    } else if (stretch->start_ns == open->end_ns) { /* they touch */
        open->end_ns = stretch->end_ns;
        open->busy_ns += stretch->busy_ns;
    } else {
        walk->overlap |=
            open->busy_ns != open->end_ns - open->start_ns || stretch->busy_ns != stretch->end_ns - stretch->start_ns;
        if (stretch->end_ns > open->end_ns) {
            open->busy_ns += stretch->end_ns - open->end_ns;
            open->end_ns = stretch->end_ns;
        }
    }
}

struct interval_union interval_set_union(struct interval_set *set)
{
    struct union_walk walk = {0};
    visit_all(set, visit_union, &walk);
    if (set->failed || set->late || walk.overlap)
        return (struct interval_union){0};
    walk.result.covered_ns += walk.open.busy_ns;
    walk.result.last_ns = walk.open.end_ns;
    return walk.result;
}

void interval_set_close(struct interval_set *set)
{
    if (!set)
        return;
    if (set->file)
        fclose(set->file);
    free(set->buffer);
    free(set->runs);
    free(set->stretches);
    free(set);
}
