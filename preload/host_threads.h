/* SPDX-License-Identifier: Apache-2.0 */
/* Whether any thread of the host is left. */
#ifndef PRELOAD_HOST_THREADS_H
#define PRELOAD_HOST_THREADS_H

#include <stdbool.h>

/* True if main()'s thread has ended by itself and no other thread is alive but the two named ones. A few system calls:
 * for the helper, once a second. False where /proc does not tell. */
bool host_threads_are_gone(int own_tid, int timing_tid);

#endif
