/* SPDX-License-Identifier: Apache-2.0 */
/* A cookie stream whose buffer grows by allocate_grow(), which ends the command where memory runs out. */
#include "report/text_stream.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"

struct text_stream {
    char **text;
    size_t *bytes;
    char *held;
    size_t count, capacity;
    bool growing; /* exit() for want of memory flushes what is still open, which must not ask for memory again */
};

/* One more than COUNT, for the final 0. */
static void make_room(struct text_stream *stream, size_t count)
{
    stream->growing = true;
    while (stream->capacity <= count)
        stream->held = allocate_grow(stream->held, stream->capacity, &stream->capacity, 1);
    stream->growing = false;
}

static ssize_t append(void *cookie, const char *text, size_t bytes)
{
    struct text_stream *stream = cookie;
    if (stream->growing)
        return 0;
    make_room(stream, stream->count + bytes);
    memcpy(stream->held + stream->count, text, bytes);
    stream->count += bytes;
    return (ssize_t)bytes;
}

static int hand_over(void *cookie)
{
    struct text_stream *stream = cookie;
    make_room(stream, stream->count);
    stream->held[stream->count] = '\0';
    *stream->text = stream->held;
    *stream->bytes = stream->count;
    free(stream);
    return 0;
}

FILE *text_stream_open(char **text, size_t *bytes)
{
    struct text_stream *stream = allocate(1, sizeof *stream);
    *stream = (struct text_stream){.text = text, .bytes = bytes};
    FILE *file = fopencookie(stream, "w", (cookie_io_functions_t){.write = append, .close = hand_over});
    if (!file)
        allocate_failed(sizeof *file);
    return file;
}
