/* SPDX-License-Identifier: Apache-2.0 */
/* Which release of CUPTI the stand-in behaves as: the one of its headers, or SIMGPU_CUPTI=MAJOR.MINOR, or the device's key
 * `cupti`, whatever its file's name is. */
#ifndef SIM_CUPTI_VERSIONS_H
#define SIM_CUPTI_VERSIONS_H

#include <stddef.h>
#include <stdint.h>

struct cupti_release {
    const char *name;     /* of the CUDA release, "13.4" */
    uint32_t number;      /* 1304 */
    uint32_t api_version; /* what cuptiGetVersion says */
    /* Bytes of the newest form of each record, which is the one that is made. */
    uint16_t kernel, memcpy, memset, device, context, graph_trace, overhead;
};

enum { /* which release brought what, as struct cupti_release numbers them */
       CUPTI_ERROR_MESSAGES = 1202,
       CUPTI_GRAPH_EXEC_IDS = 1203,
       CUPTI_PER_THREAD_ATTRIBUTE = 1203,
       CUPTI_SINGLE_APIS = 1205,
       CUPTI_NODE_UPDATES = 1300,
       CUPTI_NAMED_SUBSCRIBERS = 1300,
       CUPTI_BUFFERS_BY_THREAD = 1300,
       CUPTI_SUBSCRIBER_SCOPE = 1302,
       CUPTI_CRASH_UNSTARTED = 1302, /* this one alone */
       CUPTI_SEVERAL_SUBSCRIBERS = 1303,
       CUPTI_STRINGS_UNSTARTED = 1303, /* from here on not even names of results without a driver */
       CUPTI_SOURCE_NODES = 1304,
};

extern const struct cupti_release cupti_releases[];
extern const unsigned cupti_release_count;
const struct cupti_release *release_now(void);
/* Bytes of a record whose form grew over the releases; 0: KIND's did not. */
size_t release_record_bytes(uint32_t kind);

#endif
