/* SPDX-License-Identifier: Apache-2.0 */
/* The reading side of lengths: contents of buffers, which launches found which values there, and their records. All of it
 * is the timing's thread's. */
#ifndef CUPTI_LENGTH_RUNS_H
#define CUPTI_LENGTH_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "cupti/length_log.h"
#include "cupti/lengths.h"

enum { LENGTH_RUNS_MOST = 4096 }; /* readers, once for each executable graph that has them */

/* A reader as calls registered it; nothing of it changes once it is there. */
struct length_reader {
    uint64_t address;
    uint64_t call_id; /* of the first launch */
    uint64_t capture; /* id of the capture, 0: none */
    uint32_t count, element_bytes;
    uint16_t buffer;
    bool cumulative;
};

/* What lengths.c knows. NUMBER below LENGTHS_READER_PLACES; NULL: there is none (yet). */
enum { LENGTHS_READER_PLACES = 2 * LENGTHS_READERS_MOST };
const struct length_reader *lengths_reader(unsigned number);

/* GRAPH_ID holds what CAPTURE captured: its copies are read at each launch from now on. */
void lengths_capture_is_in(uint64_t capture, uint32_t graph_id);

void length_runs_take(const struct length_log_item *item);
void length_runs_forget(void);    /* something was lost: nothing is known of any buffer */
void length_runs_write(bool all); /* those that have lasted a while, or all */

/* The device was asked: BYTES from the begin of BUFFER were there when the last launch of GRAPH_ID had run. */
void length_runs_read(uint32_t graph_id, unsigned buffer, const void *content, uint32_t bytes);

uint64_t length_runs_unknown(void); /* launches whose lengths were not known */

#endif
