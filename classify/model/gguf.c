/* SPDX-License-Identifier: Apache-2.0 */
/* Reads forward only and believes no length: what remains of the file bounds each. Of metadata only what facts[] names is
 * taken. */
#include "classify/model/gguf.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"

enum { NAME_MOST = 1024, NESTING_MOST = 4, DIMENSIONS_MOST = 4, VERSION_FIRST = 2, VERSION_LAST = 3 };

#define ELEMENTS_MOST (UINT64_C(1) << 53)

struct stream {
    FILE *file;
    uint64_t left; /* bytes of the file that have not been read */
    bool failed;
    struct model_error *error;
};

static void fail(struct stream *stream, const char *what)
{
    if (!stream->failed)
        snprintf(stream->error->text, sizeof stream->error->text, "is no whole GGUF header: %s", what);
    stream->failed = true;
}

static void take(struct stream *stream, void *out, size_t bytes)
{
    memset(out, 0, bytes);
    if (stream->failed)
        return;
    if (bytes > stream->left || fread(out, 1, bytes, stream->file) != bytes) {
        fail(stream, "it ends too early");
        return;
    }
    stream->left -= bytes;
}

static uint64_t take_number(struct stream *stream, size_t bytes)
{
    unsigned char raw[8];
    uint64_t number = 0;
    take(stream, raw, bytes);
    for (size_t i = 0; i < bytes; i++)
        number |= (uint64_t)raw[i] << (8 * i);
    return number;
}

static void skip(struct stream *stream, uint64_t bytes)
{
    char waste[4096];
    if (bytes > stream->left) {
        fail(stream, "a length goes beyond its end");
        return;
    }
    while (bytes && !stream->failed) {
        size_t part = bytes < sizeof waste ? (size_t)bytes : sizeof waste;
        take(stream, waste, part);
        bytes -= part;
    }
}

/* Into TEXT, of NAME_MOST + 1. */
static void take_name(struct stream *stream, char *text)
{
    uint64_t length = take_number(stream, 8);
    text[0] = '\0';
    if (length > NAME_MOST) {
        fail(stream, "a name is longer than any");
        return;
    }
    take(stream, text, (size_t)length);
    text[stream->failed ? 0 : length] = '\0';
}

static uint64_t scalar_bytes(uint64_t type)
{
    static const unsigned char bytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return type < sizeof bytes ? bytes[type] : 0;
}

enum { TYPE_STRING = 8, TYPE_ARRAY = 9 };

static void skip_value(struct stream *stream, uint64_t type, int depth)
{
    if (scalar_bytes(type)) {
        skip(stream, scalar_bytes(type));
    } else if (type == TYPE_STRING) {
        skip(stream, take_number(stream, 8));
    } else if (type == TYPE_ARRAY && depth < NESTING_MOST) {
        uint64_t element = take_number(stream, 4), count = take_number(stream, 8), each = scalar_bytes(element);
        if (each && count > stream->left / each) {
            fail(stream, "an array goes beyond its end");
        } else if (each) {
            skip(stream, count * each);
        } else {
            /* each element takes 8 bytes and more, so the file's end bounds this */
            for (uint64_t i = 0; i < count && !stream->failed; i++)
                skip_value(stream, element, depth + 1);
        }
    } else {
        fail(stream, "a value has a type that is not known");
    }
}

/* ---- facts ---- */

/* Source: ggml-org/ggml, docs/gguf.md, and ggml-org/llama.cpp, gguf-py/gguf/constants.py (class Keys). */
static const struct fact {
    const char *key; /* behind the architecture's name, or the whole key */
    size_t place;    /* in struct gguf_facts */
} facts[] = {
    {"block_count", offsetof(struct gguf_facts, layers)},
    {"embedding_length", offsetof(struct gguf_facts, embedding)},
    {"attention.head_count", offsetof(struct gguf_facts, query_heads)},
    {"attention.head_count_kv", offsetof(struct gguf_facts, kv_heads)},
    {"attention.key_length", offsetof(struct gguf_facts, key_dim)},
    {"attention.value_length", offsetof(struct gguf_facts, value_dim)},
    {"attention.sliding_window", offsetof(struct gguf_facts, window)},
    {"expert_count", offsetof(struct gguf_facts, experts)},
    {"expert_used_count", offsetof(struct gguf_facts, experts_used)},
    {"nextn_predict_layers", offsetof(struct gguf_facts, predict_layers)},
    {"split.count", offsetof(struct gguf_facts, parts)},
};

/* Integers alone: of 8, 16, 32 and 64 bits. */
static bool is_integer(uint64_t type)
{
    enum { TYPE_INT32 = 5, TYPE_UINT64 = 10, TYPE_INT64 = 11 };
    return type <= TYPE_INT32 || type == TYPE_UINT64 || type == TYPE_INT64;
}

static int64_t take_integer(struct stream *stream, uint64_t type)
{
    const uint64_t number = take_number(stream, scalar_bytes(type));
    return number <= INT32_MAX ? (int64_t)number : -1; /* no model has as many of anything */
}

/* Arrays have a value for each layer. */
static void take_fact(struct stream *stream, uint64_t type, int64_t *fact)
{
    if (type != TYPE_ARRAY) {
        *fact = take_integer(stream, type);
        return;
    }
    uint64_t element = take_number(stream, 4), count = take_number(stream, 8);
    for (uint64_t i = 0; i < count && !stream->failed; i++) {
        const int64_t value = is_integer(element) ? take_integer(stream, element) : -1;
        if (!is_integer(element))
            skip_value(stream, element, 1);
        if (value > *fact)
            *fact = value;
    }
}

static void take_text(struct stream *stream, char *text, size_t room)
{
    uint64_t length = take_number(stream, 8);
    const size_t kept = length < room ? (size_t)length : room - 1;
    take(stream, text, kept);
    text[stream->failed ? 0 : kept] = '\0';
    skip(stream, length - kept);
}

/* Keys of a model begin with its architecture, which llama.cpp's writers put first. */
static int64_t *fact_of(struct gguf_facts *found, const char *key)
{
    const size_t prefix = strlen(found->architecture);
    const bool own = prefix && !strncmp(key, found->architecture, prefix) && key[prefix] == '.';
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        if (!strcmp(facts[i].key, key) || (own && !strcmp(facts[i].key, key + prefix + 1)))
            return (int64_t *)((char *)found + facts[i].place);
    return NULL;
}

static void take_pair(struct stream *stream, struct gguf_facts *found)
{
    char key[NAME_MOST + 1];
    take_name(stream, key);
    const uint64_t type = take_number(stream, 4);
    int64_t *fact = fact_of(found, key);
    if (type == TYPE_STRING && !strcmp(key, "general.architecture"))
        take_text(stream, found->architecture, sizeof found->architecture);
    else if (type == TYPE_STRING && !strcmp(key, "general.name"))
        take_text(stream, found->name, sizeof found->name);
    else if (fact && (is_integer(type) || type == TYPE_ARRAY))
        take_fact(stream, type, fact);
    else
        skip_value(stream, type, 0);
}

/* Heads share the embedding evenly where nothing else is said; where keys and values have no heads of their own, they have as
 * many as queries. */
static void complete(struct gguf_facts *found)
{
    if (found->kv_heads < 0)
        found->kv_heads = found->query_heads;
    const bool even = found->query_heads > 0 && found->embedding > 0 && found->embedding % found->query_heads == 0;
    if (found->key_dim < 0 && even)
        found->key_dim = found->embedding / found->query_heads;
    if (found->value_dim < 0 && even)
        found->value_dim = found->embedding / found->query_heads;
}

/* ---- tensors ---- */

/* Rows first: GGUF has the fastest dimension first. */
static void take_shape(struct stream *stream, struct checkpoint_tensor *tensor)
{
    uint64_t dimensions = take_number(stream, 4);
    if (dimensions < 1 || dimensions > DIMENSIONS_MOST) {
        fail(stream, "a tensor has no or too many dimensions");
        return;
    }
    tensor->dimensions = (int)dimensions;
    tensor->shape_known = true;
    tensor->elements = 1;
    for (int i = tensor->dimensions; i-- > 0;) {
        uint64_t size = take_number(stream, 8);
        if (size && tensor->elements > ELEMENTS_MOST / size)
            fail(stream, "a tensor is larger than any");
        tensor->shape[i] = size;
        tensor->elements *= size;
    }
}

static void take_tensor(struct stream *stream, struct checkpoint *checkpoint)
{
    char name[NAME_MOST + 1];
    struct checkpoint_tensor tensor = {.bytes = NAN};
    take_name(stream, name);
    take_shape(stream, &tensor);
    uint64_t type = take_number(stream, 4);
    take_number(stream, 8); /* offset: weights are never read */
    if (stream->failed)
        return;
    tensor.format = model_format_by_gguf((uint32_t)type);
    if (tensor.format && tensor.format->block)
        tensor.bytes = (double)tensor.elements / tensor.format->block * tensor.format->block_bytes;
    tensor.name = allocate_text(name);
    checkpoint->tensors =
        allocate_grow(checkpoint->tensors, checkpoint->count, &checkpoint->capacity, sizeof *checkpoint->tensors);
    checkpoint->tensors[checkpoint->count++] = tensor;
}

bool gguf_read(FILE *file, uint64_t file_bytes, struct checkpoint *checkpoint, struct model_error *error)
{
    struct stream stream = {.file = file, .left = file_bytes, .error = error};
    checkpoint->kind = CHECKPOINT_GGUF;
    checkpoint->gguf = (struct gguf_facts){.layers = -1,
                                           .embedding = -1,
                                           .query_heads = -1,
                                           .kv_heads = -1,
                                           .key_dim = -1,
                                           .value_dim = -1,
                                           .experts = -1,
                                           .experts_used = -1,
                                           .window = -1,
                                           .predict_layers = -1,
                                           .parts = -1};
    if (take_number(&stream, 4) != UINT64_C(0x46554747))
        fail(&stream, "it does not begin with GGUF");
    uint64_t version = take_number(&stream, 4);
    if (!stream.failed && (version < VERSION_FIRST || version > VERSION_LAST)) {
        snprintf(error->text, sizeof error->text, "has GGUF version %" PRIu64 "; %d and %d, little-endian, can be read",
                 version, VERSION_FIRST, VERSION_LAST);
        return false;
    }
    uint64_t tensors = take_number(&stream, 8), pairs = take_number(&stream, 8);
    for (uint64_t i = 0; i < pairs && !stream.failed; i++)
        take_pair(&stream, &checkpoint->gguf);
    complete(&checkpoint->gguf);
    for (uint64_t i = 0; i < tensors && !stream.failed; i++)
        take_tensor(&stream, checkpoint);
    return !stream.failed;
}

/* Source: ggml-org/llama.cpp, gguf-py/gguf/tensor_mapping.py. */
/* clang-format off */
static const struct gguf_name names[] = {
    {"token_embd.weight", "embed_tokens.weight", 1},
    {"output.weight", "lm_head.weight", 1},
    {"output.bias", "lm_head.bias", 1},
    {"output_norm.weight", "norm.weight", 1},
    {"output_norm.weight", "final_layernorm.weight", 1},
    {"output_norm.bias", "norm.bias", 1},
    {"output_norm.bias", "final_layernorm.bias", 1},
    {"blk.*.attn_norm.weight", "layers.*.input_layernorm.weight", 1},
    {"blk.*.attn_norm.bias", "layers.*.input_layernorm.bias", 1},
    {"blk.*.ffn_norm.weight", "layers.*.pre_feedforward_layernorm.weight", 1},
    {"blk.*.ffn_norm.weight", "layers.*.post_attention_layernorm.weight", 1},
    {"blk.*.ffn_norm.bias", "layers.*.post_attention_layernorm.bias", 1},
    {"blk.*.post_attention_norm.weight", "layers.*.post_attention_layernorm.weight", 1},
    {"blk.*.post_ffw_norm.weight", "layers.*.post_feedforward_layernorm.weight", 1},
    {"blk.*.attn_q.weight", "layers.*.self_attn.q_proj.weight", 1},
    {"blk.*.attn_q.bias", "layers.*.self_attn.q_proj.bias", 1},
    {"blk.*.attn_k.weight", "layers.*.self_attn.k_proj.weight", 1},
    {"blk.*.attn_k.bias", "layers.*.self_attn.k_proj.bias", 1},
    {"blk.*.attn_v.weight", "layers.*.self_attn.v_proj.weight", 1},
    {"blk.*.attn_v.bias", "layers.*.self_attn.v_proj.bias", 1},
    {"blk.*.attn_qkv.weight", "layers.*.self_attn.qkv_proj.weight", 1},
    {"blk.*.attn_output.weight", "layers.*.self_attn.o_proj.weight", 1},
    {"blk.*.attn_output.weight", "layers.*.self_attn.dense.weight", 1},
    {"blk.*.attn_output.bias", "layers.*.self_attn.o_proj.bias", 1},
    {"blk.*.attn_output.bias", "layers.*.self_attn.dense.bias", 1},
    {"blk.*.attn_q_norm.weight", "layers.*.self_attn.q_norm.weight", 1},
    {"blk.*.attn_k_norm.weight", "layers.*.self_attn.k_norm.weight", 1},
    {"blk.*.attn_sinks.weight", "layers.*.self_attn.sinks", 1},
    {"blk.*.attn_q_a.weight", "layers.*.self_attn.q_a_proj.weight", 1},
    {"blk.*.attn_q_b.weight", "layers.*.self_attn.q_b_proj.weight", 1},
    {"blk.*.attn_q_a_norm.weight", "layers.*.self_attn.q_a_layernorm.weight", 1},
    {"blk.*.attn_kv_a_mqa.weight", "layers.*.self_attn.kv_a_proj_with_mqa.weight", 1},
    {"blk.*.attn_kv_a_norm.weight", "layers.*.self_attn.kv_a_layernorm.weight", 1},
    {"blk.*.attn_kv_b.weight", "layers.*.self_attn.kv_b_proj.weight", 1},
    {"blk.*.ffn_gate.weight", "layers.*.mlp.gate_proj.weight", 1},
    {"blk.*.ffn_up.weight", "layers.*.mlp.up_proj.weight", 1},
    {"blk.*.ffn_up.weight", "layers.*.mlp.gate_up_proj.weight", 1},
    {"blk.*.ffn_up.weight", "layers.*.mlp.fc1.weight", 1},
    {"blk.*.ffn_up.bias", "layers.*.mlp.fc1.bias", 1},
    {"blk.*.ffn_down.weight", "layers.*.mlp.down_proj.weight", 1},
    {"blk.*.ffn_down.weight", "layers.*.mlp.fc2.weight", 1},
    {"blk.*.ffn_down.bias", "layers.*.mlp.fc2.bias", 1},
    {"blk.*.ffn_gate_inp.weight", "layers.*.mlp.gate.weight", 1},
    {"blk.*.ffn_gate_inp.weight", "layers.*.block_sparse_moe.gate.weight", 1},
    {"blk.*.ffn_gate_inp.weight", "layers.*.mlp.router.weight", 1},
    {"blk.*.ffn_gate_inp.bias", "layers.*.mlp.router.bias", 1},
    {"blk.*.exp_probs_b.bias", "layers.*.mlp.gate.e_score_correction_bias", 1},
    {"blk.*.ffn_gate_exps.weight", "layers.*.mlp.experts.*.gate_proj.weight", 1},
    {"blk.*.ffn_gate_exps.weight", "layers.*.block_sparse_moe.experts.*.w1.weight", 1},
    {"blk.*.ffn_up_exps.weight", "layers.*.mlp.experts.*.up_proj.weight", 1},
    {"blk.*.ffn_up_exps.weight", "layers.*.block_sparse_moe.experts.*.w3.weight", 1},
    {"blk.*.ffn_down_exps.weight", "layers.*.mlp.experts.*.down_proj.weight", 1},
    {"blk.*.ffn_down_exps.weight", "layers.*.block_sparse_moe.experts.*.w2.weight", 1},
    {"blk.*.ffn_gate_shexp.weight", "layers.*.mlp.shared_expert.gate_proj.weight", 1},
    {"blk.*.ffn_gate_shexp.weight", "layers.*.mlp.shared_experts.gate_proj.weight", 1},
    {"blk.*.ffn_up_shexp.weight", "layers.*.mlp.shared_expert.up_proj.weight", 1},
    {"blk.*.ffn_up_shexp.weight", "layers.*.mlp.shared_experts.up_proj.weight", 1},
    {"blk.*.ffn_down_shexp.weight", "layers.*.mlp.shared_expert.down_proj.weight", 1},
    {"blk.*.ffn_down_shexp.weight", "layers.*.mlp.shared_experts.down_proj.weight", 1},
    /* kv_b_proj by heads, keys and values apart */
    {"blk.*.attn_k_b.weight", "layers.*.self_attn.kv_b_proj.weight", 2},
    {"blk.*.attn_v_b.weight", "layers.*.self_attn.kv_b_proj.weight", 2},
    /* gpt-oss: gate and up apart */
    {"blk.*.ffn_gate_exps.weight", "layers.*.mlp.experts.gate_up_proj", 2},
    {"blk.*.ffn_up_exps.weight", "layers.*.mlp.experts.gate_up_proj", 2},
    {"blk.*.ffn_gate_exps.bias", "layers.*.mlp.experts.gate_up_proj_bias", 2},
    {"blk.*.ffn_up_exps.bias", "layers.*.mlp.experts.gate_up_proj_bias", 2},
    {"blk.*.ffn_down_exps.weight", "layers.*.mlp.experts.down_proj", 1},
    {"blk.*.ffn_down_exps.bias", "layers.*.mlp.experts.down_proj_bias", 1},
    {"blk.*.ffn_gate_inp_shexp.weight", "layers.*.mlp.shared_expert_gate.weight", 1},
};
/* clang-format on */

const struct gguf_name *gguf_tensor_name(const char *pattern, int alternative)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(names[i].gguf, pattern) && alternative-- == 0)
            return &names[i];
    return NULL;
}
