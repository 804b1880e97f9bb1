/* SPDX-License-Identifier: Apache-2.0 */
/* Triangles counted exactly; the table says what each routine is. */
#include "classify/level3_work.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum level3_shape {
    LEVEL3_SIDE,     /* m x n, with a symmetric matrix on one side */
    LEVEL3_TRIANGLE, /* m x n, with a triangle on one side */
    LEVEL3_RANK,     /* an n x n triangle from n x k */
};

struct level3_routine {
    const char *name; /* behind "cublas" or "cublasXt" and the type's letter; longer names first */
    enum level3_shape shape;
    int updates;  /* products of n x k that a rank update adds */
    bool reads_b; /* beside A */
    bool has_beta;
};

/* clang-format off */
static const struct level3_routine routines[] = {
    {"symm",  LEVEL3_SIDE,     1, true,  true},
    {"hemm",  LEVEL3_SIDE,     1, true,  true},
    {"spmm",  LEVEL3_SIDE,     1, true,  true}, /* of cublasXt: symm with a packed triangle */
    {"trmm",  LEVEL3_TRIANGLE, 1, true,  false},
    {"trsm",  LEVEL3_TRIANGLE, 1, true,  false}, /* B is read, then overwritten: both cross the bus */
    {"syrkx", LEVEL3_RANK,     1, true,  true},
    {"herkx", LEVEL3_RANK,     1, true,  true},
    {"syr2k", LEVEL3_RANK,     2, true,  true},
    {"her2k", LEVEL3_RANK,     2, true,  true},
    {"syrk",  LEVEL3_RANK,     1, false, true},
    {"herk",  LEVEL3_RANK,     1, false, true},
};
/* clang-format on */

static const struct level3_routine *find_routine(const char *entry_name)
{
    static const char prefix[] = "cublas", xt[] = "Xt";
    size_t skip = sizeof prefix - 1;
    if (!entry_name || strncmp(entry_name, prefix, skip))
        return NULL;
    if (!strncmp(entry_name + skip, xt, sizeof xt - 1))
        skip += sizeof xt - 1;
    skip++; /* the letter of the type */
    if (strlen(entry_name) < skip)
        return NULL;
    for (size_t i = 0; i < sizeof routines / sizeof routines[0]; i++)
        if (!strncmp(entry_name + skip, routines[i].name, strlen(routines[i].name)))
            return &routines[i];
    return NULL;
}

/* Of one problem of the batch; elements of one matrix. */
struct count {
    double multiplications, additions;
    double a, b, output;
};

static double triangle(double n)
{
    return n * (n + 1) / 2;
}

static struct count count_side(const struct level3_routine *routine, const struct level3_model *model)
{
    double m = (double)model->m, n = (double)model->n;
    double side = model->side == 0 ? m : n, other = model->side == 0 ? n : m;
    double of_diagonal = routine->shape == LEVEL3_TRIANGLE && model->diagonal == LEVEL3_DIAGONAL_UNIT ? 0 : side;
    struct count count = {.a = triangle(side - 1) + of_diagonal, .b = m * n, .output = m * n};
    bool whole = routine->shape == LEVEL3_SIDE;
    count.multiplications = other * (whole ? side * side : count.a);
    count.additions = other * (whole ? side * side : triangle(side - 1));
    return count;
}

static struct count count_rank(const struct level3_routine *routine, const struct level3_model *model)
{
    double n = (double)model->n, k = (double)model->k, products = k * triangle(n) * routine->updates;
    return (struct count){products, products, n * k, n * k, triangle(n)};
}

bool level3_work(const struct level3_model *model, const char *entry_name, struct level3_work *work)
{
    const struct level3_routine *routine = find_routine(entry_name);
    if (!routine || !(model->batch >= 0) || model->n < 0)
        return false;
    bool rank = routine->shape == LEVEL3_RANK;
    if (rank ? model->k < 0 : model->m < 0 || model->side > 1)
        return false;
    struct count count = rank ? count_rank(routine, model) : count_side(routine, model);
    *work = (struct level3_work){.at_most = routine->shape == LEVEL3_TRIANGLE && !model->diagonal};
    if (count.output == 0 || model->batch == 0)
        return true;
    work->flops =
        model->batch * (count.multiplications * (model->complex ? 6 : 1) + count.additions * (model->complex ? 2 : 1));
    double bits = count.output * model->batch * model->d_bits;
    if (count.a > 0)
        bits += count.a * model->a_matrices * model->a_bits;
    if (routine->reads_b && count.b > 0)
        bits += count.b * model->b_matrices * model->b_bits;
    if (routine->has_beta && model->reads_c)
        bits += count.output * model->batch * model->c_bits;
    work->bytes = bits / 8;
    return true;
}
