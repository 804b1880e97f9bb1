/* SPDX-License-Identifier: Apache-2.0 */
/* The tensors that a checkpoint says it has, against those that config.json implies. Reads headers only: a safetensors file,
 * its index (with the headers of the files beside it, where they are there), or a GGUF file. All are strangers' files:
 * every length is checked against what the file has, and memory grows with its header only. */
#ifndef CLASSIFY_MODEL_CHECKPOINT_H
#define CLASSIFY_MODEL_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/model/geometry.h"

enum checkpoint_kind { CHECKPOINT_SAFETENSORS, CHECKPOINT_SAFETENSORS_INDEX, CHECKPOINT_GGUF };

enum { CHECKPOINT_DIMENSIONS = 4 };

struct checkpoint_tensor {
    char *name; /* owned */
    int dimensions;
    uint64_t shape[CHECKPOINT_DIMENSIONS]; /* rows first, as safetensors has it; GGUF's order is turned round */
    bool shape_known;                      /* an index alone has names only */
    uint64_t elements;                     /* stored ones: packed formats have fewer than parameters */
    double bytes;                          /* NAN: not known */
    const struct model_format *format;     /* NULL: not known */
};

/* What a GGUF's metadata say of its model; negative, empty: they don't. Of values that differ by layer the largest. */
struct gguf_facts {
    char architecture[64], name[128]; /* "llama"; general.name */
    int64_t layers, embedding;
    int64_t query_heads, kv_heads, key_dim, value_dim; /* the dims as the file has them, else by division */
    int64_t experts, experts_used;
    int64_t window;         /* attention.sliding_window */
    int64_t predict_layers; /* the last ones, which predict further tokens and take no part in a step */
    int64_t parts;          /* split.count */
};

struct checkpoint {
    enum checkpoint_kind kind;
    struct gguf_facts gguf;            /* of CHECKPOINT_GGUF */
    struct checkpoint_tensor *tensors; /* owned */
    size_t count, capacity;
    uint64_t total_bytes;      /* as the index says; 0: it doesn't */
    uint64_t total_parameters; /* as the index says; 0: it doesn't */
    size_t files, files_read;  /* of several: how many there are, and how many were found; 0: one file */
};

enum { CHECKPOINT_HEADER_LARGEST = 100 << 20 }; /* what the safetensors format allows */

/* DATA begins with the file; FILE_BYTES is the size of the whole. One of the three, told by its first bytes. */
bool checkpoint_parse(const void *data, size_t bytes, uint64_t file_bytes, struct checkpoint *checkpoint,
                      struct model_error *error);
/* PATH may be one part of several, "x-00001-of-00003.gguf": those beside it are read too. */
bool checkpoint_read(const char *path, struct checkpoint *checkpoint, struct model_error *error);
/* The checkpoint that Hugging Face's names promise in FOLDER, into PATH. False: there is none. */
bool checkpoint_find(const char *folder, char *path, size_t bytes);
void checkpoint_free(struct checkpoint *checkpoint);
const char *checkpoint_kind_name(enum checkpoint_kind kind); /* "safetensors", "safetensors_index", "gguf" */

enum checkpoint_verdict {
    CHECKPOINT_EQUAL,
    CHECKPOINT_DIFFERENT,
    CHECKPOINT_NOT_COMPARABLE, /* quantised without shapes, or names only and no size */
};

enum { CHECKPOINT_DIFFERENCES_SHOWN = 8, CHECKPOINT_DIFFERENCE_BYTES = 192 };

struct checkpoint_comparison {
    enum checkpoint_kind kind;
    enum checkpoint_verdict verdict;
    size_t tensors;
    int64_t parameters;       /* of the model in the checkpoint; negative: not known */
    int64_t expected;         /* of the geometry */
    int64_t other_parameters; /* of tensors that belong to no part of the language model */
    size_t other_tensors;
    double bytes;                         /* of all its tensors; NAN: not known */
    size_t wrong_shape, missing, unknown; /* tensors: of the wrong shape, not there, not expected */
    char differences[CHECKPOINT_DIFFERENCES_SHOWN][CHECKPOINT_DIFFERENCE_BYTES]; /* the first ones, for people */
    int difference_count;
    char note[MODEL_NOTE_BYTES]; /* what could not be compared; empty: nothing */
};

void checkpoint_compare(const struct checkpoint *checkpoint, const struct model_geometry *geometry,
                        struct checkpoint_comparison *comparison);

#endif
