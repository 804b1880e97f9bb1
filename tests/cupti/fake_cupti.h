/* SPDX-License-Identifier: Apache-2.0 */
/* Knobs of the stand-ins for libcuda.so.1 and libcupti.so.13 that the tests of cupti/ drive: everything CUPTI may do to its
 * client, at the test's word. Records are laid out by byte offset here, apart from cupti_records.h. */
#ifndef TESTS_CUPTI_FAKE_CUPTI_H
#define TESTS_CUPTI_FAKE_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_API __attribute__((visibility("default")))

/* ---- the driver ---- */
FAKE_API void fake_cuda_init(void);                  /* the application's cuInit() succeeded */
FAKE_API unsigned fake_cuda_calls_before_init(void); /* other than cuDriverGetVersion and cuDeviceGetCount */
FAKE_API unsigned fake_cuda_init_calls(void);        /* calls of cuInit by the code under test: 0 always */
FAKE_API void fake_cuda_set_capturing(void *stream, int status); /* NULL: the legacy stream */
FAKE_API int fake_cuda_capture_mode(void);                       /* of the calling thread; 0 global, the default */
FAKE_API void fake_cuda_set_name(const char *name);

/* ---- CUPTI ---- */
struct fake_kernel {
    uint32_t correlation_id;
    const char *name;
    uint64_t start_ns, end_ns;
    uint32_t graph_id;
    uint32_t stream;
    uint64_t node_id;        /* 0: the graph's 7th */
    uint64_t source_node_id; /* in versions whose record has it */
};

FAKE_API void fake_cupti_set_result(const char *function, int result);
FAKE_API void fake_cupti_set_version(uint32_t api_version, size_t kernel_bytes);
FAKE_API unsigned fake_cupti_calls(const char *function);
FAKE_API unsigned fake_cupti_calls_before_init(void);
FAKE_API bool fake_cupti_kind_enabled(int kind);
FAKE_API void fake_cupti_first_period_only(bool on); /* no kernel is recorded once they were switched off */
FAKE_API void fake_cupti_refuse_kind(int kind, int result);
FAKE_API void fake_cupti_warm_up(uint64_t ns); /* no kernel is recorded for so long after they were switched on */
FAKE_API bool fake_cupti_is_subscribed(void);
/* Somebody whom the code under test did not see come. */
enum fake_stranger { FAKE_STRANGER_NONE, FAKE_STRANGER_ALONE, FAKE_STRANGER_SHARING };
FAKE_API void fake_cupti_set_stranger(int who);

/* A launch: driver callback on this thread at enter and exit, if its cbid is enabled. Returns its correlation id. */
FAKE_API uint32_t fake_cupti_launch(uint32_t cbid);
FAKE_API void fake_cupti_set_next_correlation(uint32_t id);

/* Of graphs: handles are addresses of ids, those of nodes 8 bytes wide, those of graphs and executables 4. A resource
 * callback, and one side of a call, on this thread; if they are enabled. */
struct fake_graph_data {
    void *graph, *original_graph;
    void *node, *original_node;
    uint64_t node_type;
    void *dependency, *exec;
};
FAKE_API void fake_cupti_graph(uint32_t cbid, const struct fake_graph_data *data);
FAKE_API void fake_cupti_side(int domain, uint32_t cbid, uint32_t site, uint32_t correlation_id, const void *params,
                              int result);
FAKE_API bool fake_cupti_callback_enabled(int domain, uint32_t cbid);
FAKE_API void fake_cupti_launch_node(const char *symbol, void *node); /* a launch that a capture takes */

/* Appends a record to this thread's buffer, asking for one as CUPTI does; a full buffer is handed back at once. */
FAKE_API void fake_cupti_kernel(const struct fake_kernel *kernel);
FAKE_API void fake_cupti_copy(uint32_t kind, uint64_t bytes, uint64_t start_ns, uint64_t end_ns);
FAKE_API void fake_cupti_graph_run(uint32_t correlation_id, uint32_t graph_id, uint64_t start_ns, uint64_t end_ns);
FAKE_API void fake_cupti_unknown(uint32_t kind);
FAKE_API void fake_cupti_external(uint32_t correlation_id, uint64_t external_id);
FAKE_API void fake_cupti_drop(size_t records);

FAKE_API void fake_cupti_hand_back(void);         /* this thread's buffer, from another thread */
FAKE_API void fake_cupti_flush_delivers(bool on); /* false: flushing hands nothing back (it comes later, or never) */
FAKE_API void fake_cupti_block_flush(bool on);    /* flushing hangs from now on */
FAKE_API void fake_cupti_write_late(unsigned milliseconds); /* into what is held, so long after a kind was disabled */
FAKE_API unsigned fake_cupti_late_writes(void);             /* buffers that this was done to */
FAKE_API uint64_t fake_cupti_top_external(void);            /* pushed by this thread, 0 none */

#endif
