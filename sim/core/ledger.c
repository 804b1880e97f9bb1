/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger: what really happened, written by the core itself, one JSON line each in one appending write, so that a
 * killed process leaves whole lines. sim/README.md lists the fields. */
#include "sim/core/aggregate.h"
#include "sim/core/device.h"
#include "sim/core/json.h"
#include "sim/core/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    pthread_once_t once;
    pthread_mutex_t mutex; /* of seq and file order; taken inside the core's lock, never around it */
    int file;
    bool aggregate, api, all_params;
    uint64_t seq, calls;
    pid_t pid;
    struct json_line line;
} ledger = {.once = PTHREAD_ONCE_INIT, .mutex = PTHREAD_MUTEX_INITIALIZER, .file = -1};

#define CALL_DEPTH 16
static __thread struct {
    uint64_t id[CALL_DEPTH], start_ns[CALL_DEPTH];
    const char *function[CALL_DEPTH];
    unsigned depth;
} calls;
static __thread pid_t thread_id;

/* ---- the file ---- */

static char *path_of(const char *setting)
{
    const char *percent = strstr(setting, "%p");
    char *path = NULL;
    int length = percent ? asprintf(&path, "%.*s%d%s", (int)(percent - setting), setting, (int)getpid(), percent + 2)
                         : asprintf(&path, "%s", setting);
    return length < 0 ? NULL : path;
}

static void open_ledger(void)
{
    const char *setting = getenv("SIMGPU_LEDGER"), *mode = getenv("SIMGPU_LEDGER_MODE");
    ledger.pid = getpid();
    char *path = setting && *setting ? path_of(setting) : NULL;
    if (!path)
        return;
    if (mode && !strcmp(mode, "aggregate")) {
        ledger.aggregate = aggregate_open(path);
        return;
    }
    const char *params = getenv("SIMGPU_LEDGER_PARAMS");
    ledger.api = mode && !strcmp(mode, "api");
    ledger.all_params = params && !strcmp(params, "all");
    ledger.file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (ledger.file < 0)
        fprintf(stderr, "simgpu: SIMGPU_LEDGER: cannot open %s: %s\n", path, strerror(errno));
    free(path);
}

static bool ledger_on(void)
{
    pthread_once(&ledger.once, open_ledger);
    return (ledger.file >= 0 || ledger.aggregate) && !simgpu_forked();
}

/* ---- lines ---- */

static void field(struct json_line *line, const char *key, uint64_t value)
{
    json_text(line, ",\"");
    json_text(line, key);
    json_text(line, "\":");
    json_number(line, value);
}

static void text_field(struct json_line *line, const char *key, const char *value)
{
    json_text(line, ",\"");
    json_text(line, key);
    json_text(line, "\":");
    json_string(line, value);
}

static void dims_field(struct json_line *line, const char *key, const unsigned dims[3])
{
    json_text(line, ",\"");
    json_text(line, key);
    json_text(line, "\":[");
    for (int i = 0; i < 3; i++) {
        if (i)
            json_text(line, ",");
        json_number(line, dims[i]);
    }
    json_text(line, "]");
}

/* Holds the ledger's mutex until end_line. */
static struct json_line *begin_line(const char *type)
{
    if (!thread_id)
        thread_id = gettid();
    pthread_mutex_lock(&ledger.mutex);
    struct json_line *line = &ledger.line;
    line->length = 0;
    json_text(line, "{\"type\":\"");
    json_text(line, type);
    json_text(line, "\"");
    field(line, "seq", ++ledger.seq);
    field(line, "pid", (uint64_t)ledger.pid);
    field(line, "tid", (uint64_t)thread_id);
    return line;
}

static void end_line(void)
{
    struct json_line *line = &ledger.line;
    json_text(line, "}\n");
    ssize_t written;
    do
        written = write(ledger.file, line->text, line->length);
    while (written < 0 && errno == EINTR);
    pthread_mutex_unlock(&ledger.mutex);
}

void ledger_note(const char *type, const char *key, const char *text)
{
    if (!ledger_on())
        return;
    int saved = errno;
    if (ledger.aggregate) {
        aggregate_add(type, text, "", 0);
    } else {
        struct json_line *line = begin_line(type);
        text_field(line, key, text);
        end_line();
    }
    errno = saved;
}

void ledger_start(void)
{
    if (!ledger_on())
        return;
    ledger.pid = getpid();
    if (ledger.aggregate) {
        aggregate_add("init", "cuInit", "", 0);
        return;
    }
    struct json_line *line = begin_line("init");
    text_field(line, "device", simgpu_device()->name);
    field(line, "time", simgpu_now_ns());
    end_line();
}

/* ---- device work ---- */

static void params_field(struct json_line *line, const struct simgpu_kernel_launch *launch)
{
    const struct simgpu_kernel *kernel = launch->kernel;
    if (launch->args && kernel->compiled && kernel->param_count && !ledger.all_params) {
        json_text(line, ",\"params\":null"); /* they would be most of the ledger */
    } else if (launch->args && kernel->param_count >= 0) {
        json_text(line, ",\"params\":[");
        for (int i = 0; i < kernel->param_count; i++) {
            if (i)
                json_text(line, ",");
            json_bytes(line, launch->args[i], kernel->params[i].size);
        }
        json_text(line, "]");
    } else if (launch->buffer) {
        json_text(line, ",\"params\":[");
        json_bytes(line, launch->buffer, launch->buffer_size);
        json_text(line, "]");
    } else if (kernel->param_count == 0) {
        json_text(line, ",\"params\":[]");
    } else {
        json_text(line, ",\"params\":null");
    }
}

static void kernel_fields(struct json_line *line, const struct simgpu_kernel_launch *launch)
{
    text_field(line, "name", launch->kernel->name);
    dims_field(line, "grid", launch->dims.grid);
    dims_field(line, "block", launch->dims.block);
    if (launch->dims.cluster[0])
        dims_field(line, "cluster", launch->dims.cluster);
    field(line, "shared", launch->dims.shared_bytes);
    if (launch->programmatic)
        field(line, "programmatic", 1);
    params_field(line, launch);
}

static void copy_fields(struct json_line *line, const struct simgpu_copy *copy)
{
    field(line, "bytes", copy->width * copy->height * copy->depth);
    field(line, "copy_kind", (uint64_t)copy->kind);
    if (copy->kind == 10) { /* CUPTI_ACTIVITY_MEMCPY_KIND_PTOP */
        field(line, "from_device", (uint64_t)copy->from_device);
        field(line, "to_device", (uint64_t)copy->to_device);
    }
}

static void place_fields(struct json_line *line, const struct simgpu_work *work, const struct work_place *place,
                         uint32_t correlation)
{
    field(line, "device", (uint64_t)work->device);
    field(line, "context", work->context);
    field(line, "stream", place->stream->id);
    field(line, "graph", place->graph_id);
    field(line, "node", place->node ? simgpu_node_id(place->node) : 0);
    field(line, "correlation", correlation);
    field(line, "call", work->call);
    field(line, "start", place->start_ns);
    field(line, "end", place->end_ns);
}

void ledger_work(const struct simgpu_work *work, const struct work_place *place, uint32_t correlation)
{
    static const char *const types[] = {[SIMGPU_WORK_KERNEL] = "kernel",
                                        [SIMGPU_WORK_COPY] = "copy",
                                        [SIMGPU_WORK_FILL] = "memset",
                                        [SIMGPU_WORK_HOST] = "host"};
    if (work->type > SIMGPU_WORK_HOST || !ledger_on())
        return;
    const char *type = types[work->type];
    int saved = errno;
    if (ledger.aggregate) {
        const char *name = work->type == SIMGPU_WORK_KERNEL ? work->kernel.kernel->name : "";
        aggregate_add(type, name, "", place->end_ns - place->start_ns);
        return;
    }
    struct json_line *line = begin_line(type);
    if (work->type == SIMGPU_WORK_KERNEL) {
        kernel_fields(line, &work->kernel);
    } else if (work->type == SIMGPU_WORK_COPY) {
        copy_fields(line, &work->copy);
    } else if (work->type == SIMGPU_WORK_FILL) {
        field(line, "bytes", work->fill.width * work->fill.element * work->fill.height);
        field(line, "value", work->fill.value);
    }
    place_fields(line, work, place, correlation);
    end_line();
    errno = saved;
}

/* ---- every call of every function: SIMGPU_LEDGER_MODE=api ---- */

enum { CLASS_POINTER = 5, CLASS_REAL = 8, CLASS_RECORD = 12, CLASS_UNION = 13 }; /* gcc's typeclass.h */

static void value_of(struct json_line *line, int class, const void *value, size_t bytes)
{
    uint64_t number = 0;
    if (class >= CLASS_RECORD || class == CLASS_REAL || bytes > sizeof number) {
        json_bytes(line, value, bytes);
        return;
    }
    memcpy(&number, value, bytes);
    if (class != CLASS_POINTER) {
        json_number(line, number);
    } else if (!number) {
        json_text(line, "null");
    } else {
        char address[24];
        snprintf(address, sizeof address, "\"0x%llx\"", (unsigned long long)number);
        json_text(line, address);
    }
}

static void values_field(struct json_line *line, const struct simgpu_api_call *call, bool results)
{
    const char *separator = "";
    json_text(line, results ? ",\"results\":{" : ",\"args\":{");
    for (unsigned i = 0; i < call->parameter_count; i++) {
        const struct simgpu_parameter *parameter = &call->parameters[i];
        const void *place = call->passed[i];
        if (results && (!parameter->result_bytes || parameter->result_class >= CLASS_RECORD || !*(void *const *)place))
            continue;
        json_text(line, separator);
        json_string(line, parameter->name);
        json_text(line, ":");
        if (results)
            value_of(line, parameter->result_class, *(const void *const *)place, parameter->result_bytes);
        else
            value_of(line, parameter->class, place, parameter->bytes);
        separator = ",";
    }
    json_text(line, "}");
}

void simgpu_ledger_api(const struct simgpu_api_call *call, int64_t status)
{
    if (!ledger_on() || !ledger.api)
        return;
    int saved = errno;
    struct json_line *line = begin_line("api");
    text_field(line, "function", call->function ? call->function : "");
    values_field(line, call, false);
    if (!status)
        values_field(line, call, true);
    field(line, "status", (uint64_t)(status < 0 ? -status : status));
    end_line();
    errno = saved;
}

/* ---- library calls ---- */

uint64_t ledger_current_call(void)
{
    unsigned depth = calls.depth < CALL_DEPTH ? calls.depth : CALL_DEPTH;
    return depth ? calls.id[depth - 1] : 0;
}

uint64_t simgpu_ledger_call_begin(const char *function)
{
    uint64_t id = __atomic_add_fetch(&ledger.calls, 1, __ATOMIC_RELAXED);
    if (calls.depth < CALL_DEPTH) {
        calls.id[calls.depth] = id;
        calls.function[calls.depth] = function;
        calls.start_ns[calls.depth] = simgpu_now_ns();
    }
    calls.depth++;
    return id;
}

/* Leaves the calls that ended without saying so, as by longjmp. */
static bool leave_call(uint64_t id, const char **function, uint64_t *start_ns)
{
    for (unsigned depth = calls.depth < CALL_DEPTH ? calls.depth : CALL_DEPTH; depth-- > 0;)
        if (calls.id[depth] == id) {
            *function = calls.function[depth];
            *start_ns = calls.start_ns[depth];
            calls.depth = depth;
            return true;
        }
    calls.depth -= calls.depth > CALL_DEPTH;
    return false;
}

void simgpu_ledger_call_end(uint64_t id, const char *fields, int status)
{
    const char *function;
    uint64_t start_ns;
    if (!leave_call(id, &function, &start_ns) || !ledger_on())
        return;
    int saved = errno;
    if (ledger.aggregate) {
        aggregate_add("call", function, fields ? fields : "", simgpu_now_ns() - start_ns);
        return;
    }
    struct json_line *line = begin_line("call");
    field(line, "call", id);
    field(line, "outer", ledger_current_call());
    text_field(line, "function", function);
    json_text(line, calls.depth ? ",\"nested\":true" : ",\"nested\":false");
    json_text(line, ",\"args\":{");
    json_text(line, fields ? fields : "");
    json_text(line, "},\"status\":");
    if (status < 0)
        json_text(line, "-");
    json_number(line, status < 0 ? (uint64_t)(-(int64_t)status) : (uint64_t)status);
    field(line, "start", start_ns);
    field(line, "end", simgpu_now_ns());
    end_line();
    errno = saved;
}
