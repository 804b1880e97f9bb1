/* SPDX-License-Identifier: Apache-2.0 */
/* Two tables: releases of CUPTI, and the results by which it refuses. */
#include "cupti/cupti_versions.h"

#include <stddef.h>

#include "cupti/cupti_types.h"

/* clang-format off */
#define TO_10 (CUPTI_FIELDS_CLUSTER | CUPTI_FIELDS_DEVICE_LAUNCH)
#define TO_11 (TO_10 | CUPTI_FIELDS_PRIORITY)
#define TO_12 (TO_11 | CUPTI_FIELDS_EXECUTION)
#define TO_13 (TO_12 | CUPTI_FIELDS_SOURCE_GRAPH)
/* Kernels of graphs whose times CUPTI takes before they turn to 0 or end before they start: its buffers on the device are not
 * used again, 250 of 100,000 records each by the defaults of CUpti_ActivityAttribute. Seen with 13.0.85 after 25.1 million
 * kernels (parcagpu issue 23); no release is known to be free of it, so all rows have the bound until one is. */
#define AFFECTED 25000000
/* Ascending. Source: cuptiGetVersion() and the debug information of each release's libcupti. 18 stands for three releases
 * of which 12.0 and 12.1 have a longer record (208 bytes); the row says what all three have. */
const struct cupti_version cupti_versions[] = {
    {     17, "11.7",         176, 0, AFFECTED },
    {     18, "11.8 to 12.1", 200, CUPTI_FIELDS_CLUSTER, AFFECTED },
    {     20, "12.2",         208, CUPTI_FIELDS_CLUSTER, AFFECTED },
    {     21, "12.3",         208, CUPTI_FIELDS_CLUSTER, AFFECTED },
    {     22, "12.4",         208, CUPTI_FIELDS_CLUSTER, AFFECTED },
    {     23, "12.5",         208, CUPTI_FIELDS_CLUSTER, AFFECTED },
    {     24, "12.6",         208, CUPTI_FIELDS_CLUSTER, AFFECTED },
    {     26, "12.8",         208, CUPTI_FIELDS_CLUSTER, AFFECTED },
    {     28, "12.9",         208, CUPTI_FIELDS_CLUSTER, AFFECTED },
    { 130001, "13.0",         216, TO_10, AFFECTED },
    { 130101, "13.1",         224, TO_11, AFFECTED },
    { 130202, "13.2",         224, TO_11, AFFECTED },
    { 130301, "13.3",         232, TO_12, AFFECTED },
    { 130401, "13.4",         248, TO_13, AFFECTED },
    { 130500, "13.5",         248, TO_13, AFFECTED },
};
const unsigned cupti_version_count = sizeof cupti_versions / sizeof *cupti_versions;

static const struct {
    int result;
    const char *text;
} results[] = {
    { CUPTI_INVALID_PARAMETER, "INVALID_PARAMETER" },
    { 8, "OUT_OF_MEMORY" },
    { CUPTI_MAX_LIMIT_REACHED, "MAX_LIMIT_REACHED: another profiler uses CUPTI in this process" },
    { CUPTI_NOT_COMPATIBLE, "NOT_COMPATIBLE: another profiler uses CUPTI in a way that excludes this one" },
    { CUPTI_NOT_INITIALIZED, "NOT_INITIALIZED: the driver is older than this CUPTI" },
    { 21, "INVALID_KIND" },
    { CUPTI_HARDWARE_BUSY, "HARDWARE_BUSY: another profiler holds the GPU" },
    { CUPTI_NOT_SUPPORTED, "NOT_SUPPORTED" },
    { CUPTI_VIRTUALIZED_DEVICE_NOT_SUPPORTED, "VIRTUALIZED_DEVICE_NOT_SUPPORTED" },
    { CUPTI_INSUFFICIENT_PRIVILEGES, "INSUFFICIENT_PRIVILEGES: profiling is restricted to the administrator here" },
    { CUPTI_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
      "MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED: another profiler or debugger (Nsight, cuda-gdb, compute-sanitizer, "
      "torch.profiler) uses CUPTI in this process" },
    { 40, "VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES" },
    { 41, "CONFIDENTIAL_COMPUTING_NOT_SUPPORTED" },
    { 43, "MIG_DEVICE_NOT_SUPPORTED" },
    { 45, "WSL_DEVICE_NOT_SUPPORTED" },
    { CUPTI_UNKNOWN, "UNKNOWN: CUPTI could not start on this driver" },
};
/* clang-format on */

const struct cupti_version *cupti_version_find(uint32_t api_version, bool *exact)
{
    const struct cupti_version *found = NULL;
    for (unsigned i = 0; i < cupti_version_count && cupti_versions[i].api_version <= api_version; i++)
        found = &cupti_versions[i];
    *exact = found && found->api_version == api_version;
    return found;
}

uint64_t cupti_version_graph_kernels_most(uint32_t api_version)
{
    bool exact = false;
    const struct cupti_version *version = cupti_version_find(api_version, &exact);
    return exact ? version->graph_kernels_most : AFFECTED;
}

const char *cupti_result_text(int result)
{
    for (unsigned i = 0; i < sizeof results / sizeof *results; i++)
        if (results[i].result == result)
            return results[i].text;
    return "unknown result";
}
