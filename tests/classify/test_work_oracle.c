/* SPDX-License-Identifier: Apache-2.0 */
/* Work models against loops over the real operation: every multiplication and addition is counted when it is done, every
 * bit of every operand when it is first touched. Random small shapes of every kind of call; FLOPs and bytes are equal, not
 * near. The loops follow the libraries' documentation of what a call computes, and share nothing with classify/. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "classify/work.h"
#include "tests/classify/brute_force.h"

enum {
    SEED = 20240607,
    GEMM_SHAPES = 10000,
    GROUPED_CALLS = 2000,
    MOST_GROUPS = 6,
    GEMV_SHAPES = 3000,
    LEVEL3_SHAPES = 5000,
    RIDGE_SHAPES = 2000
};

enum { A, B, C, D, BIAS, AUX, SCALE_OF_A, SCALE_OF_B, SCALE_OF_C, SCALE_OF_D, WRITTEN = 32 };

static struct touched touched;
static struct random_numbers random_numbers = {SEED};

static int pick(int low, int high)
{
    return random_in(&random_numbers, low, high);
}

static bool chance(int percent)
{
    return random_chance(&random_numbers, percent);
}

/* cudaDataType by number, with the bits of its definition in library_types.h */
struct type {
    int number, bits;
    bool complex;
};
static const struct type types[] = {
    {0, 32, false}, {1, 64, false}, {2, 16, false}, {14, 16, false}, {3, 8, false}, {16, 4, false},
    {28, 8, false}, {33, 4, false}, {31, 6, false}, {10, 32, false}, {4, 64, true}, {5, 128, true},
};
enum { TYPES = sizeof types / sizeof types[0], FIRST_COMPLEX = 10 };

static const struct type *random_type(bool complex)
{
    return &types[complex ? pick(FIRST_COMPLEX, TYPES - 1) : pick(0, FIRST_COMPLEX - 1)];
}

/* ---- a call and how its memory lies ---- */

struct call {
    struct trace_signature s;
    const struct type *type[4];
    bool complex;
};

static int mostly_small(void)
{
    return chance(3) ? 0 : chance(4) ? pick(33, 70) : pick(1, 9);
}

static bool is_row_order(const struct trace_signature *s, int operand)
{
    return s->library == TRACE_LIBRARY_CUBLASLT && s->order[operand] == 1;
}

/* Rows and columns of the matrix as it is stored, before any operation. */
static void stored_size(const struct trace_signature *s, int operand, int64_t *rows, int64_t *columns)
{
    int64_t size[4][2] = {{s->m, s->k}, {s->k, s->n}, {s->m, s->n}, {s->m, s->n}};
    bool swap = (operand == A && s->trans_a) || (operand == B && s->trans_b);
    *rows = size[operand][swap];
    *columns = size[operand][!swap];
}

static int64_t matrices_before; /* of other groups of the same call */

static uint64_t address_of(const struct trace_signature *s, int operand, int64_t row, int64_t column, int64_t matrix)
{
    int64_t inside = is_row_order(s, operand) ? row * s->ld[operand] + column : column * s->ld[operand] + row;
    if (s->batch_mode == TRACE_BATCH_STRIDED)
        return (uint64_t)(inside + matrix * s->batch_stride[operand]);
    return (uint64_t)(inside + (matrices_before + matrix) * 1000000); /* pointers: each its own memory */
}

static uint64_t element_of_a(const struct trace_signature *s, int64_t i, int64_t p, int64_t matrix)
{
    return s->trans_a ? address_of(s, A, p, i, matrix) : address_of(s, A, i, p, matrix);
}

static uint64_t element_of_b(const struct trace_signature *s, int64_t p, int64_t j, int64_t matrix)
{
    return s->trans_b ? address_of(s, B, j, p, matrix) : address_of(s, B, p, j, matrix);
}

/* The scale of one element, at (OUTER, INNER), inner along K for A and B. Numbers as in cublasLt.h. */
static void touch_scale(const struct trace_signature *s, int operand, int64_t outer, int64_t inner, int64_t matrix)
{
    static const int bits[] = {32, 8, 8, 32, 32, 32, 32};
    int64_t set = s->batch_mode == TRACE_BATCH_STRIDED && s->batch_stride[operand] == 0 ? 0 : matrix, at = 0;
    int mode = s->scale_mode[operand];
    if (s->library != TRACE_LIBRARY_CUBLASLT || mode < 0)
        return;
    if (mode == 0)
        set = 0;
    if (mode == 1)
        at = outer * 1000 + inner / 16;
    if (mode == 2)
        at = outer * 1000 + inner / 32;
    if (mode == 3)
        at = outer;
    if (mode == 4)
        at = outer * 1000 + inner / 128;
    if (mode == 5)
        at = outer / 128 * 1000 + inner / 128;
    if (mode == 6)
        set = matrix;
    touch(&touched, (unsigned)(SCALE_OF_A + operand), (uint64_t)(set * 1000000 + at), (unsigned)bits[mode]);
}

static void random_batch(struct call *c)
{
    struct trace_signature *s = &c->s;
    s->batch_mode = (uint8_t)(chance(50) ? TRACE_BATCH_NONE : chance(70) ? TRACE_BATCH_STRIDED : TRACE_BATCH_POINTERS);
    s->batch = s->batch_mode == TRACE_BATCH_NONE ? 1 : chance(3) ? 0 : pick(1, 4);
    for (int i = 0; i < 4; i++) {
        int64_t rows, columns;
        stored_size(s, i, &rows, &columns);
        int64_t line = is_row_order(s, i) ? columns : rows, lines = is_row_order(s, i) ? rows : columns;
        s->ld[i] = line + (chance(30) ? pick(0, 5) : 0);
        s->batch_stride[i] = s->ld[i] * lines + (chance(20) ? pick(0, 3) : 0);
        if (chance(15)) { /* the heads of attention: matrices side by side in one line */
            s->ld[i] = line * s->batch + pick(0, 2);
            s->batch_stride[i] = line;
        }
        if (i < C && chance(15))
            s->batch_stride[i] = 0;
        else if (i < C && chance(8)) /* copies that share elements, or just don't */
            s->batch_stride[i] = pick(1, (int)(s->ld[i] * lines) + 1);
    }
    s->ld[D] = s->library == TRACE_LIBRARY_CUBLAS ? s->ld[C] : s->ld[D];
    s->batch_stride[D] = s->library == TRACE_LIBRARY_CUBLAS ? s->batch_stride[C] : s->batch_stride[D];
}

static void random_lt(struct call *c)
{
    static const int epilogues[] = {1, 2, 4, 6, 32, 36, 130, 134, 136, 152, 160, 164, 192, 208, 256, 512};
    struct trace_signature *s = &c->s;
    for (int i = 0; i < 4; i++) {
        s->order[i] = chance(20);
        s->scale_mode[i] = chance(25) ? pick(0, 6) : -1;
    }
    if (chance(30))
        s->order[A] = s->order[B] = s->order[C] = s->order[D] = 1;
    s->epilogue = epilogues[pick(0, sizeof epilogues / sizeof epilogues[0] - 1)];
    s->type_bias = chance(50) ? -1 : chance(50) ? 0 : 14;
    s->type_aux = chance(50) ? -1 : 14;
}

static struct call random_gemm(void)
{
    struct call c = {.complex = chance(15)};
    struct trace_signature *s = &c.s;
    *s = (struct trace_signature){
        .kind = TRACE_CALL_GEMM,
        .library = (uint8_t)(chance(50) ? TRACE_LIBRARY_CUBLASLT : TRACE_LIBRARY_CUBLAS),
        .provenance = TRACE_EXACT,
        .trans_a = (uint8_t)pick(0, 2),
        .trans_b = (uint8_t)pick(0, 2),
        .beta = (uint8_t)pick(TRACE_SCALAR_ZERO, TRACE_SCALAR_ON_DEVICE),
        .m = mostly_small(),
        .n = mostly_small(),
        .k = chance(6) ? pick(120, 260) : mostly_small(),
        .epilogue = 1,
        .type_bias = -1,
        .type_aux = -1,
        .scale_mode = {-1, -1, -1, -1},
    };
    if (s->library == TRACE_LIBRARY_CUBLASLT)
        random_lt(&c);
    random_batch(&c);
    for (int i = 0; i < 4; i++)
        c.type[i] = random_type(c.complex);
    if (s->library == TRACE_LIBRARY_CUBLAS)
        c.type[D] = c.type[C];
    for (int i = 0; i < 4; i++)
        s->type[i] = c.type[i]->number;
    return c;
}

/* ---- the loops ---- */

/* A bias without a type of its own has D's; 16 bits beside fp8, fp6 and fp4; the scalars' (type_scale 0 is fp32) from int8
 * to int8. */
static int bias_bits(const struct call *c)
{
    if (c->s.type_bias == 0)
        return 32;
    int a = c->s.type[A];
    if (c->s.type_bias == -1 && a == 3 && c->s.type[D] == 3)
        return 32;
    return c->s.type_bias == 14 || a == 28 || a == 31 || a == 33 ? 16 : c->type[D]->bits;
}

/* cublasLtEpilogue_t: 4 bias; 16, 256 bias gradient along the rows of D; 512 along its columns; 128 an auxiliary matrix,
 * of bits with ReLU (2, 8). */
static void touch_epilogue(const struct call *c, int64_t i, int64_t j, int64_t matrix)
{
    const struct trace_signature *s = &c->s;
    if (s->library != TRACE_LIBRARY_CUBLASLT)
        return;
    if (s->epilogue & (4 | 16 | 256))
        touch(&touched, BIAS, (uint64_t)i, (unsigned)bias_bits(c));
    if (s->epilogue & 512)
        touch(&touched, BIAS, (uint64_t)j, (unsigned)bias_bits(c));
    unsigned aux_bits = s->epilogue & (2 | 8) ? 1 : s->type_aux == 14 ? 16 : (unsigned)c->type[D]->bits;
    if (s->epilogue & 128)
        touch(&touched, AUX, (uint64_t)((matrix * s->n + j) * s->m + i), aux_bits);
}

/* D = alpha op(A) op(B) + beta C. Returns FLOPs. Scales of C and D follow the columns of a row-major view: inner along
 * the stored line of D. */
static uint64_t run_gemm(const struct call *c)
{
    const struct trace_signature *s = &c->s;
    uint64_t flops = 0;
    bool lines_are_rows = is_row_order(s, D);
    for (int64_t b = 0; b < s->batch; b++)
        for (int64_t i = 0; i < s->m; i++)
            for (int64_t j = 0; j < s->n; j++) {
                int64_t outer = lines_are_rows ? i : j, inner = lines_are_rows ? j : i;
                for (int64_t p = 0; p < s->k; p++) {
                    touch(&touched, A, element_of_a(s, i, p, b), (unsigned)c->type[A]->bits);
                    touch(&touched, B, element_of_b(s, p, j, b), (unsigned)c->type[B]->bits);
                    touch_scale(s, A, i, p, b);
                    touch_scale(s, B, j, p, b);
                    flops += c->complex ? 6 + 2 : 1 + 1;
                }
                if (s->beta != TRACE_SCALAR_ZERO) {
                    touch(&touched, C, address_of(s, C, i, j, b), (unsigned)c->type[C]->bits);
                    touch_scale(s, C, outer, inner, b);
                }
                touch(&touched, WRITTEN + D, address_of(s, D, i, j, b), (unsigned)c->type[D]->bits);
                touch_scale(s, D, outer, inner, b);
                touch_epilogue(c, i, j, b);
            }
    return flops;
}

static const char *describe(const struct trace_signature *s)
{
    static char text[400];
    snprintf(text, sizeof text,
             "seed %d, library %d, m n k %lld %lld %lld, trans %d %d, beta %d, batch %d of mode %d, types %d %d %d %d, "
             "epilogue %d, scales %d %d %d %d, orders %d %d %d %d, strides %lld %lld",
             SEED, s->library, (long long)s->m, (long long)s->n, (long long)s->k, s->trans_a, s->trans_b, s->beta,
             (int)s->batch, s->batch_mode, s->type[0], s->type[1], s->type[2], s->type[3], s->epilogue,
             s->scale_mode[0], s->scale_mode[1], s->scale_mode[2], s->scale_mode[3], s->order[0], s->order[1],
             s->order[2], s->order[3], (long long)s->batch_stride[0], (long long)s->batch_stride[1]);
    return text;
}

/* A maximum may be more than what was touched, where the record says so. */
static void check(const struct trace_signature *s, const char *entry, uint64_t flops, int *maxima)
{
    struct work work;
    work_of_signature(s, entry, &work);
    if (work.flops != (double)flops)
        fail_msg("%s: %s: %g FLOPs, counted %llu", entry, describe(s), work.flops, (unsigned long long)flops);
    bool maximum = work.bytes > touched_bytes(&touched) && work.provenance == TRACE_AT_MOST;
    if (work.bytes != touched_bytes(&touched) && !maximum)
        fail_msg("%s: %s: %g bytes, counted %g", entry, describe(s), work.bytes, touched_bytes(&touched));
    *maxima += maximum;
}

static void test_gemm(void **state)
{
    int maxima = 0, batched = 0, beta = 0;
    (void)state;
    for (int shape = 0; shape < GEMM_SHAPES; shape++) {
        struct call c = random_gemm();
        touched_clear(&touched);
        check(&c.s, "cublasLtMatmul", run_gemm(&c), &maxima);
        batched += c.s.batch > 1;
        beta += c.s.beta != TRACE_SCALAR_ZERO;
    }
    print_message("%d GEMMs, seed %d: %d batched, %d with beta, %d whose strides overlap\n", GEMM_SHAPES, SEED, batched,
                  beta, maxima);
    assert_true(batched > GEMM_SHAPES / 4 && beta > GEMM_SHAPES / 2);
    assert_true(maxima > 50 && maxima < GEMM_SHAPES / 20);
}

/* ---- grouped calls ---- */

static int64_t common_or_unknown(int64_t common, int64_t value)
{
    return common == value ? value : TRACE_UNKNOWN;
}

/* Groups of which some are idle, with the signature that the trace keeps for them: what those with work have in common. */
static size_t random_groups(struct call *c, struct trace_group groups[MOST_GROUPS])
{
    struct trace_signature *s = &c->s;
    size_t count = (size_t)pick(1, MOST_GROUPS);
    bool any = false, same_k = chance(70), same_n = chance(70);
    int64_t n = pick(1, 9), k = pick(1, 9);
    s->batch = s->m = s->n = s->k = 0;
    s->beta = TRACE_SCALAR_ZERO;
    for (size_t i = 0; i < count; i++) {
        struct trace_group *g = &groups[i];
        *g = (struct trace_group){
            .m = chance(20) ? 0 : pick(1, 9),
            .n = same_n ? n : pick(0, 9),
            .k = same_k ? k : pick(0, 9),
            .batch = chance(20) ? 0 : pick(1, 3),
            .trans_a = (uint8_t)pick(0, 1),
            .beta = (uint8_t)(chance(70) ? TRACE_SCALAR_ZERO : TRACE_SCALAR_ONE),
        };
        for (int operand = 0; operand < 3; operand++)
            g->ld[operand] = 10;
        if (g->m == 0 || g->n == 0 || g->batch == 0)
            continue;
        s->m = any ? common_or_unknown(s->m, g->m) : g->m;
        s->n = any ? common_or_unknown(s->n, g->n) : g->n;
        s->k = any ? common_or_unknown(s->k, g->k) : g->k;
        s->beta = any && s->beta != g->beta ? TRACE_SCALAR_UNKNOWN : g->beta;
        s->batch += g->batch;
        any = true;
    }
    return count;
}

static uint64_t run_groups(const struct call *c, const struct trace_group *groups, size_t count)
{
    uint64_t flops = 0;
    matrices_before = 0;
    for (size_t i = 0; i < count; i++) {
        struct call of_group = *c;
        of_group.s.batch_mode = TRACE_BATCH_POINTERS;
        of_group.s.m = groups[i].m;
        of_group.s.n = groups[i].n;
        of_group.s.k = groups[i].k;
        of_group.s.batch = groups[i].batch;
        of_group.s.trans_a = groups[i].trans_a;
        of_group.s.trans_b = groups[i].trans_b;
        of_group.s.beta = groups[i].beta;
        for (int operand = 0; operand < 4; operand++)
            of_group.s.ld[operand] = 10;
        flops += run_gemm(&of_group);
        matrices_before += groups[i].batch;
    }
    matrices_before = 0;
    return flops;
}

static void test_groups(void **state)
{
    int differing = 0;
    (void)state;
    for (int shape = 0; shape < GROUPED_CALLS; shape++) {
        struct call c = {.s = {.kind = TRACE_CALL_GEMM, .library = TRACE_LIBRARY_CUBLAS, .provenance = TRACE_EXACT}};
        struct trace_group groups[MOST_GROUPS];
        struct work work;
        c.s.batch_mode = TRACE_BATCH_GROUPED;
        for (int i = 0; i < 4; i++) {
            c.type[i] = i == D ? c.type[C] : random_type(false);
            c.s.type[i] = c.type[i]->number;
        }
        size_t count = random_groups(&c, groups);
        touched_clear(&touched);
        uint64_t flops = run_groups(&c, groups, count);
        work_of_signature(&c.s, "cublasGemmGroupedBatchedEx", &work);
        struct work_of_groups sum = work_sum_groups(&c.s, groups, count);
        work_take_groups(&c.s, &sum, &work);
        if (work.flops != (double)flops || work.bytes != touched_bytes(&touched))
            fail_msg("%s: %zu groups: %g FLOPs, counted %llu; %g bytes, counted %g", describe(&c.s), count, work.flops,
                     (unsigned long long)flops, work.bytes, touched_bytes(&touched));
        differing += c.s.m < 0;
    }
    assert_true(differing > GROUPED_CALLS / 4);
}

/* ---- vectors ---- */

/* y = alpha op(A) x + beta y */
static uint64_t run_gemv(const struct call *c)
{
    const struct trace_signature *s = &c->s;
    int64_t outputs = s->trans_a ? s->n : s->m, inputs = s->trans_a ? s->m : s->n;
    uint64_t flops = 0;
    for (int64_t b = 0; b < s->batch; b++)
        for (int64_t i = 0; i < outputs; i++) {
            for (int64_t p = 0; p < inputs; p++) {
                int64_t row = s->trans_a ? p : i, column = s->trans_a ? i : p;
                touch(&touched, A, (uint64_t)(column * s->ld[A] + row + b * s->batch_stride[A]),
                      (unsigned)c->type[A]->bits);
                touch(&touched, B, (uint64_t)(p * s->ld[B] + b * s->batch_stride[B]), (unsigned)c->type[B]->bits);
                flops += c->complex ? 6 + 2 : 1 + 1;
            }
            if (s->beta != TRACE_SCALAR_ZERO)
                touch(&touched, C, (uint64_t)(i * s->ld[C] + b * s->batch_stride[C]), (unsigned)c->type[C]->bits);
            touch(&touched, WRITTEN + D, (uint64_t)(i * s->ld[C] + b * s->batch_stride[C]), (unsigned)c->type[D]->bits);
        }
    return flops;
}

static void test_gemv(void **state)
{
    int maxima = 0;
    (void)state;
    for (int shape = 0; shape < GEMV_SHAPES; shape++) {
        struct call c = {.complex = chance(20)};
        struct trace_signature *s = &c.s;
        s->kind = TRACE_CALL_GEMV;
        s->library = TRACE_LIBRARY_CUBLAS;
        s->provenance = TRACE_EXACT;
        s->trans_a = (uint8_t)pick(0, 2);
        s->beta = (uint8_t)pick(TRACE_SCALAR_ZERO, TRACE_SCALAR_ON_DEVICE);
        s->m = mostly_small();
        s->n = mostly_small();
        s->k = 1;
        s->batch_mode = chance(50) ? TRACE_BATCH_STRIDED : TRACE_BATCH_NONE;
        s->batch = s->batch_mode ? pick(0, 4) : 1;
        s->ld[A] = s->m + pick(0, 3);
        for (int i = B; i <= D; i++)
            s->ld[i] = i == D ? s->ld[C] : pick(1, 3);
        s->batch_stride[A] = chance(30) ? 0 : chance(10) ? pick(1, 40) : s->ld[A] * s->n;
        s->batch_stride[B] = chance(30) ? 0 : chance(10) ? pick(1, 40) : s->ld[B] * (s->m > s->n ? s->m : s->n);
        s->batch_stride[C] = s->batch_stride[D] = s->ld[C] * (s->m > s->n ? s->m : s->n);
        for (int i = 0; i < 4; i++) {
            c.type[i] = i == D ? c.type[C] : random_type(c.complex);
            s->type[i] = c.type[i]->number;
        }
        touched_clear(&touched);
        check(s, "cublasSgemvStridedBatched", run_gemv(&c), &maxima);
    }
    print_message("%d GEMVs, %d whose strides overlap\n", GEMV_SHAPES, maxima);
    assert_true(maxima > 10 && maxima < GEMV_SHAPES / 10);
}

/* ---- level 3 ---- */

struct triangle_call {
    const char *entry;
    struct trace_signature s;
    bool complex, upper;
    unsigned bits;
    uint64_t multiplications, additions;
};

static void touch_triangle(struct triangle_call *c, int64_t row, int64_t column, int64_t matrix)
{
    bool stored = c->upper ? row <= column : row >= column; /* the other half is read from its mirror */
    uint64_t at = (uint64_t)(stored ? row * 100 + column : column * 100 + row);
    touch(&touched, A, at + (uint64_t)matrix * 10000, c->bits);
}

static void touch_rectangle(struct triangle_call *c, unsigned array, int64_t row, int64_t column, int64_t matrix)
{
    touch(&touched, array, (uint64_t)(row * 100 + column + matrix * 10000), c->bits);
}

static void write_output(struct triangle_call *c, int64_t row, int64_t column, int64_t matrix, bool has_beta)
{
    touch_rectangle(c, WRITTEN + D, row, column, matrix);
    if (has_beta && c->s.beta != TRACE_SCALAR_ZERO)
        touch_rectangle(c, C, row, column, matrix);
}

/* symm, hemm: C = alpha A B + beta C, or B A from the right */
static void run_symmetric(struct triangle_call *c, int64_t matrix)
{
    int64_t m = c->s.m, n = c->s.n;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            for (int64_t p = 0; p < (c->s.side ? n : m); p++) {
                c->s.side ? touch_triangle(c, p, j, matrix) : touch_triangle(c, i, p, matrix);
                c->s.side ? touch_rectangle(c, B, i, p, matrix) : touch_rectangle(c, B, p, j, matrix);
                c->multiplications++;
                c->additions++;
            }
            write_output(c, i, j, matrix, true);
        }
}

/* trmm: C = A B; trsm: A X = B by substitution, X in B's place. Lower triangles; an upper one runs backwards. */
static void run_triangular(struct triangle_call *c, int64_t matrix)
{
    int64_t side = c->s.side ? c->s.n : c->s.m, other = c->s.side ? c->s.m : c->s.n;
    for (int64_t v = 0; v < other; v++)
        for (int64_t i = 0; i < side; i++) {
            int terms = 0;
            for (int64_t p = 0; p < side; p++) {
                if (c->upper ? p < i : p > i)
                    continue;
                c->s.side ? touch_rectangle(c, B, v, p, matrix) : touch_rectangle(c, B, p, v, matrix);
                terms++;
                if (p == i && c->s.diagonal == 2) /* known to be 1 */
                    continue;
                touch_triangle(c, i, p, matrix);
                c->multiplications++; /* of the diagonal in trsm: the division */
            }
            c->additions += (uint64_t)(terms - 1); /* sums of products; subtractions from b */
            write_output(c, c->s.side ? v : i, c->s.side ? i : v, matrix, false);
        }
}

/* C = alpha A A^T + beta C, with B in its second place (syrkx), or both ways round (syr2k); one triangle of C */
static void run_rank(struct triangle_call *c, int64_t matrix, bool with_b, bool twice)
{
    for (int64_t i = 0; i < c->s.n; i++)
        for (int64_t j = 0; j < c->s.n; j++) {
            if (c->upper ? i > j : i < j)
                continue;
            for (int64_t p = 0; p < c->s.k; p++) {
                touch_rectangle(c, A, i, p, matrix);
                touch_rectangle(c, with_b ? B : A, j, p, matrix);
                if (twice) {
                    touch_rectangle(c, B, i, p, matrix);
                    touch_rectangle(c, A, j, p, matrix);
                }
                c->multiplications += twice ? 2 : 1;
                c->additions += twice ? 2 : 1;
            }
            write_output(c, i, j, matrix, true);
        }
}

static void run_level3(struct triangle_call *c, int routine)
{
    for (int64_t b = 0; b < c->s.batch; b++)
        switch (routine) {
        case 0:
        case 1:
            run_symmetric(c, b);
            break;
        case 2:
        case 3:
            run_triangular(c, b);
            break;
        default:
            run_rank(c, b, routine >= 6, routine >= 8);
            break;
        }
}

static void test_level3(void **state)
{
    static const char *const names[][2] = {
        {"cublasSsymm_v2", "cublasCsymm_v2"},   {"cublasChemm_v2", "cublasChemm_v2_64"},
        {"cublasStrmm_v2", "cublasCtrmm_v2"},   {"cublasStrsmBatched", "cublasCtrsm_v2"},
        {"cublasSsyrk_v2", "cublasCsyrk3mEx"},  {"cublasCherk_v2", "cublasCherkEx"},
        {"cublasSsyrkx", "cublasCsyrkx"},       {"cublasCherkx", "cublasCherkx_64"},
        {"cublasSsyr2k_v2", "cublasCsyr2k_v2"}, {"cublasCher2k_v2", "cublasCher2k_v2_64"},
    };
    int maxima = 0;
    (void)state;
    for (int shape = 0; shape < LEVEL3_SHAPES; shape++) {
        int routine = pick(0, 9);
        struct triangle_call c = {.upper = chance(50), .complex = chance(50)};
        c.entry = names[routine][c.complex];
        c.bits = c.complex ? 64 : 32;
        c.s.kind = TRACE_CALL_LEVEL3;
        c.s.library = TRACE_LIBRARY_CUBLAS;
        c.s.provenance = TRACE_EXACT;
        c.s.beta = (uint8_t)(chance(50) ? TRACE_SCALAR_ZERO : TRACE_SCALAR_OTHER);
        c.s.side = (uint8_t)pick(0, 1);
        c.s.diagonal = (uint8_t)(routine == 2 || routine == 3 ? pick(1, 2) : 0);
        c.s.m = pick(0, 9);
        c.s.n = pick(0, 9);
        c.s.k = pick(0, 9);
        c.s.batch = chance(20) ? pick(0, 3) : 1;
        c.s.batch_mode = c.s.batch == 1 ? TRACE_BATCH_NONE : TRACE_BATCH_POINTERS;
        for (int i = 0; i < 4; i++)
            c.s.type[i] = c.complex ? 4 : 0;
        touched_clear(&touched);
        run_level3(&c, routine);
        uint64_t flops = c.complex ? 6 * c.multiplications + 2 * c.additions : c.multiplications + c.additions;
        check(&c.s, c.entry, flops, &maxima);
    }
    assert_int_equal(maxima, 0);
}

/* ---- M* ---- */

/* Intensity of D = X W with these rows, counted. */
static double counted_intensity(int64_t m, int64_t n, int64_t k, const unsigned bits[3], int group)
{
    uint64_t flops = 0;
    touched_clear(&touched);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            for (int64_t p = 0; p < k; p++) {
                touch(&touched, A, (uint64_t)(i * k + p), bits[0]);
                touch(&touched, B, (uint64_t)(j * k + p), bits[1]);
                if (group)
                    touch(&touched, SCALE_OF_B, (uint64_t)(j * 1000 + p / group), 20);
                flops += 2;
            }
            touch(&touched, D, (uint64_t)(i * n + j), bits[2]);
        }
    return (double)flops / touched_bytes(&touched);
}

/* One row less is below the ridge, one more is not; and where no M is said to reach it, a thousand rows don't. */
static void test_rows_at_ridge(void **state)
{
    static const unsigned sizes[] = {4, 8, 16, 32};
    int finite = 0, never = 0;
    (void)state;
    for (int shape = 0; shape < RIDGE_SHAPES; shape++) {
        int n = pick(1, 24), k = pick(1, 24), group = chance(30) ? pick(1, 8) : 0;
        unsigned bits[3] = {sizes[pick(0, 3)], sizes[pick(0, 3)], sizes[pick(0, 3)]};
        double ridge = pick(1, 80) / 8.0;
        struct gemm_model model = gemm_plain(1, n, k, 0);
        model.operand[GEMM_LEFT].bits = bits[0];
        model.operand[GEMM_D].bits = bits[2];
        model = gemm_with_weight(&model, bits[1], (struct gemm_scales){group ? 20 : 0, 1, group, 0});
        struct gemm_ridge found = gemm_work_ridge(&model, ridge);
        if (isinf(found.rows)) {
            assert_true(counted_intensity(100, n, k, bits, group) < ridge);
            assert_true(found.cap <= ridge);
            never++;
        } else if (found.rows < 150) {
            int64_t above = (int64_t)floor(found.rows + 1e-9) + 1, below = (int64_t)ceil(found.rows - 1e-9) - 1;
            if (counted_intensity(above, n, k, bits, group) <= ridge ||
                (below > 0 && counted_intensity(below, n, k, bits, group) >= ridge))
                fail_msg("N %d K %d bits %u %u %u group %d ridge %g: M* %g", n, k, bits[0], bits[1], bits[2], group,
                         ridge, found.rows);
            finite++;
        }
    }
    assert_true(finite > RIDGE_SHAPES / 10 && never > RIDGE_SHAPES / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gemm),   cmocka_unit_test(test_groups),        cmocka_unit_test(test_gemv),
        cmocka_unit_test(test_level3), cmocka_unit_test(test_rows_at_ridge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
