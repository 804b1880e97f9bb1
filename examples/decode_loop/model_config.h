/* SPDX-License-Identifier: Apache-2.0 */
/* The sizes of a decoder-only transformer, read from the config.json that comes with its weights. */
#ifndef EXAMPLES_DECODE_LOOP_MODEL_CONFIG_H
#define EXAMPLES_DECODE_LOOP_MODEL_CONFIG_H

#include <stdbool.h>

struct model_config {
    int hidden, intermediate, layers, heads, kv_heads, head_dim, vocabulary;
    bool qkv_bias;
};

/* False: says on standard error what is wrong with the file. */
bool model_config_read(const char *path, struct model_config *config);

#endif
