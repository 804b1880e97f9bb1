/* SPDX-License-Identifier: Apache-2.0 */
/* Who calls CUPTI: another client, whose coming is told to cupti/other_clients.h, or CUPTI itself. Calls of this library's
 * own go to CUPTI by pointers and never come here. */
#ifndef PRELOAD_CUPTI_CLIENTS_H
#define PRELOAD_CUPTI_CLIENTS_H

#include <stdbool.h>

enum { CUPTI_CLIENTS_MISSING = 15 }; /* CUPTI_ERROR_NOT_INITIALIZED: there is no such function */

/* PARAMS: CUpti_SubscriberParams of cuptiSubscribe_v2(), or NULL. */
bool cupti_clients_share(const void *params);

/* Before and after the real call; the first says whether the second is wanted. errno is kept. */
bool cupti_clients_before(const char *function, const void *caller, bool shares);
void cupti_clients_after(const char *function, bool shares, int result);

#endif
