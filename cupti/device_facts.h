/* SPDX-License-Identifier: Apache-2.0 */
/* DEVICE records: what the GPUs that this process sees are, told by the driver, NVML and sysfs. */
#ifndef CUPTI_DEVICE_FACTS_H
#define CUPTI_DEVICE_FACTS_H

#include <stdbool.h>

/* Writes one DEVICE record for each visible device, once per process. False: not yet, since the driver is not mapped or the
 * application's cuInit() has not returned, or the trace has no room at the moment; call again. Loads NVML, briefly. Not for
 * the call path. */
bool device_facts_write(void);

#endif
