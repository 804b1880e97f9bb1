/* SPDX-License-Identifier: Apache-2.0 */
/* The matrix multiplications of a language model's decode step, from its config.json, by the real cuBLAS interface:
 * q, k, v, o, gate, up and down of each layer, then the vocabulary. Attention and the rest of the step are left out,
 * values are whatever memory holds. All layers share one layer's memory, so that it fits a small GPU, but have addresses of
 * their own as in a model: each layer begins a little behind the one before. */
#include "model_config.h"
#include "multiplier.h"
#include "step_graph.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ELEMENT_BYTES 2   /* bf16 */
#define LAYER_SHIFT   256 /* bytes from one layer's weights to the next one's: what cuBLAS likes operands aligned to */

struct settings {
    const char *config_path;
    int batch, steps, layers; /* layers 0: as many as the model has */
    bool no_bias, graph, times;
};

static const char usage[] =
    "usage: decode_loop [--config FILE] [--batch N] [--steps N] [--layers N] [--no-bias] [--graph]\n"
    "                   [--times]\n"
    "  --config FILE  config.json of a Llama- or Qwen-like model (default: qwen2.5-7b.json beside the program)\n"
    "  --batch N      sequences decoded together, one token each (default 256)\n"
    "  --steps N      decode steps (default 1)\n"
    "  --layers N     at most so many layers a step (default: all)\n"
    "  --no-bias      multiply q, k and v without their biases\n"
    "  --graph        capture the second step into a CUDA graph, and replay it from then on\n"
    "  --times        print how long each step took on the CPU's clock, its end on the GPU included\n";

static bool read_count(const char *option, const char *text, int *value)
{
    char *end;
    errno = 0;
    const long number = strtol(text, &end, 10);
    if (errno || end == text || *end || number < 1 || number > 1000000) {
        fprintf(stderr, "decode_loop: --%s %s: expected an integer from 1 to 1000000\n", option, text);
        return false;
    }
    *value = (int)number;
    return true;
}

/* 0: go on; else the exit status plus one. */
static int read_options(int argc, char **argv, struct settings *settings)
{
    static const struct option options[] = {
        {"config", required_argument, NULL, 'c'},
        {"batch", required_argument, NULL, 'b'},
        {"steps", required_argument, NULL, 's'},
        {"layers", required_argument, NULL, 'l'},
        {"no-bias", no_argument, NULL, 'n'},
        {"graph", no_argument, NULL, 'g'},
        {"times", no_argument, NULL, 't'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        bool good = true;
        switch (option) {
        case 'c':
            settings->config_path = optarg;
            break;
        case 'b':
            good = read_count("batch", optarg, &settings->batch);
            break;
        case 's':
            good = read_count("steps", optarg, &settings->steps);
            break;
        case 'l':
            good = read_count("layers", optarg, &settings->layers);
            break;
        case 'n':
            settings->no_bias = true;
            break;
        case 'g':
            settings->graph = true;
            break;
        case 't':
            settings->times = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return 1;
        default:
            good = false;
        }
        if (!good)
            return 3;
    }
    if (optind < argc) {
        fprintf(stderr, "decode_loop: %s: unexpected argument; `decode_loop --help` lists the options\n", argv[optind]);
        return 3;
    }
    return 0;
}

static bool default_config(char *path, size_t size)
{
    static const char name[] = "/qwen2.5-7b.json";
    const ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length < 0 || (size_t)length >= size - 1)
        return false;
    path[length] = 0;
    char *slash = strrchr(path, '/');
    if (!slash || (size_t)(slash - path) + sizeof name > size)
        return false;
    memcpy(slash, name, sizeof name);
    return true;
}

/* ---- the model on the device ---- */

/* What a product reads. q, k and v read one activation, gate and up another. */
enum activation { NORMED, ATTENDED, NORMED_AGAIN, GATED, NORMED_LAST, ACTIVATIONS };

struct shape {
    int outputs, inputs;
    bool bias;
    enum activation reads;
};

struct model {
    struct shape layer[7]; /* q k v o gate up down */
    struct shape head;
    char *weights, *bias, *input[ACTIVATIONS], *output;
};

static size_t weight_bytes(const struct shape *shape)
{
    return (size_t)shape->outputs * (size_t)shape->inputs * ELEMENT_BYTES;
}

static void model_shapes(const struct model_config *config, struct model *model)
{
    const int q = config->heads * config->head_dim, kv = config->kv_heads * config->head_dim;
    const bool bias = config->qkv_bias;
    const struct shape layer[7] = {
        {q, config->hidden, bias, NORMED},
        {kv, config->hidden, bias, NORMED},
        {kv, config->hidden, bias, NORMED},
        {config->hidden, q, false, ATTENDED},
        {config->intermediate, config->hidden, false, NORMED_AGAIN},
        {config->intermediate, config->hidden, false, NORMED_AGAIN},
        {config->hidden, config->intermediate, false, GATED},
    };
    memcpy(model->layer, layer, sizeof layer);
    model->head = (struct shape){config->vocabulary, config->hidden, false, NORMED_LAST};
}

static bool allocate(char **place, size_t bytes, const char *what)
{
    void *memory = NULL;
    if (!multiplier_cuda_ok(cudaMalloc(&memory, bytes), what))
        return false;
    *place = memory;
    return true;
}

static bool allocate_inputs(struct model *model, int batch)
{
    for (int i = 0; i < 8; i++) {
        const struct shape *shape = i < 7 ? &model->layer[i] : &model->head;
        if (!model->input[shape->reads] &&
            !allocate(&model->input[shape->reads], (size_t)shape->inputs * (size_t)batch * ELEMENT_BYTES,
                      "cudaMalloc of activations"))
            return false;
    }
    return true;
}

static bool model_allocate(struct model *model, int batch, int layers)
{
    size_t layer_bytes = 0, widest = (size_t)model->head.outputs;
    for (int i = 0; i < 7; i++) {
        const struct shape *shape = &model->layer[i];
        layer_bytes += weight_bytes(shape);
        if ((size_t)shape->outputs > widest)
            widest = (size_t)shape->outputs;
    }
    const size_t head_bytes = weight_bytes(&model->head);
    const size_t most_bytes = layer_bytes > head_bytes ? layer_bytes : head_bytes;
    return allocate(&model->weights, most_bytes + (size_t)layers * LAYER_SHIFT, "cudaMalloc of weights") &&
           allocate(&model->bias, widest * ELEMENT_BYTES, "cudaMalloc of biases") &&
           allocate(&model->output, widest * (size_t)batch * ELEMENT_BYTES, "cudaMalloc of activations") &&
           allocate_inputs(model, batch);
}

static bool model_free(struct model *model)
{
    bool good = true;
    char *blocks[] = {model->weights, model->bias, model->output};
    for (int i = 0; i < 3; i++)
        good &= multiplier_cuda_ok(cudaFree(blocks[i]), "cudaFree");
    for (int i = 0; i < ACTIVATIONS; i++)
        good &= multiplier_cuda_ok(cudaFree(model->input[i]), "cudaFree");
    return good;
}

static bool multiply(struct multiplier *multiplier, const struct model *model, const struct shape *shape,
                     const char *weight, int batch)
{
    const char *input = model->input[shape->reads];
    if (shape->bias)
        return multiplier_run_bias(multiplier, weight, model->bias, input, model->output, batch, shape->outputs,
                                   shape->inputs);
    return multiplier_run(multiplier, weight, input, model->output, batch, shape->outputs, shape->inputs);
}

static bool ask_for_step(struct multiplier *multiplier, const struct model *model, int layers, int batch)
{
    const char *first = model->weights;
    for (int layer = 0; layer < layers; layer++, first += LAYER_SHIFT) {
        const char *weight = first;
        for (int i = 0; i < 7; i++) {
            if (!multiply(multiplier, model, &model->layer[i], weight, batch))
                return false;
            weight += weight_bytes(&model->layer[i]);
        }
    }
    return multiply(multiplier, model, &model->head, first, batch);
}

static bool capture_step(struct step_graph *graph, struct multiplier *multiplier, const struct model *model, int layers,
                         int batch)
{
    if (!step_graph_begin(multiplier->stream))
        return false;
    const bool asked = ask_for_step(multiplier, model, layers, batch);
    return step_graph_end(graph, multiplier->stream) && asked; /* ended in any case: the stream is to be of use again */
}

/* The first step is never captured: libraries set themselves up in it. */
static bool decode_step(const struct settings *settings, int step, struct step_graph *graph,
                        struct multiplier *multiplier, const struct model *model, int layers)
{
    bool good = true;
    const bool replays = settings->graph && step > 0;
    if (replays && !graph->executable)
        good = capture_step(graph, multiplier, model, layers, settings->batch);
    if (good)
        good = replays ? step_graph_launch(graph, multiplier->stream)
                       : ask_for_step(multiplier, model, layers, settings->batch);
    return good && multiplier_cuda_ok(cudaStreamSynchronize(multiplier->stream), "cudaStreamSynchronize");
}

static long long monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static bool decode(const struct settings *settings, struct multiplier *multiplier, const struct model *model,
                   int layers)
{
    struct step_graph graph = {0};
    bool good = true;
    for (int step = 0; good && step < settings->steps; step++) {
        const long long start_ns = monotonic_ns();
        good = decode_step(settings, step, &graph, multiplier, model, layers);
        if (settings->times)
            printf("step_ns %lld\n", monotonic_ns() - start_ns);
    }
    return step_graph_close(&graph) && good;
}

static bool run(const struct settings *settings, const struct model_config *config)
{
    struct model model = {0};
    struct multiplier multiplier = {0};
    const int layers = settings->layers && settings->layers < config->layers ? settings->layers : config->layers;
    model_shapes(config, &model);
    bool good = model_allocate(&model, settings->batch, layers) && multiplier_open(&multiplier);
    good = good && decode(settings, &multiplier, &model, layers);
    good = multiplier_close(&multiplier) && good;
    good = model_free(&model) && good;
    if (good)
        printf("decode_loop: %d step%s of %d layer%s and the vocabulary, batch %d: %lld cublasGemmEx, %lld "
               "cublasLtMatmul, %.3f TFLOP\n",
               settings->steps, settings->steps == 1 ? "" : "s", layers, layers == 1 ? "" : "s", settings->batch,
               multiplier.gemms, multiplier.matmuls, multiplier.flops / 1e12);
    return good;
}

int main(int argc, char **argv)
{
    char beside[PATH_MAX];
    struct settings settings = {.batch = 256, .steps = 1};
    const int stop = read_options(argc, argv, &settings);
    if (stop)
        return stop - 1;
    if (!settings.config_path) {
        if (!default_config(beside, sizeof beside)) {
            fprintf(stderr, "decode_loop: cannot tell where the program lies; give --config FILE\n");
            return 2;
        }
        settings.config_path = beside;
    }
    struct model_config config;
    if (!model_config_read(settings.config_path, &config))
        return 2;
    if (settings.no_bias)
        config.qkv_bias = false;
    return run(&settings, &config) ? 0 : 1;
}
