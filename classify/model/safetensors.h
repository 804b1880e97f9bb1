/* SPDX-License-Identifier: Apache-2.0 */
/* The header of a safetensors file, and model.safetensors.index.json that names the files of a split checkpoint
 * (huggingface/safetensors, README.md: 8 bytes length, little-endian, then JSON of at most 100 MB). */
#ifndef CLASSIFY_MODEL_SAFETENSORS_H
#define CLASSIFY_MODEL_SAFETENSORS_H

#include <stdio.h>

#include "classify/model/checkpoint.h"

/* FILE stands at the first byte. Adds the file's tensors. */
bool safetensors_read(FILE *file, uint64_t file_bytes, struct checkpoint *checkpoint, struct model_error *error);
/* FOLDER is where the files lie that the index names; NULL: they are not looked for. */
bool safetensors_index_read(FILE *file, uint64_t file_bytes, const char *folder, struct checkpoint *checkpoint,
                            struct model_error *error);

#endif
