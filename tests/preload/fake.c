/* SPDX-License-Identifier: Apache-2.0 */
/* Linked into each fake library: what every generated function does. */
#include "tests/preload/fake.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static int number(const char *variable)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : 0;
}

/* Read when loaded, so that a fake call costs next to nothing in a bench. */
static int status, error;
static const char *signal_in;

__attribute__((constructor)) static void read_environment(void)
{
    status = number("FAKE_STATUS");
    error = number("FAKE_ERRNO");
    signal_in = getenv("FAKE_SIGNAL_IN");
}

void fake_called(const char *function)
{
    if (signal_in && !strcmp(function, signal_in)) {
        signal_in = NULL;
        raise(SIGUSR1);
    }
}

int fake_status(void)
{
    if (error)
        errno = error;
    return status;
}

void *fake_handle(const void *of)
{
    return (char *)(uintptr_t)of + 0x100000;
}
