/* SPDX-License-Identifier: Apache-2.0 */
/* For code that runs in a forked child, where a test framework's jump would lead into the parent's copy. */
#ifndef TESTS_TRACE_CHECK_H
#define TESTS_TRACE_CHECK_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            dprintf(2, "%s:%d: does not hold: %s (errno: %s)\n", __FILE__, __LINE__, #condition, strerror(errno));     \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

#endif
