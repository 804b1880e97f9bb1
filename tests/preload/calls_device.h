/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between the fake libraries and the simulated GPU: how one comes by handles, streams and kernels. */
#ifndef TESTS_PRELOAD_CALLS_DEVICE_H
#define TESTS_PRELOAD_CALLS_DEVICE_H

void calls_device_prepare(void);
int calls_device_pointer_mode(int mode);

#endif
