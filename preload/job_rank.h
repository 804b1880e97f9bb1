/* SPDX-License-Identifier: Apache-2.0 */
/* Which of a job's processes this is, as launchers say it in the environment. */
#ifndef PRELOAD_JOB_RANK_H
#define PRELOAD_JOB_RANK_H

#include <stddef.h>

/* "RANK=3 LOCAL_RANK=1 WORLD_SIZE=8": the variables that this process began with, whole ones as far as SIZE goes. Returns the
 * length, 0 if there is none. System calls, no allocation by the host's means. */
size_t job_rank_text(char *text, size_t size);

#endif
