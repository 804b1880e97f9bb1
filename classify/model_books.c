/* SPDX-License-Identifier: Apache-2.0 */
/* The model's side: its matrices in classes of one shape and format. */
#include "classify/model_books.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "classify/allocate.h"
#include "classify/model_books_measure.h"
#include "classify/model_books_names.h"

const char *model_books_verdict_name(enum model_books_verdict verdict)
{
    static const char *const names[] = {
        [MODEL_BOOKS_UNKNOWN] = NULL, [MODEL_BOOKS_EQUAL] = "equal", [MODEL_BOOKS_WITHIN] = "within",
        [MODEL_BOOKS_LESS] = "less",  [MODEL_BOOKS_MORE] = "more",
    };
    return names[verdict];
}

const struct model_books_class *model_books_class_of(const struct model_books *books, size_t op)
{
    return op < books->operator_count && books->class_of[op] ? &books->classes[books->class_of[op] - 1] : NULL;
}

size_t model_books_names(const struct model_books *books, size_t op, const char *names[MODEL_BOOKS_NAMES_MOST])
{
    const struct model_books_class *class = model_books_class_of(books, op);
    size_t count = 0;
    for (size_t i = 0; class && i < class->name_count && i < MODEL_BOOKS_NAMES_MOST; i++)
        if (!books->names_of[op] || books->names_of[op] >> i & 1)
            names[count++] = class->names[i].name;
    return count;
}

static struct model_books_class *class_for(struct model_books *books, const struct gguf_matrix *matrix)
{
    for (size_t i = 0; i < books->class_count; i++) {
        struct model_books_class *class = &books->classes[i];
        if (class->n == matrix->n && class->k == matrix->k && class->format == matrix->format)
            return class;
    }
    books->classes = allocate_grow(books->classes, books->class_count, &books->class_capacity, sizeof *books->classes);
    struct model_books_class *class = &books->classes[books->class_count++];
    *class = (struct model_books_class){
        .n = matrix->n, .k = matrix->k, .format = matrix->format, .matrix_bytes = matrix->bytes};
    return class;
}

/* Few names a class: those of one layer. */
static void add_name(struct model_books_class *class, const char *name)
{
    size_t i = 0;
    while (i < class->name_count && strcmp(class->names[i].name, name))
        i++;
    if (i == class->name_count) {
        size_t capacity = class->name_count;
        class->names = allocate_grow(class->names, class->name_count, &capacity, sizeof *class->names);
        class->names[class->name_count++] = (struct model_books_name){.name = name};
    }
    class->names[i].tensors++;
}

static void add_matrix(struct model_books *books, const struct gguf_matrix *matrix)
{
    struct model_books_class *class = class_for(books, matrix);
    add_name(class, matrix->name);
    if (matrix->experts) {
        class->routed++;
        if (matrix->matrices > class->experts)
            class->experts = matrix->matrices;
        return;
    }
    class->fixed += matrix->matrices;
    class->heads |= matrix->matrices > 1;
}

static double most_bytes(const struct model_books_class *class)
{
    return class->matrix_bytes * (double)(class->fixed + class->routed * class->experts);
}

static int by_bytes(const void *left, const void *right)
{
    const struct model_books_class *a = left, *b = right;
    const double x = most_bytes(a), y = most_bytes(b);
    if (x != y)
        return x < y ? 1 : -1;
    return a->n != b->n ? (a->n < b->n) - (a->n > b->n) : (a->k < b->k) - (a->k > b->k);
}

struct model_books *model_books_open(const char *path, struct model_error *error)
{
    struct checkpoint checkpoint;
    struct model_error problem;
    struct model_books *books = allocate(1, sizeof *books);
    bool good = checkpoint_read(path, &checkpoint, &problem);
    if (good) {
        good = gguf_model_of(&checkpoint, &books->model, &problem);
        checkpoint_free(&checkpoint);
    }
    if (!good) {
        snprintf(error->text, sizeof error->text, "%.200s: %.300s", path, problem.text);
        free(books);
        return NULL;
    }
    books->path = allocate_text(path);
    books->layers_seen = -1;
    for (size_t i = 0; i < books->model.count; i++)
        add_matrix(books, &books->model.matrices[i]);
    qsort(books->classes, books->class_count, sizeof *books->classes, by_bytes);
    return books;
}

void model_books_close_with(struct model_books *books, const struct session *session)
{
    model_books_measure(books, session);
    model_books_find_names(books, session);
}

void model_books_free(struct model_books *books)
{
    if (!books)
        return;
    for (size_t i = 0; i < books->class_count; i++) {
        free(books->classes[i].names);
        free(books->classes[i].operators);
    }
    free(books->classes);
    free(books->devices);
    free(books->class_of);
    free(books->names_of);
    free(books->extra);
    free(books->path);
    gguf_model_free(&books->model);
    free(books);
}
