/* SPDX-License-Identifier: Apache-2.0 */
/* Plans lie in one static array and are never taken back. A kernel's plan hangs at its place in the table of names: nobody
 * waits for the one who makes it, a launch that comes meanwhile goes without. */
#include "preload/parameter_plan.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "cupti/cuda_driver.h"
#include "preload/entries.h"
#include "preload/kernel_names.h"
#include "preload/preload.h"
#include "preload/real_symbol.h"
#include "trace/kernel_signature.h"
#include "trace/launch_values.h"
#include "trace/mangled_tree.h"

/* ---- what is known of types and of kernels ---- */

struct known_struct {
    const char *type;
    uint16_t bytes; /* 0: of any size, or of one that nobody told */
    uint16_t kept;
    uint8_t addresses; /* struct trace_parameter */
};

/* clang-format off */
/* First row that fits. Of a struct without a row, and small enough, all is kept where the driver tells its size. */
static const struct known_struct known_structs[] = {
    /* ggml/src/ggml-cuda/common.cuh: x_bias, gate, gate_bias, glu_op since 2025 (af6528e6d); x_scale and gate_scale before glu_op, and
     * glu_limit, of 0c1e57098. The first three are the same in both. */
    {"ggml_cuda_mm_fusion_args_device", 48, 48, 0x1f},
    {"ggml_cuda_mm_fusion_args_device", 32, 28, 0x07},
    {"ggml_cuda_mm_fusion_args_device", 0,  24, 0x07},
    /* ggml/src/ggml-cuda/rope.cu: float v[2]; int v[4] */
    {"rope_corr_dims", 8,  8,  0}, {"rope_corr_dims", 0,  8,  0},
    {"mrope_sections", 16, 16, 0}, {"mrope_sections", 0,  16, 0},
    /* ggml/src/ggml-cuda/softmax.cu since 2025-07: heads, rows and columns first (72 bytes), then strides and four floats */
    {"soft_max_params", 128, 128, 0}, {"soft_max_params", 0, 72, 0},
    /* ggml/include/ggml.h: plain enums */
    {"ggml_type", 0, 4, 0}, {"ggml_prec", 0, 4, 0}, {"ggml_op", 0, 4, 0}, {"ggml_op_pool", 0, 4, 0},
    {"ggml_sort_order", 0, 4, 0}, {"ggml_glu_op", 0, 4, 0},
    /* c10/util/Half.h, BFloat16.h of PyTorch */
    {"c10::Half", 0, 2, 0}, {"c10::BFloat16", 0, 2, 0},
};

/* Kernels that get no plan: what they compute on stands behind addresses in a struct by value, whose type is a lambda of the
 * program, so that no table of types could ever name it; each launch would have values of its own. PyTorch 2.9:
 * aten/src/ATen/native/cuda/CUDALoops.cuh, Reduce.cuh, DistributionTemplates.h, ForeachFunctors.cuh, Shape.cu, Indexing. */
static const char *const unread_kernels[] = {
    "elementwise_kernel", "vectorized_elementwise_kernel", "unrolled_elementwise_kernel",
    "vectorized_templated_elementwise_kernel", "elementwise_kernel_with_index", "index_elementwise_kernel", "reduce_kernel",
    "distribution_elementwise_grid_stride_kernel", "multi_tensor_apply_kernel", "CatArrayBatchedCopy",
    "CatArrayBatchedCopy_contig", "CatArrayBatchedCopy_aligned16_contig", "CatArrayBatchedCopy_alignedK_contig",
    "CatArrayBatchedCopy_vectorized", "kernelPointwiseApply1", "kernelPointwiseApply2",
};
/* clang-format on */

/* ---- making one ---- */

static bool is_unread(const char *base)
{
    for (size_t i = 0; i < sizeof unread_kernels / sizeof *unread_kernels; i++)
        if (!strcmp(base, unread_kernels[i]))
            return true;
    return false;
}

static const struct known_struct *find_struct(const char *type, unsigned bytes)
{
    for (size_t i = 0; i < sizeof known_structs / sizeof *known_structs; i++)
        if (!strcmp(type, known_structs[i].type) && (!known_structs[i].bytes || known_structs[i].bytes == bytes))
            return &known_structs[i];
    return NULL;
}

static struct trace_parameter value_of(const char *type, uint16_t by_type, uint16_t told)
{
    struct trace_parameter p = {.kind = TRACE_PARAMETER_VALUE, .bytes = told ? told : by_type};
    const struct known_struct *known = by_type ? NULL : find_struct(type, told);
    if (known) {
        p.kept = !told || known->kept <= told ? known->kept : told;
        p.addresses = known->addresses;
    } else if (by_type || told <= PARAMETER_UNKNOWN_STRUCT_MOST) {
        p.kept = p.bytes;
    }
    return p;
}

static unsigned bits_of(unsigned mask)
{
    return (unsigned)__builtin_popcount(mask);
}

/* The first of NAME's parameters are in order of what they cost: once there is no more room, nothing more is kept. */
static void add_parameter(struct parameter_plan *plan, const struct kernel_signature *signature, uint16_t told,
                          unsigned *pointers, unsigned *inner)
{
    unsigned i = plan->count++;
    struct trace_parameter *p = &plan->parameter[i];
    *p = (struct trace_parameter){.bytes = 8, .kind = TRACE_PARAMETER_POINTER};
    if (signature->parameter_is_pointer[i]) {
        if (++*pointers > TRACE_POINTERS_MOST)
            p->kind = TRACE_PARAMETER_VALUE;
    } else {
        *p = value_of(signature->parameter[i], signature->parameter_bytes[i], told);
        *inner += bits_of(p->addresses);
        if (plan->value_bytes + launch_value_room(p->kept) > TRACE_VALUE_BYTES_MOST || *inner > PARAMETER_INNER_MOST)
            p->kept = 0, p->addresses = 0;
    }
    plan->value_bytes += launch_value_room(p->kept);
}

/* ---- the order in which a launch's values are hashed ---- */

enum { OF_POINTERS, OF_4, OF_8, OF_12, OF_OTHERS, OF_NONE };

static bool is_only_addresses(const struct trace_parameter *p)
{
    return p->kept % 8 == 0 && p->kept <= 64 && p->addresses == (1u << p->kept / 8) - 1;
}

static int class_of(const struct trace_parameter *p)
{
    if (p->kind == TRACE_PARAMETER_POINTER)
        return OF_POINTERS;
    if (!p->kept || is_only_addresses(p))
        return OF_NONE;
    if (p->addresses)
        return OF_OTHERS;
    return p->kept == 4 ? OF_4 : p->kept == 8 ? OF_8 : p->kept == 12 ? OF_12 : OF_OTHERS;
}

/* Those of CLASS from *AT on; how many times UNIT. */
static uint8_t order_class(struct parameter_plan *plan, int class, unsigned unit, unsigned *at)
{
    unsigned begin = *at;
    for (unsigned i = 0; i < plan->count; i++)
        if (class_of(&plan->parameter[i]) == class)
            plan->order[(*at)++] = (uint8_t)i;
    for (; (*at - begin) % unit; ++*at)
        plan->order[*at] = plan->order[*at - 1];
    return (uint8_t)((*at - begin) / unit);
}

static void set_order(struct parameter_plan *plan)
{
    unsigned at = 0;
    plan->pointers = order_class(plan, OF_POINTERS, 1, &at);
    plan->fours = order_class(plan, OF_4, 4, &at);
    plan->eights = order_class(plan, OF_8, 2, &at);
    plan->twelves = order_class(plan, OF_12, 1, &at);
    plan->others = order_class(plan, OF_OTHERS, 1, &at);
    for (unsigned i = 0; i < plan->count; i++)
        for (unsigned word = 0; word < 8; word++)
            if (plan->parameter[i].addresses >> word & 1) {
                plan->order[at++] = (uint8_t)i;
                plan->order[at++] = (uint8_t)(8 * word);
                plan->inner++;
            }
}

static bool plan_signature(const struct kernel_signature *signature, const uint16_t *sizes, struct parameter_plan *plan)
{
    unsigned pointers = 0, inner = 0;
    memset(plan, 0, sizeof *plan);
    if (!signature->parameter_count || is_unread(signature->base))
        return false;
    for (unsigned i = 0; i < signature->parameter_count; i++) {
        uint16_t by_type = signature->parameter_bytes[i];
        if (sizes && by_type && by_type != sizes[i])
            return false; /* not this kernel's name, or not read right */
        if (plan->count != i)
            return false; /* a child that a signal handler forked in here, and whose launches used this memory */
        add_parameter(plan, signature, sizes ? sizes[i] : 0, &pointers, &inner);
    }
    set_order(plan);
    plan->source = sizes ? TRACE_PLAN_DRIVER : TRACE_PLAN_NAME;
    return true;
}

/* Of 22 KiB: no host's stack has to hold it. Whoever finds it taken comes again with the next launch. */
static struct kernel_signature signature_memory;
static struct mangled_tree tree_memory;
static _Atomic uint64_t signature_taken; /* by a thread of this incarnation, see now(); 0: free */

static uint64_t now(void)
{
    return (uint64_t)atomic_load_explicit(&preload_incarnation, memory_order_relaxed) + 1;
}

/* What a parent's thread held when its child was forked is nobody's there. */
static bool take_memory(void)
{
    uint64_t seen = atomic_load_explicit(&signature_taken, memory_order_relaxed);
    return seen != now() && atomic_compare_exchange_strong(&signature_taken, &seen, now());
}

static void leave_memory(void)
{
    atomic_store_explicit(&signature_taken, 0, memory_order_release);
}

bool parameter_plan_make(const char *name, const uint16_t *sizes, struct parameter_plan *plan)
{
    return kernel_signature_parse_in(name, &signature_memory, &tree_memory) &&
           plan_signature(&signature_memory, sizes, plan);
}

/* ---- what the driver knows: since CUDA 12.4 ---- */

typedef int symbol_getter(void **function, const void *symbol);
typedef int size_getter(void *function, size_t index, size_t *offset, size_t *bytes);

enum answer {
    ANSWER_NONE, /* nobody knows */
    ANSWER_SIZES,
    ANSWER_FEWER, /* the kernel has fewer parameters than its name tells, so it isn't its name */
};
enum { NO_SUCH_PARAMETER = 1 }; /* CUDA_ERROR_INVALID_VALUE, cudaErrorInvalidValue */

static enum answer ask_each(size_getter *get, void *function, unsigned count, uint16_t *sizes)
{
    for (unsigned i = 0; i < count; i++) {
        size_t offset = 0, bytes = 0;
        int status = get(function, i, &offset, &bytes);
        if (status != 0 || !bytes || bytes > UINT16_MAX)
            return status == NO_SUCH_PARAMETER ? ANSWER_FEWER : ANSWER_NONE;
        sizes[i] = (uint16_t)bytes;
    }
    return ANSWER_SIZES;
}

/* A runtime that has none of the functions, as those before CUDA 12.4 have with a driver of their time: to look for them is slow. */
static _Atomic(const void *) mute;

static enum answer ask_library(const void *stub, const void *real, unsigned count, uint16_t *sizes)
{
    const struct cuda_driver *driver = cuda_driver_mapped();
    void *function = NULL;
    if (driver && driver->cuFuncGetParamInfo) {
        symbol_getter *function_of = real_symbol_ask(ASKED_cudaGetFuncBySymbol, real);
        if (function_of && function_of(&function, stub) == 0 && function)
            return ask_each(driver->cuFuncGetParamInfo, function, count, sizes);
    }
    size_getter *runtime = real_symbol_ask(ASKED_cudaFuncGetParamInfo, real);
    if (!runtime && driver)
        atomic_store_explicit(&mute, real, memory_order_relaxed);
    return runtime ? ask_each(runtime, (void *)(uintptr_t)stub, count, sizes) : ANSWER_NONE;
}

/* The function that launches STUB, in its runtime. While libraries come and go, and where there are two runtimes, none is known
 * for all: then it is the one that the stub's own library calls. */
static const void *runtime_of(const void *stub, unsigned entry)
{
    const void *real = real_symbol_known(entry);
    return real ? real : real_symbol_find(entry, stub);
}

/* The runtime keeps its last error for the program, so it is asked only while there is none, and what a question that
 * failed left is taken away. The kernel has just been launched, in this context, so nothing is loaded for it. */
static enum answer ask_sizes(const void *stub, const void *real, unsigned count, uint16_t *sizes)
{
    if (!real || real == atomic_load_explicit(&mute, memory_order_relaxed))
        return ANSWER_NONE;
    int (*peek)(void) = real_symbol_ask(ASKED_cudaPeekAtLastError, real);
    int (*take)(void) = real_symbol_ask(ASKED_cudaGetLastError, real);
    if (!peek || !take || peek() != 0)
        return ANSWER_NONE;
    enum answer answer = ask_library(stub, real, count, sizes);
    if (peek() != 0)
        take();
    return answer;
}

/* ---- the plans of this process ---- */

static struct parameter_plan plans[PARAMETER_PLANS_MOST];
static _Atomic unsigned plan_count;
static _Atomic unsigned long lost_count;
static _Atomic int is_on;

void parameter_plan_configure(bool on)
{
    atomic_store_explicit(&is_on, on, memory_order_release);
}

unsigned long parameter_plan_lost(void)
{
    return atomic_load_explicit(&lost_count, memory_order_relaxed);
}

/* A name that another library's kernel has too: one plan for both, if they are alike. The caller holds the signature. */
static const struct parameter_plan *keep(const struct parameter_plan *made)
{
    unsigned count = atomic_load_explicit(&plan_count, memory_order_relaxed);
    for (unsigned i = 0; i < count; i++)
        if (plans[i].name_id == made->name_id)
            return memcmp(&plans[i], made, sizeof *made) == 0 ? &plans[i] : NULL;
    if (count == PARAMETER_PLANS_MOST) {
        if (atomic_fetch_add_explicit(&lost_count, 1, memory_order_relaxed) == 0)
            trace_note(trace_thread_get(), TRACE_NOTE_SHAPES_OFF, PARAMETER_PLANS_MOST,
                       "parameters of launches: kernels beyond the first %d of the process are not read",
                       PARAMETER_PLANS_MOST);
        return NULL;
    }
    plans[count] = *made;
    atomic_store_explicit(&plan_count, count + 1, memory_order_release);
    return &plans[count];
}

static const struct parameter_plan *make(const struct kernel_names_kernel *kernel, unsigned entry)
{
    static struct parameter_plan made; /* as the signature's memory */
    uint16_t sizes[TRACE_PARAMETERS_MOST];
    if (!kernel_signature_parse_in(kernel->name, &signature_memory, &tree_memory) || is_unread(signature_memory.base) ||
        signature_memory.parameter_count > TRACE_PARAMETERS_MOST)
        return NULL;
    enum answer answer = ANSWER_NONE;
    if (kernel->stub && signature_memory.parameter_count)
        answer = ask_sizes(kernel->stub, runtime_of(kernel->stub, entry), signature_memory.parameter_count, sizes);
    if (answer == ANSWER_FEWER || !plan_signature(&signature_memory, answer == ANSWER_SIZES ? sizes : NULL, &made))
        return NULL;
    made.name_id = trace_hash(kernel->name, (uint32_t)strlen(kernel->name));
    return keep(&made);
}

/* One of a parent that forked in the middle is made anew. */
static uint64_t in_the_making(void)
{
    return now() << 32 | PARAMETER_PLAN_IN_THE_MAKING;
}

static bool may_make(_Atomic uint64_t *place)
{
    uint64_t seen = atomic_load_explicit(place, memory_order_relaxed);
    bool undecided = seen == PARAMETER_PLAN_UNDECIDED || (uint32_t)seen == PARAMETER_PLAN_IN_THE_MAKING;
    return undecided && seen != in_the_making() && atomic_compare_exchange_strong(place, &seen, in_the_making());
}

/* What threads remember of launches without values is void once there is a plan. */
const struct parameter_plan *parameter_plan_decide(const void *key, unsigned entry)
{
    _Atomic uint64_t *place = kernel_names_plan(key);
    int error_before = errno;
    uint64_t mine = in_the_making();
    struct kernel_names_kernel kernel;
    const struct parameter_plan *plan = NULL;
    if (!place || !may_make(place))
        return NULL;
    bool on = atomic_load_explicit(&is_on, memory_order_relaxed), decided = !on || take_memory();
    if (on && decided) {
        plan = kernel_names_kernel(key, &kernel) ? make(&kernel, entry) : NULL;
        leave_memory();
    }
    uint64_t state = !decided ? PARAMETER_PLAN_UNDECIDED : plan ? (uint64_t)(uintptr_t)plan : PARAMETER_PLAN_NONE;
    /* Unless the name was registered anew meanwhile. */
    if (atomic_compare_exchange_strong(place, &mine, state) && plan)
        kernel_names_changed();
    errno = error_before;
    return plan;
}

bool parameter_plan_write(struct trace_thread *thread, const struct parameter_plan *plan)
{
    return trace_plan_intern(thread, plan->name_id, plan->source, plan->parameter, plan->count);
}

/* ---- a launch's values ---- */

/* The addresses in a struct differ from layer to layer: whether there is one is what tells launches apart. */
static void copy_value(unsigned char *to, const void *from, const struct trace_parameter *p)
{
    memcpy(to, from, p->kept);
    for (unsigned i = 0; i < 8; i++) {
        uint64_t word;
        if (!(p->addresses >> i & 1))
            continue;
        memcpy(&word, to + 8 * i, sizeof word);
        word = word != 0;
        memcpy(to + 8 * i, &word, sizeof word);
    }
}

uint64_t parameter_plan_hash_others(const struct parameter_plan *plan, void *const *parameters, const uint8_t *order,
                                    uint64_t hash)
{
    for (const uint8_t *end = order + plan->others; order < end; order++) {
        const struct trace_parameter *p = &plan->parameter[*order];
        const unsigned char *from = parameters[*order];
        for (unsigned i = 0; i < p->kept; i += 8) {
            uint64_t word = 0;
            if (p->kept - i >= 8)
                memcpy(&word, from + i, 8);
            else
                memcpy(&word, from + i, p->kept - i);
            if (!(p->addresses >> i / 8 & 1))
                hash = parameter_fold(hash, word, 0);
        }
    }
    return hash;
}

bool parameter_plan_take(const struct parameter_plan *plan, void *const *parameters, struct parameter_values *values)
{
    unsigned char *to = values->value;
    uint32_t bit = 1;
    unsigned set = 0;
    *values = (struct parameter_values){.null_pointers = 0};
    for (unsigned i = 0; i < plan->count; i++) {
        const struct trace_parameter *p = &plan->parameter[i];
        const void *from = parameters[i];
        if (!from)
            return false;
        if (p->kind == TRACE_PARAMETER_POINTER) {
            uint64_t address;
            memcpy(&address, from, sizeof address);
            values->null_pointers |= address ? 0 : bit;
            bit <<= 1;
            if (address && set < TRACE_LAUNCH_POINTERS)
                values->pointer[set++] = address;
            continue;
        }
        copy_value(to, from, p);
        to += launch_value_room(p->kept);
    }
    return true;
}

uint32_t parameter_plan_fill(const struct parameter_plan *plan, const struct parameter_values *values,
                             struct launch_content *content)
{
    unsigned char packed[LAUNCH_VALUES_PACKED_MOST + 4];
    struct trace_launch_values *head = (void *)content->room;
    unsigned bytes = launch_values_pack(values->value, plan->value_bytes, packed);
    unsigned all = (unsigned)sizeof content->shape + (((unsigned)sizeof *head + bytes + 7) & ~7u);
    memset(content->room, 0, all - sizeof content->shape);
    head->null_pointers = values->null_pointers;
    head->value_bytes = (uint16_t)plan->value_bytes;
    head->packed_bytes = (uint16_t)bytes;
    memcpy(head->packed, packed, bytes);
    return all;
}
