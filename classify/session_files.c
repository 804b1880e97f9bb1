/* SPDX-License-Identifier: Apache-2.0 */
/* Every file is a stranger's: what can't be read is listed, what is cut short is read up to there. */
#include "classify/session_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "classify/allocate.h"
#include "classify/join_timing.h"
#include "classify/regular_file.h"
#include "classify/replay_phases.h"
#include "classify/session_process.h"
#include "classify/trace_parts.h"
#include "trace/losses.h"
#include "trace/refusals.h"
#include "trace/ring_control.h"
#include "trace/ring_snapshot.h"
#include "trace/trace_name.h"

static void add_bad_file(struct session *session, const struct trace_error *error)
{
    session->bad_files = allocate_grow(session->bad_files, session->bad_file_count, &session->bad_file_capacity,
                                       sizeof *session->bad_files);
    session->bad_files[session->bad_file_count++] =
        (struct session_bad_file){allocate_text(error->text), error->newer_major};
}

/* True if a process died before it wrote anything: an empty file, or one that is all zeros where the first header goes. */
static bool is_blank(const char *path)
{
    unsigned char header[TRACE_HEADER_BYTES];
    uint64_t size;
    FILE *file = regular_file_open(path, &size);
    if (!file)
        return false;
    size_t bytes = fread(header, 1, sizeof header, file);
    bool blank = !ferror(file);
    for (size_t i = 0; i < bytes; i++)
        blank &= header[i] == 0;
    fclose(file);
    return blank;
}

static void add_unreadable(struct session *session, const char *path, const char *file, const struct trace_error *error)
{
    if (!is_blank(path)) {
        add_bad_file(session, error);
        return;
    }
    session_process_add(session, file)->stats.cut_short = true;
    session->coverage.traces_cut++;
}

/* A link to a trace, or a copy of it: its calls must not count twice. Else notes that the process that comes next has ID. */
static bool refuse_known(struct session_merge *merge, const char *path, uint64_t id)
{
    struct session *session = merge->session;
    uint32_t *known = id ? index_map_at(&merge->traces, id, 0) : NULL; /* 0: no block could be read */
    if (!known)
        return false;
    if (*known == INDEX_MAP_NONE) {
        *known = (uint32_t)session->process_count;
        return false;
    }
    struct trace_error error = {0};
    snprintf(error.text, sizeof error.text, "%s: the same trace as %s, counted once: remove one of them", path,
             session->processes[*known].file);
    add_bad_file(session, &error);
    return true;
}

/* PATH, and what RING_FOLDER, unless NULL, holds of the same process and MORE, where there is such. */
static void read_trace(struct session_merge *merge, const char *path, const char *ring_folder, const char *more)
{
    struct session *session = merge->session;
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    struct trace_error error = {0};
    struct ring_snapshot ring;
    session->trace_count++;
    struct trace_reader *reader = trace_parts_open(&ring, path, ring_folder, file, more, &error);
    if (!reader) {
        ring_snapshot_free(&ring);
        add_unreadable(session, path, file, &error);
        return;
    }
    struct operator_join join;
    struct trace_item item;
    uint32_t block_pid = 0;
    uint64_t id = 0;
    operator_join_open(&join, &merge->names);
    while (trace_reader_next(reader, &item)) {
        block_pid = item.block->pid;
        id = item.block->process_id_hash;
        operator_join_add(&join, &item);
    }
    operator_join_end(&join);
    join_timing_end(&join);
    replay_phases_apply(&join);
    if (!refuse_known(merge, path, id)) {
        struct session_process *process = session_process_add(session, file);
        const struct session_info *info = &session->info;
        session_process_fill(process, &join, reader, block_pid,
                             ring.bytes || (info->present && info->end == SESSION_END_UNKNOWN));
        session_merge_add(merge, &join, process->timing == SESSION_TIMING_ON || join.kernels || process->replays.runs);
        session_process_take_windows(process, &join);
        session_process_cover(&session->coverage, process, &join);
    }
    session->in_memory.traces += ring.bytes != 0;
    session->in_memory.bytes += ring.bytes;
    operator_join_close(&join);
    trace_reader_close(reader);
    ring_snapshot_free(&ring);
}

static int choose_trace(const struct dirent *entry)
{
    return trace_name_is_trace(entry->d_name);
}

static void write_time(char *text, size_t size, int64_t realtime_ns)
{
    time_t at = (time_t)(realtime_ns / 1000000000);
    struct tm utc;
    *text = '\0';
    if (gmtime_r(&at, &utc))
        strftime(text, size, "%FT%TZ", &utc);
}

static void read_refusals(struct session *session, const char *folder)
{
    struct refusal refusals[REFUSAL_SLOTS];
    size_t count = refusals_read(folder, refusals);
    for (size_t i = 0; i < count; i++) {
        struct trace_error error = {0};
        char when[32];
        write_time(when, sizeof when, refusals[i].realtime_ns);
        snprintf(error.text, sizeof error.text, "process %lld was not recorded: it could make no trace here at %s: %s",
                 (long long)refusals[i].pid, when, strerror((int)refusals[i].error));
        add_bad_file(session, &error);
    }
}

/* ---- parts of one process ---- */

struct name_list {
    char **names;
    size_t count, capacity;
};

/* Of <stem>.trace and <stem>.more.trace, once. */
static void add_stem(struct name_list *stems, const char *file)
{
    static const char *const suffixes[] = {TRACE_MORE_SUFFIX, TRACE_FILE_SUFFIX};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        size_t length = trace_name_stem(file, suffixes[i]);
        if (!length)
            continue;
        stems->names = allocate_grow(stems->names, stems->count, &stems->capacity, sizeof *stems->names);
        char *stem = allocate_text(file);
        stem[length] = '\0';
        stems->names[stems->count++] = stem;
        return;
    }
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Those whose file the collector has not made yet, or no more. */
static void add_ring_stems(struct name_list *stems, const char *ring)
{
    struct dirent **entries;
    int count = scandir(ring, &entries, choose_trace, NULL);
    for (int i = 0; i < count; i++) {
        add_stem(stems, entries[i]->d_name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

static char *path_of(const char *folder, const char *stem, const char *suffix)
{
    char *path = allocate(strlen(folder) + strlen(stem) + strlen(suffix) + 2, 1);
    sprintf(path, "%s/%s%s", folder, stem, suffix);
    return path;
}

static void read_process(struct session_merge *merge, const char *folder, const char *ring_folder, const char *stem)
{
    char *path = path_of(folder, stem, TRACE_FILE_SUFFIX), *more = path_of(folder, stem, TRACE_MORE_SUFFIX);
    read_trace(merge, path, ring_folder, more);
    free(path);
    free(more);
}

/* Takes STEMS; returns how many processes there are. */
static int read_processes(struct session_merge *merge, const char *folder, struct name_list *stems)
{
    const char *ring = merge->session->info.ring;
    if (ring && !ring_control_is_own_folder(ring))
        ring = NULL; /* gone, as it should be in the end; or a stranger's, of whom nothing is read */
    if (ring)
        add_ring_stems(stems, ring);
    if (stems->count)
        qsort(stems->names, stems->count, sizeof *stems->names, by_name);
    int count = 0;
    for (size_t i = 0; i < stems->count; i++)
        if (i == 0 || strcmp(stems->names[i], stems->names[i - 1]) != 0) {
            read_process(merge, folder, ring, stems->names[i]);
            count++;
        }
    merge->session->in_memory.collector = ring && ring_snapshot_has_collector(ring);
    for (size_t i = 0; i < stems->count; i++)
        free(stems->names[i]);
    free(stems->names);
    return count;
}

static void add_note(struct session_process *process, uint32_t code, int32_t value, int64_t realtime_ns,
                     const char *text)
{
    size_t capacity = process->note_count; /* what the list has room for is not known any more */
    process->notes = allocate_grow(process->notes, process->note_count, &capacity, sizeof *process->notes);
    process->notes[process->note_count++] =
        (struct joined_note){.code = code, .value = value, .text = allocate_text(text), .realtime_ns = realtime_ns};
}

static uint64_t take_from(uint64_t *missing, uint64_t *of_session, uint64_t most)
{
    uint64_t taken = *missing < most ? *missing : most;
    *missing -= taken;
    *of_session -= taken;
    return taken;
}

/* RECORDS are known to be lost: they are dropped, and not missing besides. */
static void explain_missing(struct session_coverage *coverage, struct session_process *process, uint64_t records)
{
    records -= take_from(&process->calls_missing, &coverage->calls_missing, records);
    take_from(&process->launches_missing, &coverage->launches_missing, records);
}

/* What the collector took and could not keep: said with the process, or with the session if there is no trace of it. */
static void read_losses(struct session *session, const char *folder)
{
    struct loss losses[LOSS_SLOTS];
    size_t count = losses_read(folder, losses);
    for (size_t i = 0; i < count; i++) {
        const struct loss *loss = &losses[i];
        struct trace_error error = {0};
        struct session_process *process = NULL;
        char first[32], last[32];
        write_time(first, sizeof first, loss->first_realtime_ns);
        write_time(last, sizeof last, loss->last_realtime_ns);
        snprintf(error.text, sizeof error.text,
                 "%.*s: %lld records (%lld blocks) could not be written, from %s to %s: %s", LOSS_NAME_BYTES,
                 loss->name, (long long)loss->records, (long long)loss->blocks, first, last,
                 strerror((int)loss->error));
        for (size_t k = 0; k < session->process_count; k++)
            if (!strcmp(session->processes[k].file, loss->name))
                process = &session->processes[k];
        sum_add(&session->coverage.records_dropped, (uint64_t)loss->records);
        if (!process) {
            add_bad_file(session, &error);
            continue;
        }
        sum_add(&process->records_dropped, (uint64_t)loss->records);
        explain_missing(&session->coverage, process, (uint64_t)loss->records);
        add_note(process, TRACE_NOTE_WRITER, (int32_t)loss->error, loss->first_realtime_ns,
                 error.text + strlen(loss->name) + 2);
    }
}

static bool read_folder(struct session_merge *merge, const char *folder, struct session_error *error)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, choose_trace, alphasort);
    if (count < 0) {
        snprintf(error->text, sizeof error->text, "%s can't be read: %s; expected a folder that `rooftap record` made",
                 folder, strerror(errno));
        return false;
    }
    struct name_list stems = {0};
    for (int i = 0; i < count; i++) {
        add_stem(&stems, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    count = read_processes(merge, folder, &stems);
    const struct session_info *info = &merge->session->info;
    if (!count && !info->command && !info->problem) { /* the launcher's file always tells the command */
        snprintf(error->text, sizeof error->text,
                 "%s holds no session, neither a %s of rooftap nor *%s; expected a folder that `rooftap record` made",
                 folder, SESSION_INFO_FILE, TRACE_FILE_SUFFIX);
        return false;
    }
    return true;
}

bool session_files_read(struct session_merge *merge, const char *path, struct session_error *error)
{
    struct stat status;
    if (stat(path, &status)) {
        snprintf(error->text, sizeof error->text,
                 "%s: %s; expected a folder that `rooftap record` made, or a trace file in it", path, strerror(errno));
        return false;
    }
    if (S_ISDIR(status.st_mode)) {
        merge->session->info = session_info_read(path);
        merge->session->clocks = held_clock_read(path);
        read_refusals(merge->session, path);
        bool good = read_folder(merge, path, error);
        read_losses(merge->session, path);
        return good;
    }
    read_trace(merge, path, NULL, NULL);
    return true;
}
