/* SPDX-License-Identifier: Apache-2.0 */
/* DEVICE records: what the GPUs that this process sees are, told by the driver, NVML and sysfs. */
#ifndef CUPTI_DEVICE_FACTS_H
#define CUPTI_DEVICE_FACTS_H

#include <stdbool.h>

/* Writes one DEVICE record for each visible device, once per process. False: not yet, since the driver is not mapped or the
 * application's cuInit() has not returned, or the trace has no room at the moment; call again. Loads NVML, briefly. Not for
 * the call path. */
bool device_facts_write(void);

/* What the driver alone tells, in a few microseconds and without a file or a library: for the end of a process's first call
 * on the GPU, since a worker may leave before anything else runs. A full record follows; it has the PCI id that this one
 * lacks. False: as above. errno is the caller's to keep. */
bool device_facts_write_early(void);

#endif
