/* SPDX-License-Identifier: Apache-2.0 */
/* bench_writer FOLDER CALLS [KINDS [loop]]: what noting a call costs below the wrappers: the thread's state, a signature of one of
 * KINDS, a call record. Prints ns a call; bench_writer.sh counts instructions with callgrind, against
 * the same loop around nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/clock.h"
#include "trace/trace_writer.h"

static struct trace_signature signatures[64];

static void note_nothing(const struct trace_signature *signature)
{
    (void)signature;
}

static void note_call(const struct trace_signature *signature)
{
    uint64_t id;
    uint32_t offset;
    struct trace_thread *thread = trace_thread_get();
    struct trace_call *call = thread
                                  ? trace_reserve_with(thread, TRACE_RECORD_SIGNATURE, (void *)signature,
                                                       sizeof *signature, TRACE_RECORD_CALL, sizeof *call, &id, &offset)
                                  : NULL;
    if (!call)
        return;
    call->signature_offset = offset;
    call->call_id = trace_thread_next_call_id(thread);
    trace_commit(thread, call);
}

int main(int count, char **argument)
{
    if (count < 3) {
        fprintf(stderr, "bench_writer: usage: bench_writer FOLDER CALLS [KINDS [loop]]\n");
        return 2;
    }
    long calls = atol(argument[2]), kinds = count > 3 ? atol(argument[3]) : 7;
    void (*volatile note)(const struct trace_signature *) = count > 4 ? note_nothing : note_call;
    if (!trace_writer_open(argument[1])) {
        perror(argument[1]);
        return 2;
    }
    for (int i = 0; i < 64; i++)
        signatures[i] = (struct trace_signature){.entry = 1, .m = 256, .n = 512 * (i + 1), .k = 3584, .batch = 1};
    uint64_t start = clock_monotonic_ns();
    for (long i = 0; i < calls; i++)
        note(&signatures[i % kinds & 63]);
    uint64_t took = clock_monotonic_ns() - start;
    printf("writer: %ld calls, %.1f ns a call, %llu dropped\n", calls, (double)took / (double)calls,
           (unsigned long long)trace_thread_slot(trace_thread_get())->records_dropped);
    return 0;
}
