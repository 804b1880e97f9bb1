/* SPDX-License-Identifier: Apache-2.0 */
/* The two options exclude each other: sums don't grow, so there is nothing to rotate. */
#include "cli/record_sink.h"

#include <stddef.h>
#include <string.h>

#include "cli/byte_size.h"
#include "cli/message.h"
#include "collect/aggregate_sink.h"
#include "collect/rotation_sink.h"
#include "collect/trace_sink.h"

enum {
    PROCESSES_ASIDE = 16,           /* of a size that must not be exceeded: so many may write themselves at a time */
    AGGREGATE_MORE_BYTES = 16 << 20 /* until it is summed */
};

static const char *option_of(const struct record_sink *options)
{
    return options->aggregate ? "--aggregate" : "--max-size";
}

bool record_sink_needs_ring(const struct record_sink *options)
{
    return options->aggregate || options->max_size;
}

bool record_sink_check(const struct record_sink *options, const char *ring, const char *command)
{
    uint64_t bytes;
    if (options->aggregate && options->max_size)
        message_error(command, "--aggregate and --max-size exclude each other: sums don't grow; give one of them");
    else if (options->max_size && (!byte_size_parse(options->max_size, &bytes) || bytes < ROTATION_BYTES_LEAST))
        message_error(command, "--max-size is '%s'; it takes a size from %uM on, such as 500M or 2G", options->max_size,
                      ROTATION_BYTES_LEAST >> 20);
    else if (record_sink_needs_ring(options) && ring && !strcmp(ring, "off"))
        message_error(command, "%s needs the ring that --ring off does without; leave one of them out",
                      option_of(options));
    else
        return true;
    return false;
}

void record_sink_refuse(const struct record_sink *options, const char *command)
{
    message_error(command, "%s needs shared memory in /dev/shm, which can't be used (%m); without it traces grow",
                  option_of(options));
}

uint64_t record_sink_more_bytes(const struct record_sink *options)
{
    uint64_t bytes;
    if (options->max_size && byte_size_parse(options->max_size, &bytes))
        return bytes / PROCESSES_ASIDE;
    return options->aggregate ? AGGREGATE_MORE_BYTES : 0;
}

struct sink *record_sink_make(const struct record_sink *options, const char *folder)
{
    uint64_t bytes;
    if (options->aggregate)
        return aggregate_sink_make(folder);
    if (options->max_size && byte_size_parse(options->max_size, &bytes))
        return rotation_sink_make(folder, bytes);
    return trace_sink_make(folder, false);
}
