/* SPDX-License-Identifier: Apache-2.0 */
/* External merge sort of intervals. Runs lie behind one another in one temporary file; each is sorted and free of
 * overlaps, so that back-to-back kernels of a busy stream cost one interval, not many. */
#include "classify/interval_set.h"

#include <stdio.h>
#include <stdlib.h>
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
    size_t capacity, count;
    FILE *file; /* NULL until the buffer was full once */
    bool failed;
    struct run *runs;
    size_t run_count, run_capacity;
    uint64_t written;
};

struct interval_set *interval_set_open(size_t buffer)
{
    struct interval_set *set = allocate(1, sizeof *set);
    set->capacity = buffer < 2 ? 2 : buffer;
    return set;
}

static int compare_starts(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* Sorts what the buffer holds and joins what touches. */
static void tidy(struct interval_set *set)
{
    if (!set->count)
        return;
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
    if (!set->buffer)
        set->buffer = allocate(set->capacity, sizeof *set->buffer);
    if (set->count == set->capacity) {
        tidy(set);
        if (set->count > set->capacity / 2)
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

bool interval_set_visit(struct interval_set *set, interval_visit *visit, void *context)
{
    visit_sorted(set, visit, context);
    return !set->failed;
}

static void visit_absorb(void *context, uint64_t start, uint64_t end)
{
    interval_set_add(context, start, end);
}

void interval_set_absorb(struct interval_set *set, struct interval_set *from)
{
    visit_sorted(from, visit_absorb, set);
    if (from->failed)
        set->failed = true;
    interval_set_close(from);
}

struct union_walk {
    struct interval_union result;
    struct interval open;
};

static void visit_union(void *context, uint64_t start, uint64_t end)
{
    struct union_walk *walk = context;
    if (!walk->result.known) {
        walk->result.known = true;
        walk->result.first_ns = start;
        walk->open = (struct interval){start, end};
    } else if (start > walk->open.end) {
        walk->result.covered_ns += walk->open.end - walk->open.start;
        walk->open = (struct interval){start, end};
    } else if (end > walk->open.end) {
        walk->open.end = end;
    }
}

struct interval_union interval_set_union(struct interval_set *set)
{
    struct union_walk walk = {0};
    visit_sorted(set, visit_union, &walk);
    if (set->failed)
        return (struct interval_union){0};
    walk.result.covered_ns += walk.open.end - walk.open.start;
    walk.result.last_ns = walk.open.end;
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
    free(set);
}
