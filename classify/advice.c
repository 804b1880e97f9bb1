/* SPDX-License-Identifier: Apache-2.0 */
/* The table at the end is what rooftap knows to advise; advice_list.c walks it over a session. Each function above it answers
 * for one subject: what would this change save? Comparisons with NAN are false throughout, so what is not known leads to no
 * advice. */
#include "classify/advice.h"

#include <math.h>
#include <string.h>

#include "classify/advice_launches.h"
#include "classify/attention_work.h"
#include "classify/roof_time.h"
#include "classify/session.h"

#define IDLE_LEAST_SHARE 0.05 /* of the span: a little waiting is normal */
/* No kernel's start-up takes longer: with a kernel of 2.9 us the launch and the wait for it took 9.6 us, host included, on a
 * V100 (NVIDIA, Getting Started with CUDA Graphs, developer.nvidia.com/blog/cuda-graphs). A floor above it is of a run
 * without small kernels, and without a floor so much of each kernel may be start-up. */
#define START_UP_MOST_NS 10e3

/* ---- roofs ---- */

static const struct device_roofs *roofs_of(const struct session *session, int device)
{
    static const struct device_roofs none = {NULL, 1, 1};
    return device >= 0 ? &session->devices[device].roofs : &none;
}

static double roof_ns(const struct device_roofs *roofs, double flops, double bytes, enum gpu_path path)
{
    double compute = flops / device_roofs_flops_per_second(roofs, path);
    double memory = bytes / device_roofs_bytes_per_second(roofs);
    return isnan(compute) || isnan(memory) ? NAN : 1e9 * fmax(compute, memory);
}

/* No more than its time; NAN stays NAN, which fmin() would drop. */
static double at_most(double saved_ns, const struct operator_row *op)
{
    return op->timed && op->kernels && saved_ns > (double)op->time_ns ? (double)op->time_ns : saved_ns;
}

/* Of the calls that its time covers. */
static double above_roof_ns(const struct operator_row *op)
{
    if (!op->timed || !op->kernels)
        return NAN;
    return (double)op->time_ns * (1 - op->roofline.roof_fraction);
}

/* On another path, with BYTES times the bytes. */
static double saved_on_path(const struct session *session, const struct operator_row *op, enum gpu_path path,
                            double bytes)
{
    double now = op->t_roof_ns, then = roof_ns(roofs_of(session, op->device), op->flops, bytes * op->bytes, path);
    return at_most(now - then, op);
}

/* ---- weights ---- */

static double saved_by_batch(const struct session *session, size_t index)
{
    const struct weight_row *weight = &session->weights[index];
    return weight->skinny && !advice_weight_is_launched(session, weight) ? weight->saved_ns[WEIGHT_BATCH] : NAN;
}

static double saved_by_fill(const struct session *session, size_t index)
{
    const struct weight_row *weight = &session->weights[index];
    return weight->starved && !advice_weight_is_launched(session, weight) ? weight->saved_ns[WEIGHT_SPLIT_K] : NAN;
}

/* Only where the weight is what is read most. */
static double saved_by_bits(const struct session *session, size_t index, enum weight_change change)
{
    const struct weight_row *weight = &session->weights[index];
    bool fits = weight->skinny && weight->short_side == GEMM_SIDE_M && !advice_weight_is_launched(session, weight);
    return fits ? weight->saved_ns[change] : NAN;
}

static double saved_by_8_bit(const struct session *session, size_t index)
{
    return saved_by_bits(session, index, WEIGHT_8_BIT);
}

/* Only where that is more than 8 bits save: fewer cost accuracy. */
static double saved_by_4_bit(const struct session *session, size_t index)
{
    const struct weight_row *weight = &session->weights[index];
    return weight->saved_ns[WEIGHT_4_BIT] > weight->saved_ns[WEIGHT_8_BIT] ? saved_by_bits(session, index, WEIGHT_4_BIT)
                                                                           : NAN;
}

static double saved_by_fuse(const struct session *session, size_t index)
{
    return session->sibling_groups[index].saved_ns;
}

/* N or K caps the intensity, so activations and results are what moves: both at half their bytes. */
static double saved_by_small_activations(const struct session *session, size_t index)
{
    const struct weight_row *weight = &session->weights[index];
    double saved = 0;
    if (!isinf(weight->rows_at_ridge) || advice_weight_is_launched(session, weight))
        return NAN;
    for (size_t i = 0; i < weight->operator_count; i++) {
        const struct operator_row *op = &session->operators[weight->operators[i]];
        const struct work *work = &op->work;
        double calls = op->bytes / work->bytes, moving = work->bytes_per_row * (double)work->m;
        if (op->roofline.bound != BOUND_MEMORY || !(moving > 0))
            continue;
        saved += at_most(op->t_roof_ns - roof_ns(roofs_of(session, op->device), op->flops,
                                                 calls * (work->bytes - moving / 2), work->path),
                         op);
    }
    return saved;
}

/* ---- operators ---- */

double advice_tensor_core_ns(const struct session *session, const struct operator_row *op, enum gpu_path path)
{
    return saved_on_path(session, op, path, path == GPU_PATH_TF32 ? 1 : 0.5);
}

/* Operands that tensor cores take, on units that are slower; a pedantic compute type asks for just that. */
static double saved_by_tensor_cores(const struct session *session, size_t index)
{
    enum { CUBLAS_COMPUTE_32F_PEDANTIC = 69, CUBLAS_PEDANTIC_MATH = 2 };
    const struct operator_row *op = &session->operators[index];
    if (!op->of_call || op->kind != OPERATOR_GEMM || op->work.path != GPU_PATH_FP32 ||
        op->work.type[0].type != NUMBER_FP32 || op->signature.type_compute == CUBLAS_COMPUTE_32F_PEDANTIC ||
        op->signature.math_mode == CUBLAS_PEDANTIC_MATH)
        return NAN;
    return fmax(advice_tensor_core_ns(session, op, GPU_PATH_TF32), advice_tensor_core_ns(session, op, GPU_PATH_BF16));
}

static double saved_by_fp16_accumulate(const struct session *session, size_t index)
{
    const struct operator_row *op = &session->operators[index];
    if (!op->of_call || op->kind != OPERATOR_GEMM || op->work.path != GPU_PATH_FP16)
        return NAN;
    return saved_on_path(session, op, GPU_PATH_FP16_ACC16, 1);
}

static bool is_misaligned(const struct operator_row *op)
{
    enum { ALIGNED_BITS = 128 };
    if (!op->of_call || op->kind != OPERATOR_GEMM || !op->work.shape_known || op->work.path >= GPU_PATH_COUNT ||
        strcmp(gpu_paths[op->work.path].unit, "tensor"))
        return false;
    double bits = op->work.type[0].bits;
    return bits > 0 &&
           (fmod((double)op->work.k * bits, ALIGNED_BITS) > 0 || fmod((double)op->work.n * bits, ALIGNED_BITS) > 0);
}

double advice_start_up_ns(const struct session *session, const struct operator_row *op)
{
    double floor_ns = op->device >= 0 ? session->devices[op->device].floor_ns : NAN;
    return fmin(floor_ns, START_UP_MOST_NS); /* of a number and NAN, the number */
}

/* The time that neither start-up nor the roof nor, of a starved one, the fill accounts for; NAN: it isn't far from what
 * they do. */
static double unexplained_ns(const struct session *session, const struct operator_row *op)
{
    double start_up = (double)op->kernels * advice_start_up_ns(session, op);
    if (!(op->roofline.flags & ROOFLINE_FAR_FROM_ROOF))
        return NAN;
    if (!(op->roofline.flags & ROOFLINE_STARVED))
        return above_roof_ns(op) - start_up;
    double filled_ns = (double)op->executions * roof_blocks_ns(session, op->device, op->work.path, (double)op->blocks,
                                                               op->work.flops, op->work.bytes);
    return (double)op->time_ns > ROOFLINE_FAR_TIMES * filled_ns ? (double)op->time_ns - filled_ns - start_up : NAN;
}

static double saved_by_alignment(const struct session *session, size_t index)
{
    const struct operator_row *op = &session->operators[index];
    return is_misaligned(op) ? unexplained_ns(session, op) : NAN;
}

static double saved_by_better_kernel(const struct session *session, size_t index)
{
    const struct operator_row *op = &session->operators[index];
    return is_misaligned(op) ? NAN : unexplained_ns(session, op);
}

/* Kernels that take about as long as one that does nothing, with a work model or without. */
static double saved_of_small(const struct session *session, const struct operator_row *op)
{
    if (op->roofline.bound == BOUND_OVERHEAD)
        return above_roof_ns(op);
    double floor_ns = op->device >= 0 ? session->devices[op->device].floor_ns : NAN;
    if (op->of_call || op->graph || op->kind != OPERATOR_OTHER || !op->kernels || !(floor_ns <= START_UP_MOST_NS))
        return NAN;
    bool small = (double)op->time_ns <= ROOFLINE_OVERHEAD_TIMES * floor_ns * (double)op->kernels;
    return small ? (double)op->time_ns : NAN;
}

static double saved_by_fewer_kernels(const struct session *session, size_t index)
{
    const struct operator_row *op = &session->operators[index];
    return advice_operator_is_launched(op) ? NAN : saved_of_small(session, op);
}

static double saved_by_fewer_launches(const struct session *session, size_t index)
{
    const struct operator_row *op = &session->operators[index];
    return advice_operator_is_launched(op) ? saved_of_small(session, op) : NAN;
}

/* ---- attention: only the shapes of the GEMMs that it is made of are known ---- */

struct attention_cost {
    const struct device_roofs *roofs;
    enum gpu_path path;
    double flops, bytes, kv_bytes; /* of a fused kernel, each time */
    double times;
    bool sixteen_bits;
};

static struct attention_cost cost_of(const struct session *session, const struct naive_attention *naive)
{
    const struct operator_row *scores = &session->operators[naive->scores];
    double replays = fmin(roof_replays(scores), roof_replays(&session->operators[naive->output]));
    double bytes = scores->work.type[0].bits / 8.0;
    double pairs = (double)naive->batch * (double)naive->l_q * (double)naive->l_k;
    double width = (double)(naive->d + naive->d_v);
    return (struct attention_cost){
        .roofs = roofs_of(session, naive->device),
        .path = scores->work.path,
        .flops = 2 * pairs * width,
        .bytes = naive->bytes_fused,
        .kv_bytes = (double)naive->batch * (double)naive->l_k * width * bytes,
        .times = (double)naive->times * replays,
        .sixteen_bits = bytes == 2,
    };
}

static double saved_from(const struct attention_cost *cost, double flops, double bytes)
{
    return cost->times * (roof_ns(cost->roofs, cost->flops, cost->bytes, cost->path) -
                          roof_ns(cost->roofs, flops, bytes, cost->path));
}

static double saved_by_fused_attention(const struct session *session, size_t index)
{
    return session->naive_attention[index].saved_ns;
}

/* More keys than rows: there is a cache. */
static double saved_by_8_bit_kv(const struct session *session, size_t index)
{
    const struct naive_attention *naive = &session->naive_attention[index];
    struct attention_cost cost = cost_of(session, naive);
    return cost.sixteen_bits && naive->l_q < naive->l_k ? saved_from(&cost, cost.flops, cost.bytes - cost.kv_bytes / 2)
                                                        : NAN;
}

/* One query row for each matrix of keys: every query head reads keys and values of its own. */
static double saved_by_shared_kv(const struct session *session, size_t index)
{
    const struct naive_attention *naive = &session->naive_attention[index];
    struct attention_cost cost = cost_of(session, naive);
    return naive->l_q == 1 && naive->batch > 1 ? saved_from(&cost, cost.flops, cost.bytes - cost.kv_bytes / 2) : NAN;
}

/* Megatron's and Transformer Engine's softmax over a causal mask says so in its name. */
static bool causal_softmax_ran(const struct session *session, int device)
{
    for (size_t i = 0; i < session->operator_count; i++)
        if (session->operators[i].device == device && session->operators[i].kernels && session->operators[i].name &&
            strstr(session->operators[i].name, "upper_triang_masked_softmax"))
            return true;
    return false;
}

/* Of L rows and L keys, L(L + 1)/2 pairs are seen. */
static double saved_by_causal_skip(const struct session *session, size_t index)
{
    const struct naive_attention *naive = &session->naive_attention[index];
    if (naive->l_q != naive->l_k || naive->l_q < 2 || !causal_softmax_ran(session, naive->device))
        return NAN;
    struct attention_cost cost = cost_of(session, naive);
    double seen = ((double)naive->l_k + 1) / (2 * (double)naive->l_k);
    return saved_from(&cost, cost.flops * seen, cost.bytes);
}

/* Only a model that the user names has a window. Of a fused causal kernel, what it needn't compute and read; several rows
 * must be of one head each, so that the mask's rows are theirs. */
static double saved_by_window_skip(const struct session *session, size_t index)
{
    const struct naive_attention *naive = &session->naive_attention[index];
    const struct session_model *model = &session->model;
    struct attention_model causal;
    struct attention_work all, seen;
    if (model->window <= 0 || naive->d != model->head_dim || naive->l_k <= model->window ||
        (naive->l_q > 1 && (model->query_heads <= 0 || naive->batch % model->query_heads != 0)) ||
        !attention_of_gemms(&session->operators[naive->scores].work.model,
                            &session->operators[naive->output].work.model, &causal))
        return NAN;
    causal.mask = ATTENTION_CAUSAL_BOTTOM_RIGHT;
    attention_work(&causal, &all);
    causal.window_left = model->window - 1;
    attention_work(&causal, &seen);
    struct attention_cost cost = cost_of(session, naive);
    return cost.times * (roof_ns(cost.roofs, all.flops, all.bytes, cost.path) -
                         roof_ns(cost.roofs, seen.flops, seen.bytes, cost.path));
}

/* ---- the whole run ---- */

/* What OP's decode calls would save by riding in prefill chunks, and no weight read of their own. A chunk is bound by compute,
 * but where N or K caps the intensity: there the rows' own bytes stay. */
static double saved_by_riding(const struct session *session, const struct weight_row *weight,
                              const struct operator_row *op)
{
    const struct device_roofs *roofs = roofs_of(session, op->device);
    double calls = (double)op->phase_calls[PHASE_DECODE];
    double alone = roof_ns(roofs, op->work.flops, op->work.bytes, op->work.path);
    double own_bytes = isinf(weight->rows_at_ridge) ? op->work.bytes_per_row * (double)op->work.m : 0;
    if (op->roofline.bound != BOUND_MEMORY)
        return 0;
    return at_most(calls * (alone - roof_ns(roofs, op->work.flops, own_bytes, op->work.path)), op);
}

/* Weights alone: what attention reads is each sequence's own. There are as many compute-bound chunks as the prompts' rows
 * fill at M* rows each; with no M* there are none. */
static double saved_by_chunked_prefill(const struct session *session, size_t index)
{
    const struct phase_sum *prefill = &session->phases[PHASE_PREFILL], *decode = &session->phases[PHASE_DECODE];
    double rows_at_ridge = 0, saved = 0;
    (void)index;
    if (!prefill->steps || !decode->steps)
        return NAN;
    for (size_t w = 0; w < session->weight_count; w++) {
        const struct weight_row *weight = &session->weights[w];
        if (isfinite(weight->rows_at_ridge))
            rows_at_ridge = fmax(rows_at_ridge, weight->rows_at_ridge);
        for (size_t i = 0; i < weight->operator_count; i++) {
            double riding = saved_by_riding(session, weight, &session->operators[weight->operators[i]]);
            saved += riding > 0 ? riding : 0;
        }
    }
    if (!(rows_at_ridge > 0))
        return NAN;
    double chunks = (double)prefill->steps * prefill->rows_per_step / rows_at_ridge;
    return saved * fmin(1, chunks / (double)decode->steps);
}

static double saved_by_no_gaps(const struct session *session, size_t index)
{
    const struct device_time_sum *time = &session->devices[index].time;
    const double span = (double)time->span_ns, idle = (double)time->gap_ns;
    const bool known = time->busy_known && time->span_known && !session->simulated;
    return known && idle >= IDLE_LEAST_SHARE * span ? idle : NAN;
}

/* ---- the table ---- */

#define CUBLAS_DOCS  "cuBLAS documentation, https://docs.nvidia.com/cuda/cublas/"
#define MATMUL_GUIDE "NVIDIA, Matrix Multiplication Background User's Guide"
#define FLASH        "Dao et al. 2022, FlashAttention, arXiv:2205.14135"
#define GRAPHS       "CUDA C++ Programming Guide, CUDA Graphs"

/* clang-format off */
static const struct advice_row rows[] = {
    {.id = "batch", .lever = "more rows in each call", .kind = ADVICE_WEIGHT, .saved_ns = saved_by_batch,
     .text = "More rows in each call: the weight is read once per call, however many rows it serves. Batch more "
             "requests, or verify several speculated tokens at once.",
     .detail = "M {m_p50} at the median, M* {m_star}",
     .source = "Williams et al. 2009, Roofline; " MATMUL_GUIDE},
    {.id = "parallel_slots", .lever = "more sequences in each launch", .kind = ADVICE_WEIGHT,
     .saved_ns = advice_saved_by_slots,
     .text = "The engine's own kernels read the weight once per launch, however many rows it serves: up to 8 rows in a mat-vec "
             "kernel, whole tiles of rows in a matmul kernel. Serve several sequences at once (llama-server --parallel), "
             "or verify several speculated tokens.",
     .detail = "M {m_p50} at the median, M* {m_star}",
     .source = "llama.cpp, ggml/src/ggml-cuda/mmvq.cuh: MMVQ_MAX_BATCH_SIZE; tools/server/README.md: --parallel"},
    {.id = "fewer_bits", .lever = "weights of fewer bits", .kind = ADVICE_WEIGHT, .saved_ns = advice_saved_by_fewer_bits,
     .text = "Reading the weight is what takes the time, and Q4_K would have 4.5 bits of each (llama-quantize). Accuracy has to "
             "be checked (llama-perplexity).",
     .detail = "{format_bits} bits a weight; M {m_p50} at the median",
     .source = "llama.cpp, tools/quantize/README.md"},
    {.id = "fuse_siblings", .lever = "fusing GEMMs that read the same activation", .kind = ADVICE_SIBLINGS,
     .saved_ns = saved_by_fuse,
     .text = "Fuse GEMMs that follow one another and read the same activation into one, with their weights behind "
             "each other (as vLLM's qkv_proj and gate_up_proj): the activation is read once.",
     .detail = "{times} times: {intensity} -> {intensity_fused} FLOP/B, {saved_each} each time",
     .source = "vLLM, vllm/model_executor/layers/linear.py: QKVParallelLinear, MergedColumnParallelLinear"},
    {.id = "fill", .lever = "filling the SMs that starved GEMMs leave idle", .kind = ADVICE_WEIGHT,
     .saved_ns = saved_by_fill,
     .text = "Fewer thread blocks than SMs: split K (or stream-K), take smaller tiles, or fuse with siblings, so that "
             "every SM has work; where cuBLAS chose the tile, ask cublasLtMatmulAlgoGetHeuristic for others.",
     .detail = "{blocks} on {sms} SMs{bandwidth}",
     .source = "Osama et al. 2023, Stream-K, arXiv:2301.03598; " MATMUL_GUIDE},
    {.id = "weights_8_bit", .lever = "8-bit weights", .kind = ADVICE_WEIGHT, .saved_ns = saved_by_8_bit,
     .text = "Weights in 8 bits (fp8 or int8): where reading the weight is what takes the time, half the bytes take "
             "half of it. Accuracy has to be checked.",
     .detail = "M {m_p50} at the median",
     .source = "Micikevicius et al. 2022, FP8 Formats for Deep Learning, arXiv:2209.05433"},
    {.id = "weights_4_bit", .lever = "4-bit weights", .kind = ADVICE_WEIGHT, .saved_ns = saved_by_4_bit,
     .text = "Weights in 4 bits, with a 16-bit scale for each 128 (GPTQ, AWQ, Marlin kernels). Accuracy has to be "
             "checked.",
     .detail = "M {m_p50} at the median",
     .source = "Frantar et al. 2022, GPTQ, arXiv:2210.17323; Lin et al. 2023, AWQ, arXiv:2306.00978"},
    {.id = "capped", .lever = "smaller activations where N or K caps the intensity", .kind = ADVICE_WEIGHT,
     .saved_ns = saved_by_small_activations,
     .text = "No number of rows makes these compute-bound: activations and results are most of the bytes. Halve them "
             "(8-bit activations), or fuse with what comes before or behind, so that they stay on the chip.",
     .detail = "{limited_by} caps it at {intensity_limit} FLOP/B",
     .source = MATMUL_GUIDE},
    {.id = "tensor_cores", .lever = "tensor cores for fp32 GEMMs", .kind = ADVICE_OPERATOR, .saved_ns = saved_by_tensor_cores,
     .text = "fp32 GEMMs run on FMA units: allow TF32 (torch.backends.cuda.matmul.allow_tf32, CUBLAS_TF32_TENSOR_OP_MATH) "
             "or load the model in bf16. TF32 keeps 10 bits of mantissa. The larger of the two savings is shown.",
     .detail = "{tensor_cores}",
     .source = CUBLAS_DOCS "#cublasmath-t; NVIDIA A100 white paper"},
    {.id = "fp16_accumulate", .lever = "fp16 accumulation", .kind = ADVICE_OPERATOR, .saved_ns = saved_by_fp16_accumulate,
     .text = "This GPU accumulates fp16 in fp16 twice as fast as in fp32 (CUBLAS_COMPUTE_16F, or "
             "torch.backends.cuda.matmul.allow_fp16_accumulation). Sums of many terms can overflow: check accuracy.",
     .source = "NVIDIA Ada white paper, table of peak rates"},
    {.id = "alignment", .lever = "aligned N and K", .kind = ADVICE_OPERATOR, .saved_ns = saved_by_alignment,
     .text = "N or K is no multiple of 16 bytes, and these run far below the roof: tensor cores are fed best with rows "
             "of 16 bytes. Pad the weight (vocabulary, LoRA rank) with zeros.",
     .detail = "{roof} % of the roof; {start_up}",
     .source = CUBLAS_DOCS "#tensor-core-usage; " MATMUL_GUIDE},
    {.id = "far_from_roof", .lever = "better kernels for what runs far from the roof", .kind = ADVICE_OPERATOR,
     .saved_ns = saved_by_better_kernel,
     .text = "More than 3 times the time at the roof, and neither shape, fill nor start-up says why: look at the kernel "
             "chosen, at clocks, and at what shares the GPU (ncu --set full tells more).",
     .detail = "{roof} % of the roof; {start_up}",
     .source = "Nsight Compute documentation, GPU Speed Of Light"},
    {.id = "small_kernels", .lever = "fewer, fused small kernels", .kind = ADVICE_OPERATOR,
     .saved_ns = saved_by_fewer_kernels,
     .text = "These kernels take about as long as one that does nothing: fuse them into their neighbours (torch.compile, "
             "epilogues of cublasLtMatmul, fused norm and rope kernels).",
     .detail = "{kernels} of {mean}",
     .source = "PyTorch documentation, torch.compile; " CUBLAS_DOCS "#cublasltepilogue-t"},
    {.id = "small_launches", .lever = "fewer small kernels", .kind = ADVICE_OPERATOR,
     .saved_ns = saved_by_fewer_launches,
     .text = "These kernels of the engine take about as long as one that does nothing: serve more sequences in each step, and "
             "leave its own fusion on (llama.cpp: GGML_CUDA_DISABLE_FUSION not set).",
     .detail = "{kernels} of {mean}",
     .source = "llama.cpp, ggml/src/ggml-cuda/ggml-cuda.cu: GGML_CUDA_DISABLE_FUSION"},
    {.id = "idle_gaps", .lever = "closing the gaps in which the GPU waits", .kind = ADVICE_DEVICE, .of_span = true,
     .saved_ns = saved_by_no_gaps,
     .text = "The GPU waits between kernels: the host is what bounds it. Replay CUDA graphs, launch ahead, keep "
             "tokenising, sampling and copies off the thread that launches. (Loading the model counts as waiting, too.)",
     .detail = "idle {idle} % of its span",
     .source = GRAPHS},
    {.id = "fused_attention", .lever = "a fused attention kernel", .kind = ADVICE_NAIVE_ATTENTION,
     .saved_ns = saved_by_fused_attention,
     .text = "Attention writes its scores to memory and reads them again: a fused kernel (FlashAttention, "
             "scaled_dot_product_attention, FlashInfer, llama.cpp's -fa on) keeps them on the chip.",
     .detail = "{bytes} -> {bytes_fused} each time",
     .source = FLASH},
    {.id = "causal_skip", .lever = "skipping what a causal mask hides", .kind = ADVICE_NAIVE_ATTENTION,
     .saved_ns = saved_by_causal_skip,
     .text = "The mask is causal (the softmax kernel says so), and all scores are computed: a fused kernel with "
             "is_causal skips the half that the mask hides.",
     .source = FLASH},
    {.id = "window_skip", .lever = "skipping the keys beyond the model's window", .kind = ADVICE_NAIVE_ATTENTION,
     .saved_ns = saved_by_window_skip,
     .text = "Every layer of this model attends to a window of keys (sliding_window of its config.json), and there are more: "
             "a fused kernel that knows the window (FlashAttention's window_size) neither computes nor reads what lies "
             "beyond it, and the KV cache needn't hold it.",
     .detail = "window {window}",
     .source = "Jiang et al. 2023, Mistral 7B, arXiv:2310.06825"},
    {.id = "kv_8_bit", .lever = "an 8-bit KV cache", .kind = ADVICE_NAIVE_ATTENTION, .saved_ns = saved_by_8_bit_kv,
     .text = "Keys and values in 8 bits (fp8 KV cache): half the bytes where reading them is what takes the time, once "
             "the kernel is fused. Accuracy has to be checked.",
     .source = "vLLM documentation, Quantized KV Cache"},
    {.id = "kv_cache_8_bit", .lever = "an 8-bit KV cache", .kind = ADVICE_OPERATOR,
     .saved_ns = advice_saved_by_small_cache,
     .text = "Reading keys and values is what takes the time, and q8_0 would have 8.5 of their 16 bits (llama.cpp: -ctk q8_0 "
             "-ctv q8_0). What is shown is of a cache as full as its padding. Accuracy has to be checked.",
     .detail = "{keys} keys",
     .source = "llama.cpp, tools/server/README.md: --cache-type-k"},
    {.id = "shared_kv", .lever = "query heads that share keys and values", .kind = ADVICE_NAIVE_ATTENTION,
     .saved_ns = saved_by_shared_kv,
     .text = "Each query head reads keys and values of its own. If the model has fewer KV heads (GQA, MQA), don't expand "
             "them (enable_gqa): what is shown is saved if two heads share.",
     .source = "Ainslie et al. 2023, GQA, arXiv:2305.13245"},
    {.id = "chunked_prefill", .lever = "chunked prefill", .kind = ADVICE_RUN, .saved_ns = saved_by_chunked_prefill,
     .text = "Prompts and single tokens are computed in steps apart: with chunked prefill, decode rows ride in "
             "compute-bound chunks and read no weight of their own.",
     .detail = "{prefill_steps} prefill and {decode_steps} decode steps",
     .source = "Agrawal et al. 2023, SARATHI, arXiv:2308.16369"},
};
/* clang-format on */

const struct advice_row *advice_rows(size_t *count)
{
    *count = sizeof rows / sizeof rows[0];
    return rows;
}

const char *advice_kind_name(enum advice_kind kind)
{
    static const char *const names[ADVICE_KIND_COUNT] = {
        [ADVICE_WEIGHT] = "weight",     [ADVICE_SIBLINGS] = "siblings",
        [ADVICE_OPERATOR] = "operator", [ADVICE_NAIVE_ATTENTION] = "naive_attention",
        [ADVICE_DEVICE] = "device",     [ADVICE_RUN] = "run",
    };
    return names[kind];
}
