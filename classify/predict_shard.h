/* SPDX-License-Identifier: Apache-2.0 */
/* One GPU's part of a model split as Megatron-LM splits it (Shoeybi et al., arXiv 1909.08053, section 3): heads and the
 * inner dimension of the FFN are divided, o_proj and down_proj along K, everything else along N; router and MLA's down
 * projections are on every GPU; KV heads are repeated where there are fewer of them than GPUs. */
#ifndef CLASSIFY_PREDICT_SHARD_H
#define CLASSIFY_PREDICT_SHARD_H

#include "classify/model/geometry.h"

struct predict_shard {
    int64_t gpus;
    int64_t query_heads, kv_heads;
};

/* False: something does not divide; ERROR tells what. */
bool predict_shard_of(const struct model_config *config, int64_t gpus, struct predict_shard *shard,
                      struct model_error *error);
/* N and K of one GPU's part. The vocabulary is padded up to whole parts. */
void predict_shard_matrix(const struct predict_shard *shard, const struct model_config *config,
                          const struct model_matrix *matrix, int64_t *n, int64_t *k);

#endif
