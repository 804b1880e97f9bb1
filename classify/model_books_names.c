/* SPDX-License-Identifier: Apache-2.0 */
/* A model's layers are multiplied one after another, and within a layer what needs another's result comes behind it: q, k and v,
 * then attn_output, then gate and up, then ffn_down. A step's products are walked along that; what fits no place of its turn
 * ends the walk, and nothing is told by that order. Within one place any order is possible, so matrices of one shape there
 * stay what they may be. */
#include "classify/model_books_names.h"

#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/session.h"

/* Matrices in the order in which they are multiplied, and which of them were. */
struct walk {
    const struct model_books *books;
    const struct session *session;
    bool *taken;     /* by matrix of the model */
    uint64_t *names; /* by product of the order */
    size_t begin;    /* first matrix of the place whose turn it is */
};

static bool same_place(const struct gguf_matrix *a, const struct gguf_matrix *b)
{
    return a->layer == b->layer && a->place == b->place;
}

static size_t end_of_place(const struct walk *walk, size_t begin)
{
    const struct gguf_model *model = &walk->books->model;
    size_t end = begin;
    while (end < model->count && same_place(&model->matrices[begin], &model->matrices[end]))
        end++;
    return end;
}

static uint64_t bit_of_name(const struct model_books_class *class, const char *name)
{
    for (size_t i = 0; i < class->name_count && i < MODEL_BOOKS_NAMES_MOST; i++)
        if (!strcmp(class->names[i].name, name))
            return UINT64_C(1) << i;
    return 0;
}

static bool is_of(const struct gguf_matrix *matrix, const struct model_books_class *class)
{
    return matrix->n == class->n && matrix->k == class->k && matrix->format == class->format;
}

/* Takes COUNT matrices of CLASS at the place; false: there are fewer left. *NAMES: all that they may be. */
static bool take(struct walk *walk, const struct model_books_class *class, int count, uint64_t *names)
{
    const struct gguf_model *model = &walk->books->model;
    const size_t end = end_of_place(walk, walk->begin);
    int left = count;
    *names = 0;
    for (size_t i = walk->begin; i < end; i++)
        if (is_of(&model->matrices[i], class)) {
            *names |= bit_of_name(class, model->matrices[i].name);
            left -= !walk->taken[i];
        }
    if (left > 0)
        return false;
    left = count;
    for (size_t i = walk->begin; i < end && left; i++)
        if (is_of(&model->matrices[i], class) && !walk->taken[i]) {
            walk->taken[i] = true;
            left--;
        }
    return true;
}

static bool is_done(const struct walk *walk)
{
    for (size_t i = walk->begin, end = end_of_place(walk, walk->begin); i < end; i++)
        if (!walk->taken[i])
            return false;
    return true;
}

static bool step_on(struct walk *walk, size_t op, uint64_t *names)
{
    const struct operator_row *row = &walk->session->operators[op];
    const struct model_books_class *class = model_books_class_of(walk->books, op);
    const int count = row->of_call ? 1 : row->launch->weights;
    if (!class)
        return false;
    while (walk->begin < walk->books->model.count) {
        if (take(walk, class, count, names))
            return true;
        if (!is_done(walk))
            return false;
        walk->begin = end_of_place(walk, walk->begin);
    }
    return false;
}

static bool is_whole_layer(const struct walk *walk, size_t first)
{
    const struct gguf_model *model = &walk->books->model;
    for (size_t i = first; i < model->count && model->matrices[i].layer == model->matrices[first].layer; i++)
        if (!walk->taken[i])
            return false;
    return true;
}

/* From the matrix FIRST on, which begins a layer: those before it may be on the CPU. A few products fit wherever their shapes
 * do, so a layer has to be whole: weights that are copied to one place, one after the other, make steps of fewer. */
static bool walk_from(struct walk *walk, const struct product_order *order, size_t first)
{
    memset(walk->taken, 0, walk->books->model.count * sizeof *walk->taken);
    walk->begin = first;
    for (size_t i = 0; i < order->count; i++)
        if (!step_on(walk, order->operators[i], &walk->names[i]))
            return false;
    return is_whole_layer(walk, first);
}

static bool walk_order(struct walk *walk, const struct product_order *order)
{
    const struct gguf_model *model = &walk->books->model;
    for (size_t i = 0; i < model->count; i++)
        if ((!i || model->matrices[i].layer != model->matrices[i - 1].layer) && walk_from(walk, order, i))
            return true;
    return false;
}

static bool places_are_known(const struct gguf_model *model)
{
    for (size_t i = 0; i < model->count; i++)
        if (model->matrices[i].place == GGUF_PLACE_UNKNOWN)
            return false;
    return true;
}

/* An operator that is also in an order of which nothing is told may be any of its class. */
void model_books_find_names(struct model_books *books, const struct session *session)
{
    bool *untold = allocate(session->operator_count, sizeof *untold);
    books->names_of = allocate(session->operator_count, sizeof *books->names_of);
    for (size_t i = 0; i < session->product_order_count && places_are_known(&books->model); i++) {
        const struct product_order *order = &session->product_orders[i];
        struct walk walk = {.books = books,
                            .session = session,
                            .taken = allocate(books->model.count, sizeof *walk.taken),
                            .names = allocate(order->count, sizeof *walk.names)};
        const bool told = walk_order(&walk, order);
        for (size_t j = 0; j < order->count; j++) {
            books->names_of[order->operators[j]] |= walk.names[j];
            untold[order->operators[j]] |= !told;
        }
        free(walk.taken);
        free(walk.names);
    }
    for (size_t i = 0; i < session->operator_count; i++)
        if (untold[i])
            books->names_of[i] = 0;
    free(untold);
}
