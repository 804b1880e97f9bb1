/* SPDX-License-Identifier: Apache-2.0 */
/* A program that drives llama.cpp and knows nothing of rooftap: loads a GGUF, evaluates prompts and generates tokens that
 * are fixed beforehand, so that no result of a (simulated) kernel decides what comes next. Prints what it did as one JSON
 * object. Works with libraries of other commits than llama.h's: see `struct parameters`. */
#include <llama.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEQUENCES_MOST 64

struct options {
    const char *model, *backends;
    int prompt, stagger, generate, sequences, batch, ubatch, context, gpu_layers, threads;
    int flash_attention; /* -1: llama.cpp's choice */
    int split;           /* enum llama_split_mode, -1: its default */
    int type_k, type_v;  /* enum ggml_type, -1: its default */
    int offload_kqv;     /* -1: its default */
    bool unified, verbose;
};

__attribute__((format(printf, 1, 2), noreturn)) static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("llamacpp_driver: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

/* ---- parameters, of whichever commit the library is ----
 * Both params structs are handed over by value and grow from commit to commit. They are taken here as more bytes than any
 * has had: the x86-64 calling convention returns such a struct through a pointer given first, and passes it as a block on
 * the stack, so the library fills and reads as much of it as it knows. Fields are set where llama.h has them, if they hold
 * there what llama.h says is the default; else the program ends. */

#define PARAMETER_BYTES 512
#define UNTOUCHED       0xab

struct parameters {
    unsigned char bytes[PARAMETER_BYTES];
};

#ifndef __x86_64__
#error "other calling conventions return a struct otherwise"
#endif
extern void model_defaults(struct parameters *filled) __asm__("llama_model_default_params");
extern void context_defaults(struct parameters *filled) __asm__("llama_context_default_params");
extern struct llama_model *load_model(const char *path, struct parameters given) __asm__("llama_model_load_from_file");
extern struct llama_context *init_context(struct llama_model *model,
                                          struct parameters given) __asm__("llama_init_from_model");

static size_t written_bytes(const struct parameters *parameters)
{
    size_t size = PARAMETER_BYTES;
    while (size && parameters->bytes[size - 1] == UNTOUCHED)
        size--;
    return (size + 7) / 8 * 8;
}

static struct parameters defaults_of(void (*fill)(struct parameters *filled), size_t *size)
{
    struct parameters parameters;
    memset(&parameters, UNTOUCHED, sizeof parameters);
    fill(&parameters);
    *size = written_bytes(&parameters);
    return parameters;
}

static void set(struct parameters *parameters, size_t offset, int expected, int value, const char *field)
{
    int found;
    memcpy(&found, parameters->bytes + offset, sizeof found);
    if (found != expected)
        fail("%s: the library has %d where llama.h's default is %d; its structs are laid out otherwise", field, found,
             expected);
    memcpy(parameters->bytes + offset, &value, sizeof value);
}

#define SET_MODEL(field, expected, value)                                                                              \
    set(&parameters, offsetof(struct llama_model_params, field), (expected), (value), #field)
#define SET_CONTEXT(field, expected, value)                                                                            \
    set(&parameters, offsetof(struct llama_context_params, field), (expected), (value), #field)

/* embeddings, offload_kqv, no_perf, op_offload, swa_full, kv_unified by their defaults: members before them came and went. */
static unsigned char *find_switches(struct parameters *parameters, size_t size)
{
    static const unsigned char pattern[6] = {0, 1, 1, 1, 1, 0};
    unsigned char *found = NULL;
    for (size_t at = offsetof(struct llama_context_params, type_v) + 4; at + sizeof pattern <= size; at += 4)
        if (!memcmp(parameters->bytes + at, pattern, sizeof pattern)) {
            if (found)
                return NULL;
            found = parameters->bytes + at;
        }
    return found;
}

enum { OFFLOAD_KQV = 1, KV_UNIFIED = 5 };

static struct llama_model *load(const struct options *options)
{
    size_t size;
    struct parameters parameters = defaults_of(model_defaults, &size);
    SET_MODEL(n_gpu_layers, -1, options->gpu_layers);
    if (options->split >= 0)
        SET_MODEL(split_mode, LLAMA_SPLIT_MODE_LAYER, options->split);
    struct llama_model *model = load_model(options->model, parameters);
    if (!model)
        fail("cannot load %s", options->model);
    return model;
}

static struct llama_context *make_context(const struct options *options, struct llama_model *model, int context)
{
    size_t size;
    struct parameters parameters = defaults_of(context_defaults, &size);
    SET_CONTEXT(n_ctx, 512, context);
    SET_CONTEXT(n_batch, 2048, options->batch);
    SET_CONTEXT(n_ubatch, 512, options->ubatch);
    SET_CONTEXT(n_seq_max, 1, options->sequences);
    SET_CONTEXT(n_threads, 4, options->threads);
    SET_CONTEXT(n_threads_batch, 4, options->threads);
    SET_CONTEXT(flash_attn_type, LLAMA_FLASH_ATTN_TYPE_AUTO, options->flash_attention);
    if (options->type_k >= 0)
        SET_CONTEXT(type_k, GGML_TYPE_F16, options->type_k);
    if (options->type_v >= 0)
        SET_CONTEXT(type_v, GGML_TYPE_F16, options->type_v);
    if (options->unified || options->offload_kqv >= 0) {
        unsigned char *switches = find_switches(&parameters, size);
        if (!switches)
            fail("cannot tell where the library's struct has kv_unified");
        if (options->unified)
            switches[KV_UNIFIED] = 1;
        if (options->offload_kqv >= 0)
            switches[OFFLOAD_KQV] = (unsigned char)options->offload_kqv;
    }
    struct llama_context *made = init_context(model, parameters);
    if (!made)
        fail("cannot make a context of %d tokens", context);
    return made;
}

/* ---- evaluation ---- */

struct run {
    struct llama_context *context;
    struct llama_batch batch;
    const struct options *options;
    int vocabulary;
    long decodes, tokens, outputs;
};

static void evaluate(struct run *run)
{
    if (!run->batch.n_tokens)
        return;
    int status = llama_decode(run->context, run->batch);
    if (status)
        fail("llama_decode of %d tokens: %d", run->batch.n_tokens, status);
    run->decodes++;
    run->tokens += run->batch.n_tokens;
    run->batch.n_tokens = 0;
}

static void add(struct run *run, int sequence, int position, bool output)
{
    struct llama_batch *batch = &run->batch;
    int at = batch->n_tokens++;
    batch->token[at] = 3 + (position * 7 + sequence) % (run->vocabulary - 3); /* 0 to 2 are special ones */
    batch->pos[at] = position;
    batch->n_seq_id[at] = 1;
    batch->seq_id[at][0] = sequence;
    batch->logits[at] = output;
    run->outputs += output;
    if (batch->n_tokens == run->options->batch)
        evaluate(run);
}

static int prompt_of(const struct options *options, int sequence)
{
    return options->prompt + sequence * options->stagger;
}

static void evaluate_prompts(struct run *run)
{
    for (int sequence = 0; sequence < run->options->sequences; sequence++) {
        int length = prompt_of(run->options, sequence);
        for (int i = 0; i < length; i++)
            add(run, sequence, i, i == length - 1);
    }
    evaluate(run);
}

/* A token of each sequence at a time, as a server's slots are evaluated. */
static void generate(struct run *run)
{
    for (int step = 0; step < run->options->generate; step++) {
        for (int sequence = 0; sequence < run->options->sequences; sequence++)
            add(run, sequence, prompt_of(run->options, sequence) + step, true);
        evaluate(run);
    }
}

/* ---- options ---- */

static int number(const char *option, const char *text, int least, int most)
{
    char *end;
    long value = text ? strtol(text, &end, 10) : 0;
    if (!text || !*text || *end || value < least || value > most)
        fail("%s %s: expected a number from %d to %d", option, text ? text : "", least, most);
    return (int)value;
}

struct word {
    const char *name;
    int value;
};

static const struct word attention_words[] = {{"auto", -1}, {"off", 0}, {"on", 1}, {NULL, 0}};
static const struct word split_words[] = {{"none", LLAMA_SPLIT_MODE_NONE},
                                          {"layer", LLAMA_SPLIT_MODE_LAYER},
                                          {"row", LLAMA_SPLIT_MODE_ROW},
                                          {"tensor", LLAMA_SPLIT_MODE_TENSOR},
                                          {NULL, 0}};
static const struct word type_words[] = {{"f32", GGML_TYPE_F32},   {"f16", GGML_TYPE_F16},   {"bf16", GGML_TYPE_BF16},
                                         {"q8_0", GGML_TYPE_Q8_0}, {"q4_0", GGML_TYPE_Q4_0}, {"q4_1", GGML_TYPE_Q4_1},
                                         {"q5_0", GGML_TYPE_Q5_0}, {"q5_1", GGML_TYPE_Q5_1}, {NULL, 0}};

static int word(const char *option, const char *text, const struct word *words)
{
    for (const struct word *known = words; text && known->name; known++)
        if (!strcmp(known->name, text))
            return known->value;
    fail("%s %s: expected one of the words that --help lists", option, text ? text : "");
}

static void usage(void)
{
    puts("usage: llamacpp_driver MODEL.gguf [--prompt N] [--stagger N] [--generate N] [--sequences N] [--batch N]\n"
         "    [--ubatch N] [--context N] [--gpu-layers N] [--flash-attention on|off|auto] [--split "
         "none|layer|row|tensor]\n"
         "    [--type-k TYPE] [--type-v TYPE] [--kv-offload 0|1] [--unified] [--threads N] [--backends FOLDER] "
         "[--verbose]\n"
         "types: f32 f16 bf16 q8_0 q4_0 q4_1 q5_0 q5_1. Sequence s (from 0) has a prompt of N + s * STAGGER tokens.");
    exit(0);
}

static bool read_number(struct options *options, const char *name, const char *value)
{
    const struct {
        const char *name;
        int *place, least, most;
    } numbers[] = {
        {"--prompt", &options->prompt, 0, 1 << 20},     {"--stagger", &options->stagger, 0, 1 << 16},
        {"--generate", &options->generate, 0, 1 << 20}, {"--sequences", &options->sequences, 1, SEQUENCES_MOST},
        {"--batch", &options->batch, 1, 1 << 16},       {"--ubatch", &options->ubatch, 1, 1 << 16},
        {"--context", &options->context, 0, 1 << 24},   {"--gpu-layers", &options->gpu_layers, -1, 9999},
        {"--kv-offload", &options->offload_kqv, 0, 1},  {"--threads", &options->threads, 1, 1024}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!strcmp(name, numbers[i].name)) {
            *numbers[i].place = number(name, value, numbers[i].least, numbers[i].most);
            return true;
        }
    return false;
}

static bool read_word(struct options *options, const char *name, const char *value)
{
    if (!strcmp(name, "--flash-attention"))
        options->flash_attention = word(name, value, attention_words);
    else if (!strcmp(name, "--split"))
        options->split = word(name, value, split_words);
    else if (!strcmp(name, "--type-k"))
        options->type_k = word(name, value, type_words);
    else if (!strcmp(name, "--type-v"))
        options->type_v = word(name, value, type_words);
    else if (!strcmp(name, "--backends"))
        options->backends = value;
    else
        return false;
    return true;
}

static struct options read_options(char **words)
{
    struct options options = {.prompt = 16,
                              .generate = 8,
                              .sequences = 1,
                              .batch = 2048,
                              .ubatch = 512,
                              .gpu_layers = -1,
                              .threads = 1,
                              .flash_attention = -1,
                              .split = -1,
                              .type_k = -1,
                              .type_v = -1,
                              .offload_kqv = -1};
    for (; *words; words++) {
        if (!strcmp(*words, "--help"))
            usage();
        else if (!strcmp(*words, "--unified"))
            options.unified = true;
        else if (!strcmp(*words, "--verbose"))
            options.verbose = true;
        else if (**words != '-')
            options.model = *words;
        else if (read_number(&options, *words, words[1]) || read_word(&options, *words, words[1]))
            words++;
        else
            fail("%s: no such option; see --help", *words);
    }
    if (!options.model)
        fail("expected a model; see --help");
    return options;
}

static void on_log(enum ggml_log_level level, const char *text, void *data)
{
    static bool shown;
    if (level != GGML_LOG_LEVEL_CONT)
        shown = level >= (*(bool *)data ? GGML_LOG_LEVEL_INFO : GGML_LOG_LEVEL_ERROR);
    if (shown)
        fputs(text, stderr);
}

static void print_devices(void)
{
    fputs(",\"devices\":[", stdout);
    for (size_t i = 0; i < ggml_backend_dev_count(); i++)
        printf("%s\"%s\"", i ? "," : "", ggml_backend_dev_name(ggml_backend_dev_get(i)));
    puts("]}");
}

int main(int count, char **words)
{
    struct options options = read_options(words + (count > 0));
    llama_log_set(on_log, &options.verbose);
    ggml_backend_load_all_from_path(options.backends);
    int longest = prompt_of(&options, options.sequences - 1) + options.generate;
    int context = options.context ? options.context : (longest + 255) / 256 * 256 * options.sequences;
    struct llama_model *model = load(&options);
    struct run run = {.options = &options, .vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model))};
    run.context = make_context(&options, model, context);
    run.batch = llama_batch_init(options.batch, 0, 1);
    evaluate_prompts(&run);
    long prompt_decodes = run.decodes, prompt_tokens = run.tokens;
    generate(&run);
    llama_synchronize(run.context);
    printf("{\"prompt_decodes\":%ld,\"prompt_tokens\":%ld,\"generate_decodes\":%ld,\"generate_tokens\":%ld,\"outputs\":"
           "%ld,"
           "\"sequences\":%d,\"context\":%d,\"batch\":%d,\"ubatch\":%d",
           prompt_decodes, prompt_tokens, run.decodes - prompt_decodes, run.tokens - prompt_tokens, run.outputs,
           options.sequences, context, options.batch, options.ubatch);
    print_devices();
    llama_batch_free(run.batch);
    llama_free(run.context);
    llama_model_free(model);
    return 0;
}
