/* SPDX-License-Identifier: Apache-2.0 */
/* Sums by (type, name, arguments without pointers), written whole beside the file and renamed over it: every so many
 * additions and at exit, so that a reader always finds a complete state. */
#include "sim/core/aggregate.h"
#include "sim/core/device.h"
#include "sim/core/json.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WRITE_EVERY 65536u
#define BUCKETS     4096u

struct sum {
    struct sum *next;
    char *type, *name, *fields;
    uint64_t count, ns;
};

static struct {
    pthread_mutex_t mutex;
    struct sum *bucket[BUCKETS];
    uint64_t additions;
    char *path;
} sums = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void write_sums(void)
{
    struct json_line text = {0};
    for (unsigned b = 0; b < BUCKETS; b++)
        for (const struct sum *sum = sums.bucket[b]; sum; sum = sum->next) {
            json_text(&text, "{\"type\":");
            json_string(&text, sum->type);
            json_text(&text, ",\"pid\":");
            json_number(&text, (uint64_t)getpid());
            json_text(&text, ",\"name\":");
            json_string(&text, sum->name);
            json_text(&text, ",\"args\":{");
            json_text(&text, sum->fields);
            json_text(&text, "},\"count\":");
            json_number(&text, sum->count);
            json_text(&text, ",\"ns\":");
            json_number(&text, sum->ns);
            json_text(&text, "}\n");
        }
    char *scratch;
    if (asprintf(&scratch, "%s.%d", sums.path, (int)getpid()) < 0)
        return;
    FILE *file = fopen(scratch, "we");
    bool whole = file && fwrite(text.text ? text.text : "", 1, text.length, file) == text.length;
    if (file && fclose(file))
        whole = false;
    if (!whole || rename(scratch, sums.path))
        fprintf(stderr, "simgpu: SIMGPU_LEDGER: cannot write %s: %s\n", sums.path, strerror(errno));
    free(scratch);
    json_release(&text);
}

static void write_at_exit(void)
{
    pthread_mutex_lock(&sums.mutex);
    if (!simgpu_forked())
        write_sums();
    pthread_mutex_unlock(&sums.mutex);
}

bool aggregate_open(char *path)
{
    sums.path = path;
    return atexit(write_at_exit) == 0;
}

/* Copies FIELDS without members whose value is an address ("0x..." in quotes). */
static char *without_pointers(const char *fields)
{
    char *kept = malloc(strlen(fields) + 1);
    char *to = kept;
    if (!kept)
        return NULL;
    while (*fields) {
        const char *end = fields;
        int depth = 0;
        bool quoted = false;
        for (; *end && (depth || quoted || *end != ','); end++) {
            if (*end == '\\' && end[1])
                end++;
            else if (*end == '"')
                quoted = !quoted;
            else if (!quoted)
                depth += (*end == '[' || *end == '{') - (*end == ']' || *end == '}');
        }
        const char *value = memmem(fields, (size_t)(end - fields), "\":\"0x", 5);
        if (!value) {
            if (to != kept)
                *to++ = ',';
            to = mempcpy(to, fields, (size_t)(end - fields));
        }
        fields = *end ? end + 1 : end;
    }
    *to = 0;
    return kept;
}

static unsigned hash(unsigned start, const char *text)
{
    for (; *text; text++)
        start = (start ^ (unsigned char)*text) * 16777619u;
    return start;
}

static struct sum *sum_of(const char *type, const char *name, const char *fields)
{
    struct sum **link = &sums.bucket[hash(hash(hash(2166136261u, type), name), fields) % BUCKETS];
    while (*link && (strcmp((*link)->type, type) || strcmp((*link)->name, name) || strcmp((*link)->fields, fields)))
        link = &(*link)->next;
    if (!*link && (*link = calloc(1, sizeof **link))) {
        (*link)->type = strdup(type);
        (*link)->name = strdup(name);
        (*link)->fields = strdup(fields);
    }
    if (!*link || !(*link)->type || !(*link)->name || !(*link)->fields)
        abort(); /* sums with holes would be believed */
    return *link;
}

void aggregate_add(const char *type, const char *name, const char *fields, uint64_t ns)
{
    char *kept = without_pointers(fields);
    pthread_mutex_lock(&sums.mutex);
    struct sum *sum = sum_of(type, name, kept ? kept : "");
    sum->count++;
    sum->ns += ns;
    if (++sums.additions % WRITE_EVERY == 0)
        write_sums();
    pthread_mutex_unlock(&sums.mutex);
    free(kept);
}
