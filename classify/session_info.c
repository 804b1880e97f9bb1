/* SPDX-License-Identifier: Apache-2.0 */
/* Takes what is there and of the expected kind; everything else stays unknown. */
#include "classify/session_info.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/regular_file.h"

enum { LARGEST_MEBIBYTES = 4 }; /* a command line has 2 at most, which is the bulk of it */

static char *text_at(const json_t *object, const char *key)
{
    return allocate_text(json_string_value(json_object_get(object, key)));
}

static int64_t integer_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : -1;
}

static char *words_at(const json_t *object, const char *key)
{
    const json_t *words = json_object_get(object, key);
    if (!json_is_array(words))
        return NULL;
    size_t bytes = 1, i;
    const json_t *word;
    json_array_foreach((json_t *)words, i, word) bytes += json_string_length(word) + 1;
    char *joined = allocate(bytes, 1), *end = joined;
    json_array_foreach((json_t *)words, i, word) if (json_is_string(word)) end +=
        sprintf(end, "%s%s", end == joined ? "" : " ", json_string_value(word));
    return joined;
}

static void read_end(struct session_info *info, const json_t *root)
{
    const json_t *end = json_object_get(root, "exit");
    const char *kind = json_string_value(json_object_get(end, "kind"));
    const json_t *value = json_object_get(end, "value");
    if (!kind || !json_is_integer(value))
        return;
    if (!strcmp(kind, "exit"))
        info->end = SESSION_END_EXIT;
    else if (!strcmp(kind, "signal"))
        info->end = SESSION_END_SIGNAL;
    info->end_value = json_integer_value(value);
}

/* "": it isn't loaded. */
static char *path_at(const json_t *object, const char *key)
{
    const char *path = json_string_value(json_object_get(object, key));
    return path && *path ? allocate_text(path) : NULL;
}

static void read_unused(struct session_info *info, const json_t *root)
{
    const json_t *list = json_object_get(root, "unused_cuda"), *one;
    size_t i;
    if (!json_is_array(list))
        return;
    info->unused_known = true;
    info->unused = allocate(json_array_size(list), sizeof *info->unused);
    json_array_foreach((json_t *)list, i, one)
    {
        struct session_unused unused = {integer_at(one, "pid"), path_at(one, "runtime"), path_at(one, "driver")};
        if (unused.runtime || unused.driver)
            info->unused[info->unused_count++] = unused;
    }
}

static void describe_unusable(struct session_info *info, const char *reason)
{
    char text[160];
    snprintf(text, sizeof text, "%s can't be read (%s): the report does without it", SESSION_INFO_FILE, reason);
    info->problem = allocate_text(text);
}

static void describe_problem(struct session_info *info, const json_error_t *error)
{
    char text[sizeof error->text + 128];
    snprintf(text, sizeof text, "%s is damaged (line %d: %s): the report does without it", SESSION_INFO_FILE,
             error->line, error->text);
    info->problem = allocate_text(text);
}

char *session_info_end_text(const struct session_info *info)
{
    char text[64];
    if (info->end == SESSION_END_UNKNOWN)
        return NULL;
    snprintf(text, sizeof text, "%s %lld", info->end == SESSION_END_EXIT ? "exit" : "signal",
             (long long)info->end_value);
    return allocate_text(text);
}

struct session_info session_info_read(const char *folder)
{
    struct session_info info = {.started_realtime_ns = -1, .ended_realtime_ns = -1, .target_pid = -1};
    char *path = allocate(strlen(folder) + sizeof "/" SESSION_INFO_FILE, 1);
    sprintf(path, "%s/%s", folder, SESSION_INFO_FILE);
    uint64_t bytes;
    FILE *file = regular_file_open(path, &bytes);
    free(path);
    if (!file) {
        if (errno != ENOENT && errno != ENOTDIR)
            describe_unusable(&info, errno ? strerror(errno) : "not a regular file");
        return info;
    }
    if (bytes > (uint64_t)LARGEST_MEBIBYTES << 20) {
        char reason[64];
        snprintf(reason, sizeof reason, "larger than %d MiB", LARGEST_MEBIBYTES);
        describe_unusable(&info, reason);
        fclose(file);
        return info;
    }
    json_error_t error;
    json_t *root = json_loadf(file, 0, &error);
    fclose(file);
    info.present = true;
    if (!json_is_object(root)) {
        if (root)
            snprintf(error.text, sizeof error.text, "not an object");
        describe_problem(&info, &error);
        json_decref(root);
        return info;
    }
    info.rooftap_version = text_at(root, "rooftap_version");
    info.command = words_at(root, "command");
    info.working_directory = text_at(root, "working_directory");
    info.host = text_at(root, "host");
    info.kernel = text_at(root, "kernel");
    info.simulate = text_at(root, "simulate");
    info.started_realtime_ns = integer_at(root, "started_realtime_ns");
    info.ended_realtime_ns = integer_at(root, "ended_realtime_ns");
    info.target_pid = integer_at(root, "target_pid");
    info.ring = text_at(root, "ring");
    info.clocks_problem = text_at(json_object_get(root, "clocks"), "problem");
    read_end(&info, root);
    read_unused(&info, root);
    json_decref(root);
    return info;
}

void session_info_free(struct session_info *info)
{
    free(info->problem);
    free(info->rooftap_version);
    free(info->command);
    free(info->working_directory);
    free(info->host);
    free(info->kernel);
    free(info->simulate);
    free(info->ring);
    free(info->clocks_problem);
    for (size_t i = 0; i < info->unused_count; i++) {
        free(info->unused[i].runtime);
        free(info->unused[i].driver);
    }
    free(info->unused);
    *info = (struct session_info){0};
}
