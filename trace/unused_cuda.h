/* SPDX-License-Identifier: Apache-2.0 */
/* FOLDER/unused_cuda: processes that ended with a CUDA library in them, and in which nothing of CUDA was used, so that they
 * have no trace. Made beside the run where the GPU is a real one; the simulator's libraries are in every process. */
#ifndef TRACE_UNUSED_CUDA_H
#define TRACE_UNUSED_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_UNUSED_CUDA_FILE "unused_cuda"

/* Text, zero bytes behind it: "PID\nRUNTIME\nDRIVER\n", paths of libcudart and libcuda, empty where it isn't loaded. A slot
 * that begins with a zero byte is free. */
enum { UNUSED_CUDA_BYTES = 512, UNUSED_CUDA_SLOTS = 16, UNUSED_CUDA_PATH_BYTES = 240 };

struct unused_cuda {
    int64_t pid;
    char runtime[UNUSED_CUDA_PATH_BYTES], driver[UNUSED_CUDA_PATH_BYTES]; /* "": not loaded */
};

/* For who makes the session. False with errno set; the file must not exist. */
bool unused_cuda_make(const char *folder);

/* In the host, at its end. Does nothing without the file, or if all slots are taken. No allocation; errno is kept. */
void unused_cuda_add(const char *folder, const struct unused_cuda *process);

/* At most UNUSED_CUDA_SLOTS; how many. Slots that make no sense are left out. */
size_t unused_cuda_read(const char *folder, struct unused_cuda processes[UNUSED_CUDA_SLOTS]);

#endif
