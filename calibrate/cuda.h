/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA driver, loaded at run time, with one context and stream on one device. Errors are kept as one line: what was
 * asked and the driver's word for it. */
#ifndef CALIBRATE_CUDA_H
#define CALIBRATE_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

typedef unsigned long long cuda_address; /* CUdeviceptr */

enum { CUDA_ERROR_BYTES = 512 };

struct cuda_entries; /* the driver's functions */

struct cuda {
    void *library;
    struct cuda_entries *entries;
    int ordinal;
    void *context, *stream;
    struct trace_device device; /* whom it is; the driver's own facts */
    char error[CUDA_ERROR_BYTES];
};

/* LIBRARY NULL: libcuda.so.1 as the loader finds it. False: ERROR tells why. */
bool cuda_open(struct cuda *cuda, const char *library, int ordinal);
void cuda_close(struct cuda *cuda);

size_t cuda_free_bytes(struct cuda *cuda); /* 0: not known */
bool cuda_allocate(struct cuda *cuda, size_t bytes, cuda_address *address);
void cuda_release(struct cuda *cuda, cuda_address address);
bool cuda_upload(struct cuda *cuda, cuda_address to, const void *from, size_t bytes);
bool cuda_copy(struct cuda *cuda, cuda_address to, cuda_address from, size_t bytes); /* enqueues */
/* Compiles PTX and finds COUNT kernels in it. */
bool cuda_module(struct cuda *cuda, const char *ptx, const char *const *names, void **functions, int count);
bool cuda_launch(struct cuda *cuda, void *function, unsigned blocks, unsigned threads, void **arguments);
bool cuda_wait(struct cuda *cuda);

/* Marks on the stream; the time between two is the device's. */
bool cuda_event(struct cuda *cuda, void **event);
bool cuda_record(struct cuda *cuda, void *event);
bool cuda_elapsed_ns(struct cuda *cuda, void *start, void *end, double *ns); /* waits for END */

/* What is enqueued between the two becomes a graph. */
bool cuda_capture_begin(struct cuda *cuda);
bool cuda_capture_end(struct cuda *cuda, void **executable);
bool cuda_replay(struct cuda *cuda, void *executable);
void cuda_graph_free(struct cuda *cuda, void *executable);

#endif
