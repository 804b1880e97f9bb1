/* SPDX-License-Identifier: Apache-2.0 */
/* State by thread and stream. A handle means something to its process only and calls of two threads on one stream have no
 * order here, so a stream of two threads is two. */
#include "classify/call_sequence.h"

#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/operator_join.h"
#include "classify/work.h"

enum { OPERAND_A, OPERAND_B, OPERAND_D }; /* in a trace_call */

struct sequence_thread {
    uint64_t tid;
    uint64_t block_sequence; /* of the block that the last record came from */
    uint32_t generation;     /* rises when what follows is not known to follow what was before */
    struct step_sequence *steps;
};

struct sequence_stream {
    uint32_t thread, generation;
    /* Siblings that came so far; count 0: none. */
    struct sequence_siblings siblings;
    uint64_t weights[SIBLINGS_MOST];
    uint64_t activation;
    int64_t m, k;
    bool may_feed; /* one of them writes as many columns as the next would read */
    int32_t type;
    /* Kernels launched since the last call. */
    uint64_t launched[SEQUENCE_SOFTMAX_LAUNCHES];
    uint32_t launched_count; /* may be more than there is room for */
    /* The last call, if it was a batched GEMM that wrote what may be scores. */
    bool scores_known;
    uint32_t scores;
    uint64_t scores_address; /* 0: not known */
    int64_t scores_m, scores_n, scores_batch;
};

static bool is_row_major(const struct trace_signature *s)
{
    const int32_t order_row = 1; /* CUBLASLT_ORDER_ROW */
    return s->library == TRACE_LIBRARY_CUBLASLT && s->order[3] == order_row;
}

void sequence_call_of_signature(const struct trace_signature *signature, struct sequence_call *call)
{
    struct work work;
    work_of_signature(signature, NULL, &work);
    *call = (struct sequence_call){.m = work.m, .n = work.n, .k = work.k, .batch = work.batch};
    bool gemm = signature->kind == TRACE_CALL_GEMM, gemv = signature->kind == TRACE_CALL_GEMV;
    if (!work.shape_known || (!gemm && !gemv) || work.m < 1 || work.n < 1 || work.k < 1)
        return;
    call->left = gemm && is_row_major(signature) ? OPERAND_A : OPERAND_B;
    call->right = call->left == OPERAND_A ? OPERAND_B : OPERAND_A;
    call->type_left = signature->type[call->left];
    call->batched = gemm && work.batch > 1 &&
                    (signature->batch_mode == TRACE_BATCH_STRIDED || signature->batch_mode == TRACE_BATCH_POINTERS);
    call->strided = call->batched && signature->batch_mode == TRACE_BATCH_STRIDED;
    /* K = 1 is an outer product, as rotary embeddings make their angles: nothing that a model would keep as a weight. */
    bool weighs = work.weight == (call->right == OPERAND_A ? WORK_WEIGHT_A : WORK_WEIGHT_B) && work.k > 1;
    bool pointers = signature->batch_mode == TRACE_BATCH_POINTERS || signature->batch_mode == TRACE_BATCH_GROUPED;
    call->product = weighs && work.batch == 1 && !pointers;
}

/* ---- rows ---- */

static bool is_full(const struct index_map *map, size_t count, uint64_t first, uint64_t second)
{
    return count == SEQUENCE_ROWS_MOST && index_map_find(map, first, second) == INDEX_MAP_NONE;
}

void call_sequence_add_siblings(struct call_sequence *sequence, const struct sequence_siblings *siblings)
{
    uint64_t calls = trace_hash(siblings->calls, siblings->count * (uint32_t)sizeof siblings->calls[0]);
    uint64_t launched = trace_hash(siblings->launched, siblings->count * (uint32_t)sizeof siblings->launched[0]);
    if (is_full(&sequence->sibling_map, sequence->sibling_count, calls, launched)) {
        sum_add(&sequence->dropped, siblings->count);
        return;
    }
    uint32_t *index = index_map_at(&sequence->sibling_map, calls, launched);
    if (*index == INDEX_MAP_NONE) {
        *index = (uint32_t)sequence->sibling_count;
        sequence->siblings = allocate_grow(sequence->siblings, sequence->sibling_count, &sequence->sibling_capacity,
                                           sizeof *sequence->siblings);
        sequence->siblings[sequence->sibling_count] = *siblings;
        sequence->siblings[sequence->sibling_count++].times = 0;
    }
    sum_add(&sequence->siblings[*index].times, siblings->times);
}

void call_sequence_add_attention(struct call_sequence *sequence, const struct sequence_attention *attention)
{
    uint64_t calls = (uint64_t)attention->scores << 32 | attention->output;
    uint64_t launched = trace_hash(attention->launched, sizeof attention->launched) ^ attention->scores_read;
    if (is_full(&sequence->attention_map, sequence->attention_count, calls, launched)) {
        sum_add(&sequence->dropped, 2);
        return;
    }
    uint32_t *index = index_map_at(&sequence->attention_map, calls, launched);
    if (*index == INDEX_MAP_NONE) {
        *index = (uint32_t)sequence->attention_count;
        sequence->attention = allocate_grow(sequence->attention, sequence->attention_count,
                                            &sequence->attention_capacity, sizeof *sequence->attention);
        sequence->attention[sequence->attention_count] = *attention;
        sequence->attention[sequence->attention_count++].times = 0;
    }
    sum_add(&sequence->attention[*index].times, attention->times);
}

/* ---- siblings ---- */

static void end_siblings(struct call_sequence *sequence, struct sequence_stream *stream)
{
    if (stream->siblings.count > 1)
        call_sequence_add_siblings(sequence, &stream->siblings);
    stream->siblings.count = 0;
}

static bool weight_is_new(const struct sequence_stream *stream, uint64_t weight)
{
    for (uint32_t i = 0; i < stream->siblings.count; i++)
        if (stream->weights[i] == weight)
            return false;
    return true;
}

/* A call that reads what kernels made of a sibling's output reads as many columns (K) as that one wrote (N). Where its
 * address is the activation's, handed out again, N and K alone tell: then no kernel may stand between. */
static void add_sibling(struct call_sequence *sequence, struct sequence_stream *stream, const struct trace_call *record,
                        uint32_t number, const struct sequence_call *call)
{
    uint64_t activation = record->operand[call->left], weight = record->operand[call->right];
    struct sequence_siblings *siblings = &stream->siblings;
    bool joins = siblings->count && siblings->count < SIBLINGS_MOST && activation == stream->activation &&
                 call->m == stream->m && call->k == stream->k && call->type_left == stream->type &&
                 stream->launched_count <= (stream->may_feed ? 0 : SEQUENCE_GAP_LAUNCHES) &&
                 weight_is_new(stream, weight);
    if (!joins) {
        end_siblings(sequence, stream);
        *siblings = (struct sequence_siblings){.times = 1};
        stream->activation = activation;
        stream->m = call->m;
        stream->k = call->k;
        stream->type = call->type_left;
        stream->may_feed = false;
    } else {
        memcpy(siblings->launched[siblings->count], stream->launched, sizeof siblings->launched[0]);
    }
    stream->may_feed |= call->n == call->k;
    siblings->calls[siblings->count] = number;
    stream->weights[siblings->count++] = weight;
    if (record->operand[OPERAND_D] == activation) /* what comes next reads something else there */
        end_siblings(sequence, stream);
}

/* ---- attention ---- */

static void find_attention(struct call_sequence *sequence, struct sequence_stream *stream,
                           const struct trace_call *record, uint32_t number, const struct sequence_call *call)
{
    bool fits = stream->scores_known && call->batch == stream->scores_batch && call->m == stream->scores_m &&
                call->k == stream->scores_n && stream->launched_count <= SEQUENCE_SOFTMAX_LAUNCHES;
    if (fits) {
        struct sequence_attention attention = {.scores = stream->scores, .output = number, .times = 1};
        attention.scores_read =
            call->strided && stream->scores_address && record->operand[call->left] == stream->scores_address;
        memcpy(attention.launched, stream->launched, sizeof attention.launched);
        call_sequence_add_attention(sequence, &attention);
    }
    stream->scores_known = true; /* also of what ended a pair: whether it was one is decided later, by evidence */
    stream->scores = number;
    stream->scores_address = call->strided ? record->operand[OPERAND_D] : 0;
    stream->scores_m = call->m;
    stream->scores_n = call->n;
    stream->scores_batch = call->batch;
}

/* ---- threads and streams ---- */

/* NULL: there are too many. */
static struct sequence_thread *thread_of(struct call_sequence *sequence, uint64_t tid)
{
    if (sequence->thread_count && sequence->last_tid == tid)
        return &sequence->threads[sequence->last_thread];
    uint32_t found = index_map_find(&sequence->thread_map, tid, 0);
    if (found == INDEX_MAP_NONE) {
        if (sequence->thread_count == SEQUENCE_THREADS_MOST)
            return NULL;
        found = (uint32_t)sequence->thread_count;
        sequence->threads = allocate_grow(sequence->threads, sequence->thread_count, &sequence->thread_capacity,
                                          sizeof *sequence->threads);
        sequence->threads[sequence->thread_count++] =
            (struct sequence_thread){.tid = tid, .steps = step_sequence_open(&sequence->steps)};
        *index_map_at(&sequence->thread_map, tid, 0) = found;
    }
    sequence->last_tid = tid;
    sequence->last_thread = found;
    return &sequence->threads[found];
}

static struct sequence_stream *stream_of(struct call_sequence *sequence, const struct sequence_thread *thread,
                                         uint64_t handle)
{
    uint32_t index = (uint32_t)(thread - sequence->threads);
    bool last = sequence->stream_count && sequence->last_handle == handle &&
                sequence->streams[sequence->last_stream].thread == index;
    uint32_t found = last ? sequence->last_stream : index_map_find(&sequence->stream_map, thread->tid, handle);
    if (found == INDEX_MAP_NONE) {
        if (sequence->stream_count == SEQUENCE_STREAMS_MOST)
            return NULL;
        found = (uint32_t)sequence->stream_count;
        sequence->streams = allocate_grow(sequence->streams, sequence->stream_count, &sequence->stream_capacity,
                                          sizeof *sequence->streams);
        sequence->streams[sequence->stream_count++] =
            (struct sequence_stream){.thread = index, .generation = thread->generation};
        *index_map_at(&sequence->stream_map, thread->tid, handle) = found;
    }
    sequence->last_handle = handle;
    sequence->last_stream = found;
    struct sequence_stream *stream = &sequence->streams[found];
    if (stream->generation != thread->generation) {
        end_siblings(sequence, stream);
        stream->scores_known = false;
        stream->launched_count = 0;
        stream->generation = thread->generation;
    }
    return stream;
}

/* The thread of a record; a block that is older than one read before breaks what was going on. */
static struct sequence_thread *take_up(struct call_sequence *sequence, const struct trace_block_header *block)
{
    struct sequence_thread *thread = thread_of(sequence, block->tid);
    if (!thread)
        return NULL;
    if (block->sequence < thread->block_sequence) {
        step_sequence_break(thread->steps);
        thread->generation++;
    }
    thread->block_sequence = block->sequence;
    return thread;
}

void call_sequence_call(struct call_sequence *sequence, const struct trace_block_header *block,
                        const struct trace_call *record, uint32_t number, const struct sequence_call *call)
{
    struct sequence_thread *thread = take_up(sequence, block);
    struct sequence_stream *stream = thread ? stream_of(sequence, thread, record->stream) : NULL;
    bool product = call->product && record->operand[call->left] && record->operand[call->right];
    if (thread) {
        struct step_product facts = {record->operand[call->right], call->m, call->n, call->k};
        step_sequence_add_call(thread->steps, number, product ? &facts : NULL);
    }
    if (!stream) {
        sum_add(&sequence->dropped, 1);
        return;
    }
    if (product)
        add_sibling(sequence, stream, record, number, call);
    else
        end_siblings(sequence, stream);
    if (call->batched)
        find_attention(sequence, stream, record, number, call);
    else
        stream->scores_known = false;
    memset(stream->launched, 0, sizeof stream->launched);
    stream->launched_count = 0;
}

void call_sequence_launch(struct call_sequence *sequence, const struct trace_block_header *block,
                          const struct trace_launch *record, uint32_t number, uint64_t name_id, enum phase named)
{
    struct sequence_thread *thread = take_up(sequence, block);
    struct sequence_stream *stream = thread ? stream_of(sequence, thread, record->stream) : NULL;
    if (thread)
        step_sequence_add_launch(thread->steps, number, named);
    if (!stream) {
        sum_add(&sequence->dropped, 1);
        return;
    }
    if (stream->launched_count < SEQUENCE_SOFTMAX_LAUNCHES)
        stream->launched[stream->launched_count] = name_id ? name_id : SEQUENCE_NAMELESS;
    if (stream->launched_count <= SEQUENCE_SOFTMAX_LAUNCHES)
        stream->launched_count++;
}

void call_sequence_end(struct call_sequence *sequence)
{
    for (size_t i = 0; i < sequence->stream_count; i++)
        end_siblings(sequence, &sequence->streams[i]);
    for (size_t i = 0; i < sequence->thread_count; i++)
        step_sequence_break(sequence->threads[i].steps);
}

void call_sequence_open(struct call_sequence *sequence)
{
    *sequence = (struct call_sequence){0};
}

void call_sequence_close(struct call_sequence *sequence)
{
    for (size_t i = 0; i < sequence->thread_count; i++)
        step_sequence_close(sequence->threads[i].steps);
    free(sequence->threads);
    free(sequence->streams);
    free(sequence->siblings);
    free(sequence->attention);
    index_map_free(&sequence->thread_map);
    index_map_free(&sequence->stream_map);
    index_map_free(&sequence->sibling_map);
    index_map_free(&sequence->attention_map);
    step_counts_free(&sequence->steps);
    *sequence = (struct call_sequence){0};
}
