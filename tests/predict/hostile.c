/* SPDX-License-Identifier: Apache-2.0 */
/* hostile CONFIG...: configurations and checkpoint headers cut off at every byte and with every byte changed, each from a
 * buffer of exactly its size. Built with the sanitizers, whose limit on one allocation is part of the check: nothing may take
 * memory that a length in the file merely claims. What still reads is counted, predicted and compared. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/model/checkpoint.h"
#include "classify/model/config.h"
#include "classify/model/geometry.h"
#include "classify/predict.h"

const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "max_allocation_size_mb=16:allocator_may_return_null=0:detect_leaks=1";
}

/* A model that checkpoints are compared with. */
static const char reference[] =
    "{\"model_type\":\"llama\",\"hidden_size\":64,\"intermediate_size\":96,\"num_hidden_layers\":2,"
    "\"num_attention_heads\":4,\"num_key_value_heads\":2,\"vocab_size\":100}";
static const char tensors[] =
    "{\"__metadata__\":{\"format\":\"pt\"},\"model.embed_tokens.weight\":{\"dtype\":\"BF16\",\"shape\":[100,64],"
    "\"data_offsets\":[0,12800]},\"model.layers.1.self_attn.k_proj.weight\":{\"dtype\":\"F32\",\"shape\":[32,64],"
    "\"data_offsets\":[12800,20992]},\"model.layers.0.mlp.up_proj.qweight\":{\"dtype\":\"I32\",\"shape\":[8,96],"
    "\"data_offsets\":[20992,24064]}}";
static const char index_text[] = "{\"metadata\":{\"total_size\":12800},\"weight_map\":{\"model.embed_tokens.weight\":"
                                 "\"a.safetensors\",\"model.layers.0.self_attn.q_proj.weight\":\"b.safetensors\"}}";

static unsigned long inputs, readable;

static void use_config(const struct model_config *config)
{
    struct model_error error;
    struct model_geometry geometry;
    struct predict predict;
    struct predict_options options = {
        .gpu = gpu_spec_by_key("h100-sxm"), .batch = 3, .prompt = 70, .context = 90, .chunk = 32, .tensor_parallel = 1};
    if (model_geometry_build(config, &geometry, &error) && predict_model(&geometry, &options, &predict, &error))
        predict_free(&predict);
}

static bool try_config(const char *data, size_t bytes)
{
    struct model_config config;
    struct model_error error = {""};
    if (!model_config_parse(data, bytes, &config, &error))
        return !error.text[0];
    use_config(&config);
    model_config_free(&config);
    readable++;
    return false;
}

static bool try_checkpoint(const char *data, size_t bytes)
{
    struct model_config config;
    struct model_geometry geometry;
    struct checkpoint checkpoint;
    struct checkpoint_comparison comparison;
    struct model_error error = {""};
    /* Both what the file has and what a longer file would claim. */
    for (int larger = 0; larger < 2; larger++) {
        if (!checkpoint_parse(data, bytes, larger ? (uint64_t)1 << 40 : bytes, &checkpoint, &error)) {
            if (!error.text[0])
                return true;
            continue;
        }
        if (!model_config_parse(reference, sizeof reference - 1, &config, &error) ||
            !model_geometry_build(&config, &geometry, &error))
            return true;
        checkpoint_compare(&checkpoint, &geometry, &comparison);
        model_config_free(&config);
        checkpoint_free(&checkpoint);
        readable++;
    }
    return false;
}

typedef bool attempt(const char *data, size_t bytes);

/* A refusal without a reason is a fault; crashes and reads past the end are the sanitizers' to find. */
static bool fails(attempt *try, const char *data, size_t bytes)
{
    char *exact = malloc(bytes ? bytes : 1);
    if (!exact)
        return true;
    memcpy(exact, data, bytes);
    bool fault = try(exact, bytes);
    free(exact);
    inputs++;
    if (fault)
        fprintf(stderr, "an input of %zu bytes is refused without a reason\n", bytes);
    return fault;
}

static bool torment(attempt *try, const char *data, size_t bytes)
{
    static const unsigned char changes[] = {0x01, 0x80, 0xff, 0x10};
    bool fault = false;
    for (size_t cut = 0; cut <= bytes; cut++)
        fault |= fails(try, data, cut);
    char *copy = malloc(bytes);
    if (!copy)
        return true;
    for (size_t at = 0; at < bytes; at++) {
        memcpy(copy, data, bytes);
        for (size_t i = 0; i < sizeof changes; i++) {
            copy[at] = (char)(data[at] ^ changes[i]);
            fault |= fails(try, copy, bytes);
        }
        copy[at] = '9';
        fault |= fails(try, copy, bytes);
    }
    free(copy);
    return fault;
}

/* ---- seeds ---- */

struct seed {
    char data[4096];
    size_t bytes;
};

static void put(struct seed *seed, const void *data, size_t bytes)
{
    memcpy(seed->data + seed->bytes, data, bytes);
    seed->bytes += bytes;
}

static void put_number(struct seed *seed, uint64_t number, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        seed->data[seed->bytes++] = (char)(number >> (8 * i));
}

static void put_text(struct seed *seed, const char *text)
{
    put_number(seed, strlen(text), 8);
    put(seed, text, strlen(text));
}

static void make_gguf(struct seed *seed)
{
    *seed = (struct seed){.bytes = 0};
    put(seed, "GGUF", 4);
    put_number(seed, 3, 4);
    put_number(seed, 2, 8);
    put_number(seed, 3, 8);
    put_text(seed, "general.architecture");
    put_number(seed, 8, 4);
    put_text(seed, "llama");
    put_text(seed, "tokens"); /* an array of arrays of strings */
    put_number(seed, 9, 4);
    put_number(seed, 9, 4);
    put_number(seed, 1, 8);
    put_number(seed, 8, 4);
    put_number(seed, 2, 8);
    put_text(seed, "a");
    put_text(seed, "bc");
    put_text(seed, "scores");
    put_number(seed, 9, 4);
    put_number(seed, 6, 4);
    put_number(seed, 3, 8);
    put_number(seed, 0, 8);
    put_number(seed, 0, 4);
    static const char *const names[] = {"token_embd.weight", "blk.1.attn_q.weight"};
    for (int i = 0; i < 2; i++) {
        put_text(seed, names[i]);
        put_number(seed, 2, 4);
        put_number(seed, 64, 8);
        put_number(seed, 100, 8);
        put_number(seed, 12, 4);
        put_number(seed, 0, 8);
    }
}

static void make_safetensors(struct seed *seed)
{
    *seed = (struct seed){.bytes = 0};
    put_number(seed, sizeof tensors - 1, 8);
    put(seed, tensors, sizeof tensors - 1);
}

static bool torment_file(const char *path)
{
    static char text[8192];
    FILE *file = fopen(path, "r");
    size_t bytes = file ? fread(text, 1, sizeof text, file) : 0;
    if (file)
        fclose(file);
    if (bytes == 0 || bytes == sizeof text) {
        fprintf(stderr, "%s can't be used\n", path);
        return true;
    }
    return torment(try_config, text, bytes);
}

int main(int argc, char **argv)
{
    static struct seed seed;
    bool fault = torment(try_config, reference, sizeof reference - 1);
    for (int i = 1; i < argc; i++)
        fault |= torment_file(argv[i]);
    make_gguf(&seed);
    fault |= torment(try_checkpoint, seed.data, seed.bytes);
    make_safetensors(&seed);
    fault |= torment(try_checkpoint, seed.data, seed.bytes);
    fault |= torment(try_checkpoint, index_text, sizeof index_text - 1);
    printf("%lu inputs, %lu of them readable\n", inputs, readable);
    if (readable < 100 || readable > inputs) {
        fprintf(stderr, "hardly anything was read, or counting is wrong: the check would prove nothing\n");
        fault = true;
    }
    return fault ? 1 : 0;
}
