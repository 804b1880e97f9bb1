/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU table. Adding a GPU is adding one row to a gpu_rows_*.def; a test walks all rows. What no source tells is left
 * out (0); a figure on which sources disagree says "conflict" in its confidence mark, with the figures. */
#include "classify/gpu_spec_rows.h"

#define MIB(x) ((x)*1048576.0)

/* Peaks in dense TFLOP/s (int8: TOP/s). Both fp8 formats run at one rate. */
#define FP64(x)        [GPU_PATH_FP64] = (x)*1e12
#define FP64_TENSOR(x) [GPU_PATH_FP64_TENSOR] = (x)*1e12
#define FP32(x)        [GPU_PATH_FP32] = (x)*1e12
#define TF32(x)        [GPU_PATH_TF32] = (x)*1e12
#define BF16(x)        [GPU_PATH_BF16] = (x)*1e12
#define FP16(x)        [GPU_PATH_FP16] = (x)*1e12
#define BF16_FP16(x)   BF16(x), FP16(x)
#define FP16_ACC16(x)  [GPU_PATH_FP16_ACC16] = (x)*1e12
#define FP8(x)         [GPU_PATH_FP8_E4M3] = (x)*1e12, [GPU_PATH_FP8_E5M2] = (x)*1e12
#define FP8_ACC16(x)   [GPU_PATH_FP8_E4M3_ACC16] = (x)*1e12, [GPU_PATH_FP8_E5M2_ACC16] = (x)*1e12
#define INT8(x)        [GPU_PATH_INT8] = (x)*1e12
#define INT8_DP4A(x)   [GPU_PATH_INT8_DP4A] = (x)*1e12
#define FP4(x)         [GPU_PATH_FP4_E2M1] = (x)*1e12
#define FP16_FMA(x)    [GPU_PATH_FP16_FMA] = (x)*1e12
#define BF16_FMA(x)    [GPU_PATH_BF16_FMA] = (x)*1e12

/* FMA units: all from the fp32 peak by the ratios of the architecture. Volta: table "Throughput of native arithmetic
 * instructions" of the CUDA C++ Programming Guide (128, 64 and 32 results a clock of fp16, fp32, fp64). GA100 and GH100:
 * table 3 of NVIDIA's "Hopper Architecture In-Depth" (A100: 78, 39, 19.5, 9.7; H100: fp16 and bf16 twice fp32, fp64 half).
 * GeForce, RTX and inference chips from 8.6 on: 16-bit as fp32, fp64 1/64; Turing: twice, 1/32 (TechPowerUp's fp64 and fp16
 * columns, and NVIDIA's Ada white paper). */
#define FMA_GV100(x)   FP32(x), FP64((x) / 2.0), FP16_FMA((x)*2.0)
#define FMA_TU10X(x)   FP32(x), FP64((x) / 32.0), FP16_FMA((x)*2.0)
#define FMA_GA100(x)   FP32(x), FP64((x) / 2.0), FP16_FMA((x)*4.0), BF16_FMA((x)*2.0)
#define FMA_GH100(x)   FP32(x), FP64((x) / 2.0), FP16_FMA((x)*2.0), BF16_FMA((x)*2.0)
#define FMA_GEFORCE(x) FP32(x), FP64((x) / 64.0), FP16_FMA(x), BF16_FMA(x)

/* PCI ids: pci.ids of 2026-08-22, and NVIDIA's own list in open-gpu-kernel-modules, README @df1c9a3. clock_hz is the clock
 * that reproduces the peaks, not the highest one. tf32 of GPUs whose source doesn't give it is half of bf16, which is the
 * ratio of every architecture that has both. dp4a: NVIDIA gives no rate since Volta (its Programming Guide's table has no
 * such row), and the 62.8 TOPS that are quoted for the V100 are 4 times its fp32 peak, which is Pascal's ratio: no such row
 * has a figure, and --peak int8-dp4a=... is how to give one.
 * TechPowerUp GPU database: as collected in reox007/RightNow-GPU-Database @77fae38. */
const struct gpu_spec gpu_spec_rows[] = {
#include "classify/gpu_rows_datacenter.def"
#include "classify/gpu_rows_desktop.def"
#include "classify/gpu_rows_other.def"
};

const size_t gpu_spec_row_count = sizeof gpu_spec_rows / sizeof gpu_spec_rows[0];
