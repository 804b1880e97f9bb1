/* SPDX-License-Identifier: Apache-2.0 */
/* The matrices of a GGUF that a step multiplies activations with, straight from its tensors: whatever the architecture, and each
 * in the format that it is stored in. Tables that are looked up by the row, convolutions and states of recurrent layers,
 * and vectors are none; token_embd is one only where there is no output.weight, which llama.cpp then multiplies with it. */
#ifndef CLASSIFY_MODEL_GGUF_MODEL_H
#define CLASSIFY_MODEL_GGUF_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/model/checkpoint.h"

enum { GGUF_NO_LAYER = -1 };

/* Where in a layer a matrix is multiplied: later places need what earlier ones gave, in one place any order is possible. */
enum gguf_place {
    GGUF_PLACE_UNKNOWN,
    GGUF_PLACE_INPUT,  /* q, k and v: read the layer's input */
    GGUF_PLACE_OUTPUT, /* attn_output */
    GGUF_PLACE_UP,     /* the router, gate and up */
    GGUF_PLACE_DOWN,
    GGUF_PLACE_HEAD, /* of the model */
};

struct gguf_matrix {
    char *name; /* "attn_q", without "blk.N." and ".weight"; owned */
    int64_t layer;
    int64_t n, k;
    int64_t matrices; /* of one tensor: experts, or heads; else 1 */
    bool experts;     /* of a layer's MATRICES a token uses gguf_facts.experts_used */
    bool tied;        /* token_embd in place of output */
    enum gguf_place place;
    const struct model_format *format;
    double bytes; /* of one of MATRICES */
};

struct gguf_model {
    struct gguf_facts facts;
    struct gguf_matrix *matrices; /* in the order of layers, then of the file */
    size_t count, capacity;
    double table_bytes;   /* of what is looked up, not multiplied */
    size_t files_missing; /* parts of several that were not found */
};

/* False: CHECKPOINT is no GGUF, or has a tensor whose format is not known: ERROR names it. */
bool gguf_model_of(const struct checkpoint *checkpoint, struct gguf_model *model, struct model_error *error);
void gguf_model_free(struct gguf_model *model);

/* PATH begins as a GGUF does. */
bool gguf_model_is(const char *path);

#endif
