/* SPDX-License-Identifier: Apache-2.0 */
/* State by thread and stream. A handle means something to its process only and calls of two threads on one stream have no
 * order here, so a stream of two threads is two. */
#include "classify/call_sequence.h"

#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/operator_join.h"
#include "classify/work.h"
#include "trace/launch_values.h"

enum { OPERAND_A, OPERAND_B, OPERAND_D }; /* in a trace_call */

struct sequence_thread {
    uint64_t tid;
    uint64_t block_sequence; /* of the block that the last record came from */
    uint32_t generation;     /* rises when what follows is not known to follow what was before */
    struct step_sequence *steps;
};

/* What helpers made of weights and activations since the last product: the product reads the copy. */
enum { COPIES_MOST = 4 };

struct made_copy {
    uint64_t from, to;
};

struct sequence_stream {
    uint32_t thread, generation;
    struct made_copy copies[COPIES_MOST];
    uint32_t copy_count;
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

/* Places are those of the first pointers that are not NULL. */
static uint8_t slot_of(const struct launch_parameters *parameters, int index)
{
    uint8_t before = 0;
    if (index < 0 || launch_parameter_pointer(parameters, (unsigned)index, NULL) != LAUNCH_POINTER_SET)
        return 0;
    for (int i = 0; i < index; i++)
        before += launch_parameter_pointer(parameters, (unsigned)i, NULL) == LAUNCH_POINTER_SET;
    return before < TRACE_LAUNCH_POINTERS ? before + 1 : 0;
}

/* The pointer that follows the weight's: kernels take both operands one after the other. */
static uint8_t slot_after(const struct launch_parameters *parameters, int weight)
{
    return slot_of(parameters, weight) ? slot_of(parameters, weight + 1) : 0;
}

void sequence_launch_of_decode(const struct launch_decode *decode, const struct launch_parameters *parameters,
                               struct sequence_launch *launch)
{
    *launch = (struct sequence_launch){.queries = -1, .sequences = -1};
    if (decode->reading != LAUNCH_READ)
        return;
    launch->attention = decode->kind == LAUNCH_ATTENTION;
    const bool before = decode->serves == LAUNCH_SERVES_NEXT_MATMUL || decode->serves == LAUNCH_SERVES_NEXT;
    launch->serves = decode->kind == LAUNCH_HELPER && (before || decode->serves == LAUNCH_SERVES_LAST_MATMUL ||
                                                       decode->serves == LAUNCH_SERVES_LAST_OUTPUT);
    if (launch->attention) {
        launch->queries = decode->queries;
        launch->sequences = decode->sequences;
    }
    if (!parameters)
        return;
    if (launch->serves && before)
        launch->source = slot_of(parameters, 0);
    const bool weighs = decode->kind == LAUNCH_MATMUL && (decode->experts || decode->batch == 1) && decode->m > 0 &&
                        decode->n > 0 && decode->k > 0;
    launch->weight = weighs ? slot_of(parameters, decode->weight_parameter) : 0;
    launch->product = launch->weight != 0;
    if (!launch->product)
        return;
    launch->left = slot_after(parameters, decode->weight_parameter);
    launch->experts = decode->experts;
    launch->m = decode->m;
    launch->n = decode->n;
    launch->k = decode->k;
}

/* ---- copies ---- */

static void note_copy(struct sequence_stream *stream, const struct trace_launch_pointers *pointers,
                      const struct sequence_launch *launch)
{
    uint64_t to = 0;
    if (!launch->source || !pointers)
        return;
    for (int i = 0; i < TRACE_LAUNCH_POINTERS; i++) /* the result's is the last */
        if (pointers->pointer[i])
            to = pointers->pointer[i];
    if (stream->copy_count == COPIES_MOST)
        memmove(&stream->copies[0], &stream->copies[1], --stream->copy_count * sizeof stream->copies[0]);
    stream->copies[stream->copy_count++] = (struct made_copy){pointers->pointer[launch->source - 1], to};
}

/* The address of which ADDRESS has a copy, else ADDRESS. */
static uint64_t original(const struct sequence_stream *stream, uint64_t address)
{
    for (uint32_t i = stream->copy_count; stream->copy_count && i-- > 0;)
        if (stream->copies[i].to == address)
            return stream->copies[i].from;
    return address;
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
        stream->copy_count = 0;
        stream->generation = thread->generation;
    }
    return stream;
}

/* After a product. */
static void begin_gap(struct sequence_stream *stream)
{
    memset(stream->launched, 0, sizeof stream->launched);
    stream->launched_count = 0;
    stream->copy_count = 0;
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
        uint64_t weight = record->operand[call->right];
        struct step_product facts = {stream ? original(stream, weight) : weight, call->m, call->n, call->k, false};
        step_sequence_add_call(thread->steps, number, record->call_id, product ? &facts : NULL);
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
    begin_gap(stream);
}

/* False: it is no product, or its weight's address is not known. */
static bool product_of_launch(const struct sequence_stream *stream, const struct trace_launch *record,
                              const struct sequence_launch *launch, struct step_product *product)
{
    const struct trace_launch_pointers *pointers = launch && launch->product ? launch_pointers(record) : NULL;
    const uint64_t address = pointers ? pointers->pointer[launch->weight - 1] : 0;
    if (!address)
        return false;
    *product = (struct step_product){stream ? original(stream, address) : address, launch->m, launch->n, launch->k,
                                     launch->experts};
    return true;
}

static void add_to_step(struct sequence_thread *thread, const struct sequence_stream *stream,
                        const struct trace_launch *record, uint32_t number, enum phase named,
                        const struct sequence_launch *launch)
{
    struct step_product product;
    struct step_attention attention;
    struct step_launch facts = {.named = named};
    if (product_of_launch(stream, record, launch, &product))
        facts.product = &product;
    if (launch && launch->attention) {
        attention = (struct step_attention){launch->queries, launch->sequences};
        facts.attention = &attention;
    }
    step_sequence_add_launch(thread->steps, number, record->call_id, &facts);
}

/* A kernel between two products, unless it is of one's account. */
static void add_to_gap(struct sequence_stream *stream, uint64_t name_id)
{
    if (stream->launched_count < SEQUENCE_SOFTMAX_LAUNCHES)
        stream->launched[stream->launched_count] = name_id ? name_id : SEQUENCE_NAMELESS;
    if (stream->launched_count <= SEQUENCE_SOFTMAX_LAUNCHES)
        stream->launched_count++;
}

void call_sequence_launch(struct call_sequence *sequence, const struct trace_block_header *block,
                          const struct trace_launch *record, uint32_t number, uint64_t name_id, enum phase named,
                          const struct sequence_launch *launch)
{
    struct sequence_thread *thread = take_up(sequence, block);
    struct sequence_stream *stream = thread ? stream_of(sequence, thread, record->stream) : NULL;
    if (thread)
        add_to_step(thread, stream, record, number, named, launch);
    if (!stream) {
        sum_add(&sequence->dropped, 1);
        return;
    }
    if (launch && launch->product) {
        end_siblings(sequence, stream);
        stream->scores_known = false;
        begin_gap(stream);
    } else if (launch && launch->serves) {
        note_copy(stream, launch_pointers(record), launch);
    } else {
        add_to_gap(stream, name_id);
    }
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
