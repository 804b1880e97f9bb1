/* SPDX-License-Identifier: Apache-2.0 */
/* What each release of CUPTI is called and what its records hold beyond the common prefix. */
#ifndef CUPTI_CUPTI_VERSIONS_H
#define CUPTI_CUPTI_VERSIONS_H

#include <stdbool.h>
#include <stdint.h>

enum cupti_record_fields {
    CUPTI_FIELDS_CLUSTER = 1 << 0,       /* clusterX/Y/Z */
    CUPTI_FIELDS_DEVICE_LAUNCH = 1 << 1, /* isDeviceLaunched */
    CUPTI_FIELDS_PRIORITY = 1 << 2,      /* priority */
    CUPTI_FIELDS_EXECUTION = 1 << 3,     /* executionModel */
    CUPTI_FIELDS_SOURCE_GRAPH = 1 << 4,  /* sourceGraphId, sourceGraphNodeId */
};

struct cupti_version {
    uint32_t api_version;  /* cuptiGetVersion(): a plain counter up to CUDA 12, then 13xxyy: never computed with */
    const char *cuda;      /* release of CUDA */
    uint16_t kernel_bytes; /* size of the kernel record */
    uint16_t fields;       /* enum cupti_record_fields */
    uint32_t graph_kernels_most; /* of graphs, after which times turn invalid; 0: no such bound */
};

/* The bound for API_VERSION: that of its row, of versions without a row that of the affected ones. 0: none. */
uint64_t cupti_version_graph_kernels_most(uint32_t api_version);

extern const struct cupti_version cupti_versions[];
extern const unsigned cupti_version_count;

/* The newest row not above API_VERSION: a newer library still fills what this one did. NULL: older than all rows, and
 * not known to have the common prefix. *EXACT: the row is this very version. */
const struct cupti_version *cupti_version_find(uint32_t api_version, bool *exact);

/* Name and meaning of a CUPTI result that start-up may meet; "unknown result" for others. Never NULL. */
const char *cupti_result_text(int result);

#endif
