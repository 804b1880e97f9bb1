/* SPDX-License-Identifier: Apache-2.0 */
/* A process uses either the functions for all of it or those for one subscriber; the first that comes decides, and the
 * others are refused ("Cannot mix global-scope and subscriber-scope activity APIs"). */
#include "stand_in.h"

#include <stdatomic.h>

struct request_information { /* CUpti_BufferCallbackRequestInfo */
    size_t struct_size;
};

struct complete_information { /* CUpti_BufferCallbackCompleteInfo */
    size_t struct_size;
    uint64_t thread_id;
    void *layouts;
    size_t layout_count;
};

enum { NOBODY, PROCESS, SUBSCRIBER };
static atomic_int scope;

static bool scope_enter(int wanted)
{
    int none = NOBODY;

    return atomic_compare_exchange_strong(&scope, &none, wanted) || none == wanted;
}

bool scope_is_process(void)
{
    return scope_enter(PROCESS);
}

bool scope_is_subscriber(void)
{
    return scope_enter(SUBSCRIBER);
}

bool scope_is_taken(void)
{
    return atomic_load(&scope) != NOBODY;
}

void scope_reset(void)
{
    atomic_store(&scope, NOBODY);
}

void scope_request(const struct scoped_callbacks *callbacks, uint8_t **buffer, size_t *size, size_t *max_records)
{
    struct request_information information = {sizeof information};

    callbacks->request(buffer, size, max_records, &information);
}

void scope_complete(const struct scoped_callbacks *callbacks, uint8_t *buffer, size_t size, size_t valid)
{
    struct complete_information information = {.struct_size = sizeof information};

    callbacks->complete(buffer, size, valid, &information);
}
