/* SPDX-License-Identifier: Apache-2.0 */
/* One line for the parts that the span is made of, one for each kind of copy. */
#include "report/activity_text.h"

#include <inttypes.h>
#include <math.h>

#include "report/format.h"
#include "report/label.h"

enum { COPY_ROWS_SHOWN = 8 };

static void print_part(const char *name, uint64_t ns, uint64_t overlapped_ns, const struct device_time_sum *time,
                       FILE *out)
{
    char share[FORMAT_BYTES];
    fprintf(out, "%s %s %%", name, format_share(share, time->span_ns ? (double)ns / (double)time->span_ns : NAN));
    if (overlapped_ns)
        fprintf(out, " (%s %% beside others)", format_share(share, (double)overlapped_ns / (double)time->span_ns));
}

static void print_time(const struct session_device *device, FILE *out)
{
    const struct device_time_sum *time = &device->time;
    char span[FORMAT_BYTES], busy[FORMAT_BYTES];
    label_print(out, "");
    if (!time->busy_known) {
        fputs("busy and idle time not known: nothing was timed\n", out);
        return;
    }
    format_duration(busy, (double)time->busy_ns);
    if (!time->span_known) {
        fprintf(out, "busy %s; how long it was timed is not known, so neither is its idle time\n", busy);
        return;
    }
    fprintf(out, "span %s%s: ", format_duration(span, (double)time->span_ns),
            device->time_sets.timed ? " while it was timed" : "");
    if (time->split_known) {
        print_part("compute", time->compute_ns, 0, time, out);
        if (time->communication_ns || time->communication_overlapped_ns)
            print_part(", communication", time->communication_ns, time->communication_overlapped_ns, time, out);
        if (time->copy_ns || time->copy_overlapped_ns)
            print_part(", copies", time->copy_ns, time->copy_overlapped_ns, time, out);
    } else {
        print_part("busy", time->busy_ns, 0, time, out);
        fputs(", with what is not known", out);
    }
    print_part(", idle", time->gap_ns, 0, time, out);
    fprintf(out, "; busy %s\n", busy);
}

/* Bytes a second, of the device's own bandwidth what they take of it. */
static void print_rate(const struct session_device *device, const struct copy_sum *row, FILE *out)
{
    char rate[FORMAT_BYTES], share[FORMAT_BYTES];
    double bandwidth = device_roofs_bytes_per_second(&device->roofs);
    double per_second = row->ns ? (double)row->bytes / (double)row->ns * 1e9 : NAN;
    int accesses = copy_sum_memory_accesses(row);
    if (isnan(per_second))
        return;
    fprintf(out, ", %s GB/s", format_giga(rate, per_second));
    if (accesses && !isnan(bandwidth))
        fprintf(out, ", %s %% of the bandwidth", format_share(share, accesses * per_second / bandwidth));
}

static void print_copy(const struct session_device *device, const struct copy_sum *row, FILE *out)
{
    char count[FORMAT_BYTES], bytes[FORMAT_BYTES], time[FORMAT_BYTES];
    label_print(out, "");
    fprintf(out, "%s", copy_sum_name(row));
    if (row->direction == COPY_DIRECTION_PEERS && row->from >= 0 && row->to >= 0)
        fprintf(out, " GPU %" PRId64 " to %" PRId64, row->from, row->to);
    fprintf(out, ": %s, %s in %s", format_count(count, row->copies), format_bytes(bytes, (double)row->bytes),
            format_duration(time, (double)row->ns));
    print_rate(device, row, out);
    fputc('\n', out);
}

void activity_text_print(const struct session *session, int index, FILE *out)
{
    const struct session_device *device = &session->devices[index];
    const struct copy_sums *copied = &device->copied;
    size_t shown = copied->count > COPY_ROWS_SHOWN ? COPY_ROWS_SHOWN : copied->count;
    print_time(device, out);
    for (size_t i = 0; i < shown; i++)
        print_copy(device, &copied->rows[i], out);
    if (copied->count > shown) {
        label_print(out, "");
        fprintf(out, "and %zu more kinds of copies (--json has them all)\n", copied->count - shown);
    }
}
