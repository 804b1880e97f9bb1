/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel node that a program builds itself, is given other parameters, and is captured: `nodes_host`, on the simulated GPU.
 * int 77, NULL; int 78, an address; int 99 in a capture; long 123456789012 in all. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "preload/capture_types.h"

int cudaDeviceSynchronize(void);
int cudaGraphAddKernelNode(cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t,
                           const struct cudaKernelNodeParams *);
int cudaGraphCreate(cudaGraph_t *, unsigned);
int cudaGraphExecKernelNodeSetParams(cudaGraphExec_t, cudaGraphNode_t, const struct cudaKernelNodeParams *);
int cudaGraphInstantiate(cudaGraphExec_t *, cudaGraph_t, unsigned long long);
int cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
int cudaStreamBeginCapture(cudaStream_t, int);
int cudaStreamCreate(cudaStream_t *);
int cudaStreamEndCapture(cudaStream_t, cudaGraph_t *);
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *, uint3 *, dim3 *, dim3 *, int *);

#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        int status = (call);                                                                                           \
        if (status) {                                                                                                  \
            fprintf(stderr, "%s: %d\n", #call, status);                                                                \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

static void stub(void)
{
}

static struct {
    int magic, version;
    const void *data, *unused;
} wrapper = {0x466243b1, 1, NULL, NULL}; /* fatbinary_section.h; empty: registers names alone */

int main(void)
{
    static char name[] = "_Z5nodesPfiS_l";
    uint64_t first = 0x7000, second = 0;
    int number = 77;
    int64_t large = 123456789012;
    void *arguments[] = {&first, &number, &second, &large};
    struct cudaKernelNodeParams params = {
        .func = (void *)stub, .gridDim = {2, 1, 1}, .blockDim = {64, 1, 1}, .kernelParams = arguments};
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t executable;
    cudaStream_t stream;
    void **binary = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(binary, (const char *)stub, name, name, -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(binary);
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    MUST(cudaGraphLaunch(executable, NULL));
    MUST(cudaDeviceSynchronize());
    number = 78;
    second = 0x9000;
    MUST(cudaGraphExecKernelNodeSetParams(executable, node, &params));
    MUST(cudaGraphLaunch(executable, NULL));
    MUST(cudaDeviceSynchronize());
    number = 99;
    MUST(cudaStreamCreate(&stream));
    MUST(cudaStreamBeginCapture(stream, VENDOR_CAPTURE_GLOBAL));
    MUST(cudaLaunchKernel((const void *)stub, (dim3){3, 1, 1}, (dim3){32, 1, 1}, arguments, 0, stream));
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphInstantiate(&executable, graph, 0));
    MUST(cudaGraphLaunch(executable, stream));
    MUST(cudaDeviceSynchronize());
    return 0;
}
