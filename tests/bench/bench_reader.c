/* SPDX-License-Identifier: Apache-2.0 */
/* bench_reader [RECORDS]: how many records a second the reader hands out on one core, and what memory it takes, for a
 * trace of RECORDS calls (default a million) and one eight times as long. Fails if the memory grows with the length. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace/trace_reader.h"
#include "trace/trace_writer.h"

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void write_trace(const char *folder, long records)
{
    if (!trace_writer_open(folder)) {
        perror(folder);
        _exit(1);
    }
    struct trace_thread *thread = trace_thread_get();
    for (long i = 0; i < records; i++) {
        struct trace_signature signature = {.entry = 1, .m = i % 7, .n = 4096, .k = 4096, .batch = 1};
        uint64_t id;
        uint32_t offset;
        struct trace_call *call = trace_reserve_with(thread, TRACE_RECORD_SIGNATURE, &signature, sizeof signature,
                                                     TRACE_RECORD_CALL, sizeof *call, &id, &offset);
        if (!call) {
            trace_writer_tend();
            i--;
            continue;
        }
        memset(&call->signature_offset, 0, sizeof *call - sizeof call->record);
        call->signature_offset = offset;
        call->call_id = trace_thread_next_call_id(thread);
        trace_commit(thread, call);
        if (i % 4096 == 0)
            trace_writer_tend();
    }
    trace_writer_end();
    _exit(0);
}

/* In a process of its own, whose peak is the reader's. Leaves its peak in KiB in *peak. */
static int read_trace(const char *path, long *peak)
{
    int status, pipes[2];
    if (pipe(pipes) != 0)
        return 1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct trace_error error;
        struct trace_item item;
        struct rusage usage;
        uint64_t calls = 0;
        double best = 1e9;
        for (int pass = 0; pass < 3; pass++) { /* the first one also fills the page cache */
            double start = seconds();
            struct trace_reader *reader = trace_reader_open(path, &error);
            if (!reader)
                _exit(1);
            for (calls = 0; trace_reader_next(reader, &item);)
                calls++;
            trace_reader_close(reader);
            double took = seconds() - start;
            best = took < best ? took : best;
        }
        getrusage(RUSAGE_SELF, &usage);
        printf("reader: %9llu records, %6.1f M records/s, peak memory %ld KiB\n", (unsigned long long)calls,
               (double)calls / best * 1e-6, usage.ru_maxrss);
        fflush(stdout);
        _exit(write(pipes[1], &usage.ru_maxrss, sizeof usage.ru_maxrss) != (ssize_t)sizeof usage.ru_maxrss);
    }
    close(pipes[1]);
    int failed = read(pipes[0], peak, sizeof *peak) != (ssize_t)sizeof *peak;
    close(pipes[0]);
    return waitpid(child, &status, 0) != child || status != 0 || failed;
}

static int bench(long records, long *peak)
{
    char folder[] = "/tmp/bench-reader-XXXXXX", command[256], path[512] = "";
    int status;
    if (!mkdtemp(folder))
        return 1;
    pid_t child = fork();
    if (child == 0)
        write_trace(folder, records);
    waitpid(child, &status, 0);
    snprintf(command, sizeof command, "ls %s/*%s", folder, TRACE_FILE_SUFFIX);
    FILE *listing = popen(command, "r");
    int failed = status != 0 || !listing || !fgets(path, sizeof path, listing);
    if (listing)
        pclose(listing);
    path[strcspn(path, "\n")] = 0;
    failed = failed || read_trace(path, peak);
    unlink(path);
    rmdir(folder);
    return failed;
}

int main(int count, char **argument)
{
    long records = count > 1 ? atol(argument[1]) : 1000000, short_peak = 0, long_peak = 0;
    if (records <= 0) {
        fprintf(stderr, "bench_reader: '%s': expected a number of records\n", argument[1]);
        return 2;
    }
    if (bench(records, &short_peak) || bench(records * 8, &long_peak))
        return 1;
    if (long_peak > short_peak + 512) {
        printf("reader: memory grows with the trace: %ld KiB, then %ld KiB\n", short_peak, long_peak);
        return 1;
    }
    return 0;
}
