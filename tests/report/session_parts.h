/* SPDX-License-Identifier: Apache-2.0 */
/* How a session's files are packed into one input of fuzz_report: parts of {u8 kind, u16 length, bytes}. */
#ifndef TESTS_REPORT_SESSION_PARTS_H
#define TESTS_REPORT_SESSION_PARTS_H

#include "trace/trace.h"

enum session_part {
    SESSION_PART_TRACE,
    SESSION_PART_OTHER_TRACE,
    SESSION_PART_CLOCKS,
    SESSION_TEXT_PARTS, /* from here on a part is the whole file, not a block of it */
    SESSION_PART_INFO = SESSION_TEXT_PARTS,
    SESSION_PART_CALIBRATION,
    SESSION_PARTS,
};

enum {
    SESSION_PART_MASK = 0x7f,
    SESSION_PART_RAW = 0x80, /* in kind: nothing is put right */
    SESSION_PART_HEADER = 3,
};

static const char *const session_part_files[SESSION_PARTS] = {
    [SESSION_PART_TRACE] = "1.trace",
    [SESSION_PART_OTHER_TRACE] = "2.trace",
    [SESSION_PART_CLOCKS] = TRACE_CLOCKS_FILE,
    [SESSION_PART_INFO] = "session.json",
    [SESSION_PART_CALIBRATION] = "calibration.json",
};

#endif
