/* SPDX-License-Identifier: Apache-2.0 */
/* What the scenes of `subject` share: how a program writes down what it sees of itself, one line "ASPECT WHERE TEXT" each,
 * which the harness compares with the same line of another run. */
#ifndef TESTS_TRANSCRIPT_SUBJECT_H
#define TESTS_TRANSCRIPT_SUBJECT_H

#include "gemms.h"

#include <errno.h>
#include <fenv.h>

enum { ERRNO_BEFORE = 77 };

struct before_and_after {
    int errno_before, flags_before;
};

extern struct gemms gemms; /* the main thread's */

void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Descriptors, signals, threads, working folder, environment of children. */
void look(const char *where);

/* errno, exception flags and an unusual rounding mode before a call; after it what is left of them, and the result. */
void call_begin(void);
void call_end(const char *where, const char *name, int result);
void tell_sticky_error(const char *where);

#define CALL(where, name, expression)                                                                                  \
    do {                                                                                                               \
        call_begin();                                                                                                  \
        int result_of_call = (int)(expression);                                                                        \
        call_end(where, name, result_of_call);                                                                         \
    } while (0)

/* Ten calls of each kind: cuBLAS, cuBLASLt, a launch, and some that are refused. */
void call_all(const char *where);
int launch(void);
extern const void *const registered_kernel;
int refused(void); /* by its NULL handle, before the library takes any lock */

/* Each ends the process or returns the exit status. ARGUMENT is the command line's, or NULL. */
int scene_ending(const char *argument);
int scene_threads(const char *argument);
int scene_calling(const char *argument);
int scene_destructors(const char *argument);
int scene_errors(const char *argument);
int scene_capture(const char *argument);
int scene_large(const char *argument);
int scene_handlers(const char *argument);
int scene_jumps(const char *argument);
int scene_late(const char *argument);
int scene_loading(const char *argument);

#endif
