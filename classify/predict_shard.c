/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of the first matrix of a pair, rows of the second, so that one all-reduce closes both. With fewer KV heads than
 * GPUs, heads are repeated; a vocabulary that doesn't divide is padded. */
#include "classify/predict_shard.h"

#include <inttypes.h>
#include <stdio.h>

static bool divides(const char *field, int64_t size, int64_t gpus, struct model_error *error)
{
    if (size % gpus == 0)
        return true;
    snprintf(error->text, sizeof error->text, "%s %" PRId64 " can't be divided among %" PRId64 " GPUs", field, size,
             gpus);
    return false;
}

bool predict_shard_of(const struct model_config *config, int64_t gpus, struct predict_shard *shard,
                      struct model_error *error)
{
    *shard = (struct predict_shard){.gpus = gpus};
    if (!divides("num_attention_heads", config->query_heads, gpus, error) ||
        !divides("intermediate_size", config->ffn, gpus, error) ||
        !divides("the experts' intermediate size", config->expert_ffn, gpus, error) ||
        !divides("the shared experts' intermediate size", config->shared_ffn, gpus, error))
        return false;
    bool repeated = gpus % config->kv_heads == 0;
    if (!repeated && !divides("num_key_value_heads", config->kv_heads, gpus, error))
        return false;
    shard->query_heads = config->query_heads / gpus;
    shard->kv_heads = repeated ? 1 : config->kv_heads / gpus;
    return true;
}

void predict_shard_matrix(const struct predict_shard *shard, const struct model_config *config,
                          const struct model_matrix *matrix, int64_t *n, int64_t *k)
{
    *n = matrix->out;
    *k = matrix->in;
    switch (matrix->role) {
    case MODEL_QKV:
        *n = matrix->query_out / shard->gpus + matrix->kv_out / config->kv_heads * shard->kv_heads;
        return;
    case MODEL_LATENT_UP_Q:
    case MODEL_LATENT_UP_KV:
    case MODEL_FFN_UP:
    case MODEL_EXPERT_UP:
    case MODEL_SHARED_UP:
        *n = matrix->out / shard->gpus;
        return;
    case MODEL_ATTENTION_OUTPUT:
    case MODEL_FFN_DOWN:
    case MODEL_EXPERT_DOWN:
    case MODEL_SHARED_DOWN:
        *k = matrix->in / shard->gpus;
        return;
    case MODEL_HEAD:
    case MODEL_EMBEDDING:
        *n = (matrix->out + shard->gpus - 1) / shard->gpus;
        return;
    case MODEL_LATENT_DOWN:
    case MODEL_ROUTER:
    case MODEL_SHARED_GATE:
        return;
    }
}
