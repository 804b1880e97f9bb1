/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between the fake libraries and the simulated GPU: how one comes by handles, streams and kernels. */
#ifndef TESTS_PRELOAD_CALLS_DEVICE_H
#define TESTS_PRELOAD_CALLS_DEVICE_H

#include <stdbool.h>

void calls_device_prepare(void);
int calls_device_pointer_mode(int mode);
/* False: these libraries say themselves that they don't take the call, so there is nothing to compare. */
bool calls_device_can(const char *function, const char *null);

#endif
