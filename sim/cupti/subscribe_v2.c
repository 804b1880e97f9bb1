/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA 13's second way to subscribe: with a name, and told the name of who is there already. */
#include "stand_in.h"

#include <stdio.h>

CUptiResult CUPTIAPI cuptiSubscribe_v2(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *userdata,
                                       CUpti_SubscriberParams *params)
{
    const char *holder = NULL;
    CUptiResult result;

    DOOR();
    if (!params || params->structSize < CUpti_SubscriberParams_STRUCT_SIZE)
        return result_done(CUPTI_ERROR_INVALID_PARAMETER);
    result = callbacks_subscribe(handle, callback, userdata, params->subscriberName, &holder);
    if (holder && params->oldSubscriberName && params->oldSubscriberSize > 0)
        snprintf(params->oldSubscriberName, params->oldSubscriberSize, "%s", holder);
    return result_done(result);
}
