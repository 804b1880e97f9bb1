/* SPDX-License-Identifier: Apache-2.0 */
/* Why a session may hold no launch, as far as its facts tell: a program that meant to use the GPU and fell back to the CPU
 * says nothing of it, or a line that is easily missed. */
#ifndef CLASSIFY_NO_LAUNCH_H
#define CLASSIFY_NO_LAUNCH_H

#include "classify/session.h"

enum no_launch {
    NO_LAUNCH_NOT_SO,      /* there are some */
    NO_LAUNCH_NOT_STARTED, /* the command could not be */
    NO_LAUNCH_GOING_ON,
    NO_LAUNCH_BLANK_TRACE,  /* begun, and nothing written */
    NO_LAUNCH_SIGNAL,       /* it ended by one */
    NO_LAUNCH_STUB_DRIVER,  /* libcuda was the toolkit's stub */
    NO_LAUNCH_NO_START,     /* libcuda was there, and was never started */
    NO_LAUNCH_NO_DRIVER,    /* libcudart was there, libcuda wasn't */
    NO_LAUNCH_NO_LIBRARY,   /* neither, in no process that ended by itself */
    NO_LAUNCH_COPIES_ONLY,  /* CUDA was started, and only copied */
    NO_LAUNCH_DEVICES_ONLY, /* CUDA was started, and told of its devices */
    NO_LAUNCH_NO_TRACE,     /* no process made one; nothing else is known */
    NO_LAUNCH_UNKNOWN,
};

enum no_launch no_launch_of(const struct session *session);
const char *no_launch_name(enum no_launch reason); /* NULL: there are launches */
/* Of those whose process told of its libraries: the one that the reason is about; NULL: of no such. */
const struct session_unused *no_launch_process(const struct session *session);
bool no_launch_is_stub(const char *driver);

#endif
