/* SPDX-License-Identifier: Apache-2.0 */
/* Only numbers and lists of them are taken: what else stands in these variables is nobody's rank, and may be private. */
#include "preload/job_rank.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "preload/environment_block.h"

static const char *const rank_variables[] = {
    "RANK",
    "LOCAL_RANK",
    "WORLD_SIZE",
    "GROUP_RANK", /* torchrun: docs.pytorch.org, "Environment Variables" of elastic run */
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_LOCAL_RANK", /* Open MPI: docs.open-mpi.org, "Environment variables set" */
    "PMI_RANK",                   /* MPICH's process manager interface */
    "SLURM_PROCID",
    "SLURM_LOCALID",        /* slurm.schedmd.com, srun, "OUTPUT ENVIRONMENT VARIABLES" */
    "VLLM_DP_RANK",         /* vllm-project/vllm, vllm/envs.py */
    "CUDA_VISIBLE_DEVICES", /* CUDA C programming guide, "CUDA Environment Variables" */
};

static int is_plain(const char *value)
{
    return *value && strspn(value, "0123456789,-") == strlen(value);
}

size_t job_rank_text(char *text, size_t size)
{
    struct environment_block block;
    size_t length = 0;
    text[0] = '\0';
    if (!environment_block_open(&block))
        return 0;
    environment_block_read(&block, (int)getpid());
    for (size_t i = 0; i < sizeof rank_variables / sizeof rank_variables[0]; i++) {
        const char *value = environment_block_value(rank_variables[i], &block);
        if (!value || !is_plain(value) || length + strlen(rank_variables[i]) + strlen(value) + 3 > size)
            continue;
        length +=
            (size_t)snprintf(text + length, size - length, "%s%s=%s", length ? " " : "", rank_variables[i], value);
    }
    environment_block_close(&block);
    return length;
}
