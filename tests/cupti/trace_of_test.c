/* SPDX-License-Identifier: Apache-2.0 */
/* Opens, tends and reads back the trace of one test process. */
#include "tests/cupti/trace_of_test.h"

#include <glob.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cupti/kernel_timing.h"
#include "trace/clock.h"
#include "trace/timing_control.h"
#include "trace/trace_reader.h"
#include "trace/trace_writer.h"

static char folder[64] = "/tmp/rooftap-cupti-XXXXXX";
static pthread_t helper;
static _Atomic bool stop;
static struct trace_kernel *kernels; /* read; a process reads once */
static struct window windows[WINDOWS_MOST];
static struct timing timings[TIMINGS_MOST];

void check_or_exit(bool holds, const char *condition, const char *file, int line)
{
    if (holds)
        return;
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
    exit(1);
}

static void *tend(void *unused)
{
    while (!stop) {
        trace_writer_tend();
        kernel_timing_tend();
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return unused;
}

void trace_of_test_open(void)
{
    clock_choose();
    CHECK(mkdtemp(folder) != NULL);
    CHECK(trace_writer_open(folder));
    CHECK(pthread_create(&helper, NULL, tend, NULL) == 0);
}

static void take_note(struct trace_content *c, const struct trace_item *item)
{
    const struct trace_note *note = (const void *)item->record;
    CHECK(c->note_count < 16 && item->text_bytes < sizeof c->notes[0].text);
    struct text_note *kept = &c->notes[c->note_count++];
    kept->code = note->code;
    kept->value = note->value;
    memcpy(kept->text, item->text, item->text_bytes);
    kept->text[item->text_bytes] = 0;
}

static void take_kernel(struct trace_content *c, const struct trace_item *item)
{
    if ((c->kernel_count & (c->kernel_count - 1)) == 0)
        kernels = realloc(kernels, (c->kernel_count ? c->kernel_count * 2 : 1) * sizeof *kernels);
    c->kernels = kernels;
    memcpy(&c->kernels[c->kernel_count++], item->record, sizeof *c->kernels);
}

static void take_window(struct trace_content *c, const struct trace_item *item)
{
    CHECK(c->window_count < WINDOWS_MOST && item->text_bytes < sizeof windows[0].text);
    struct window *kept = &windows[c->window_count++];
    c->windows = windows;
    memcpy(&kept->record, item->record, sizeof kept->record);
    memcpy(kept->text, item->text, item->text_bytes);
    kept->text[item->text_bytes] = 0;
}

static void take_timing(struct trace_content *c, const struct trace_item *item)
{
    CHECK(c->timing_count < TIMINGS_MOST && item->text_bytes < sizeof timings[0].text);
    struct timing *kept = &timings[c->timing_count++];
    c->timings = timings;
    memcpy(&kept->record, item->record, sizeof kept->record);
    memcpy(kept->text, item->text, item->text_bytes);
    kept->text[item->text_bytes] = 0;
}

static void take_lengths(struct trace_content *c, const struct trace_item *item)
{
    static struct trace_lengths *lengths; /* as long as the process */
    if ((c->length_count & (c->length_count - 1)) == 0)
        lengths = realloc(lengths, (c->length_count ? c->length_count * 2 : 1) * sizeof *lengths);
    c->lengths = lengths;
    memcpy(&c->lengths[c->length_count++], item->record, sizeof *c->lengths);
}

static void take_item(struct trace_content *c, const struct trace_item *item)
{
    switch (item->record->type) {
    case TRACE_RECORD_KERNEL:
        take_kernel(c, item);
        break;
    case TRACE_RECORD_LENGTHS:
        take_lengths(c, item);
        break;
    case TRACE_RECORD_COPY:
        CHECK(c->copy_count < 16);
        memcpy(&c->copies[c->copy_count++], item->record, sizeof c->copies[0]);
        break;
    case TRACE_RECORD_DEVICE:
        CHECK(c->device_count < 4);
        memcpy(&c->devices[c->device_count++], item->record, sizeof c->devices[0]);
        break;
    case TRACE_RECORD_NOTE:
        take_note(c, item);
        break;
    case TRACE_RECORD_WINDOW:
        take_window(c, item);
        break;
    case TRACE_RECORD_TIMING:
        take_timing(c, item);
        break;
    case TRACE_RECORD_GRAPH_NODE:
        CHECK(c->graph_node_count < 256);
        memcpy(&c->graph_nodes[c->graph_node_count++], item->record, sizeof c->graph_nodes[0]);
        break;
    case TRACE_RECORD_GRAPH_LAUNCHES:
        CHECK(c->graph_launches_count < 1024);
        memcpy(&c->graph_launches[c->graph_launches_count++], item->record, sizeof c->graph_launches[0]);
        break;
    case TRACE_RECORD_GRAPH_RUN:
        CHECK(c->graph_run_count < 16);
        memcpy(&c->graph_runs[c->graph_run_count++], item->record, sizeof c->graph_runs[0]);
        break;
    case TRACE_RECORD_NAME:
        c->name_count++;
        break;
    case TRACE_RECORD_ANCHOR:
        c->cupti_anchors += ((const struct trace_anchor *)(const void *)item->record)->cupti_ns != 0;
        break;
    default:
        break;
    }
}

/* Threads have blocks of their own. */
static int by_ticks(const void *one, const void *other)
{
    uint64_t a = ((const struct window *)one)->record.ticks, b = ((const struct window *)other)->record.ticks;
    return a < b ? -1 : a > b;
}

void trace_of_test_read(struct trace_content *c)
{
    stop = true;
    pthread_join(helper, NULL);
    trace_writer_end();
    memset(c, 0, sizeof *c);
    char pattern[96];
    glob_t files;
    struct trace_error error;
    snprintf(pattern, sizeof pattern, "%s/*%s", folder, TRACE_FILE_SUFFIX);
    CHECK(glob(pattern, 0, NULL, &files) == 0 && files.gl_pathc == 1);
    struct trace_reader *reader = trace_reader_open(files.gl_pathv[0], &error);
    CHECK(reader != NULL);
    struct trace_item item;
    while (trace_reader_next(reader, &item))
        take_item(c, &item);
    qsort(windows, c->window_count, sizeof *windows, by_ticks);
    c->counters = *trace_reader_counters(reader);
    for (size_t i = 0; i < trace_reader_slot_count(reader); i++)
        c->slot_drops += trace_reader_slot(reader, i)->records_dropped;
    trace_reader_close(reader);
    unlink(files.gl_pathv[0]);
    snprintf(pattern, sizeof pattern, "%s/" TIMING_CONTROL_FILE, folder);
    unlink(pattern);
    rmdir(folder);
    globfree(&files);
}

const char *trace_of_test_folder(void)
{
    return folder;
}

const struct text_note *content_note(const struct trace_content *c, uint32_t code)
{
    for (size_t i = 0; i < c->note_count; i++)
        if (c->notes[i].code == code)
            return &c->notes[i];
    return NULL;
}
