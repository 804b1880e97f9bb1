/* SPDX-License-Identifier: Apache-2.0 */
/* Other clients of CUPTI in this process: profilers that the user wants to work, above all.
 *
 * CUPTI has one subscriber a process, and its buffer callbacks and kinds belong to whoever set them last. So whoever calls
 * one of the functions that take CUPTI over (preload/cupti_calls.def) gets it: before its call goes on, what we hold is fetched,
 * our kinds are disabled, our subscription ends, and from then on this process has shapes only. It is never taken back: the
 * other one's next session would come without a word, and a profiler that is refused once stays off for the process. One
 * that came before us stays undisturbed. Beside one that shares (cupti/subscription.h) we go on, if we share too. */
#ifndef CUPTI_OTHER_CLIENTS_H
#define CUPTI_OTHER_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>

/* Around another client's call, on its thread. FUNCTION: CUPTI's name of it, a constant. LIBRARY: path of the caller, NULL
 * not known. SHARES: it leaves room for others beside it. Before: waits until CUPTI is handed over, a second at most. errno
 * may change. */
void other_clients_before(const char *function, const char *library, bool shares);
void other_clients_after(const char *function, bool shares, int result);

/* Those whose call succeeded or is on its way. */
enum other_clients_form { OTHER_CLIENTS_NONE, OTHER_CLIENTS_ALONE, OTHER_CLIENTS_SHARING };
enum other_clients_form other_clients_now(void);

/* Who the first one was: "cuptiSubscribe called by PATH". False: there was none. */
bool other_clients_describe(char *text, size_t bytes);

#endif
