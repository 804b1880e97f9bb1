/* SPDX-License-Identifier: Apache-2.0 */
/* What is certain is said as such; where several reasons are left, the commonest comes first. */
#include "report/no_launch_text.h"

#include <inttypes.h>

#include "classify/no_launch.h"
#include "report/format.h"

#define NOT_LOADED                                                                                                     \
    "librooftap.so could not be loaded into it (statically linked, setuid, or it clears LD_PRELOAD), or could not "    \
    "write to the session folder (full, a size limit, another user)"
#define NOT_SEEN   "no CUDA function that rooftap stands in front of, or ended before its first launch"
#define ON_THE_CPU "llama.cpp, for one, then computes on the CPU"
#define OFFLOAD                                                                                                        \
    "all layers may have stayed on the CPU (llama.cpp: -ngl, n_gpu_layers), or it ended before its first launch"

static void print_no_trace(const struct session *session, FILE *out)
{
    if (session->simulated)
        fputs("the program does not use CUDA, or " NOT_LOADED, out);
    else
        fputs("the program does not use CUDA, or CUDA could not start in it (no driver or GPU; `--simulate GPU` "
              "needs none), or " NOT_LOADED,
              out);
}

static void print_unknown(const struct session *session, FILE *out)
{
    if (session->simulated)
        fputs("the program used " NOT_SEEN, out);
    else
        fputs(
            "CUDA could not start in the program (no driver or GPU; `--simulate GPU` needs none), or it used " NOT_SEEN,
            out);
}

/* "process 100 had /usr/lib/libcuda.so.1 loaded" */
static void print_libraries(const struct session_unused *unused, FILE *out)
{
    fprintf(out, "process %" PRId64 " had %s loaded", unused->pid, unused->driver ? unused->driver : unused->runtime);
}

static void print_copies(const struct session *session, FILE *out)
{
    char copies[FORMAT_BYTES];
    uint64_t count = session->coverage.copies;
    fprintf(out, "CUDA was started, and %s %s were all that ran: " OFFLOAD, format_count(copies, count),
            format_plural(count, "copy or memset", "copies and memsets"));
}

static void print_devices(const struct session *session, FILE *out)
{
    size_t described = 0;
    for (size_t i = 0; i < session->device_count; i++)
        described += session->devices[i].described;
    fprintf(out, "CUDA was started and %zu %s found, but no kernel was launched: " OFFLOAD, described,
            described == 1 ? "device" : "devices");
}

static void print_reason(const struct session *session, FILE *out)
{
    const struct session_unused *unused = no_launch_process(session);
    switch (no_launch_of(session)) {
    case NO_LAUNCH_NOT_STARTED:
        fputs("the command could not be started", out);
        break;
    case NO_LAUNCH_GOING_ON:
        fputs("the recording is still going on, or was cut off before the program used CUDA", out);
        break;
    case NO_LAUNCH_BLANK_TRACE:
        fputs("a trace was begun, but nothing of it was written: the program was ended first, or could not write to "
              "the session folder (full, a size limit)",
              out);
        break;
    case NO_LAUNCH_SIGNAL:
        fputs("the program was ended by a signal before its first launch", out);
        break;
    case NO_LAUNCH_STUB_DRIVER:
        print_libraries(unused, out);
        fputs(", which is the toolkit's stub of the driver, so CUDA could not start; " ON_THE_CPU
              " (`rooftap doctor`, or `--simulate GPU`)",
              out);
        break;
    case NO_LAUNCH_NO_START:
        print_libraries(unused, out);
        fputs(", but CUDA never started in it: cuInit() failed (no GPU, no access to it, a driver that is too old) or "
              "was not called; " ON_THE_CPU " (`rooftap doctor` tells what is wrong)",
              out);
        break;
    case NO_LAUNCH_NO_DRIVER:
        print_libraries(unused, out);
        fputs(", but no driver (libcuda.so.1), so nothing can have run on a GPU; " ON_THE_CPU
              " (`rooftap doctor`, or `--simulate GPU`)",
              out);
        break;
    case NO_LAUNCH_NO_LIBRARY:
        fputs(
            "no process that ended by itself had a CUDA library loaded (libcudart, libcuda): the program does not use "
            "CUDA, or could not load it (" ON_THE_CPU " without a word), or " NOT_LOADED,
            out);
        break;
    case NO_LAUNCH_COPIES_ONLY:
        print_copies(session, out);
        break;
    case NO_LAUNCH_DEVICES_ONLY:
        print_devices(session, out);
        break;
    case NO_LAUNCH_NO_TRACE:
        print_no_trace(session, out);
        break;
    default:
        print_unknown(session, out);
    }
}

void no_launch_text_print(const struct session *session, FILE *out)
{
    fprintf(out, "no CUDA launch seen in %zu process%s of %s%s: ", session->process_count,
            session->process_count == 1 ? "" : "es", session->path, session->simulated ? " (SIMULATED GPU)" : "");
    print_reason(session, out);
}
