/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU table and its look-up. Adding a GPU is adding one row; a test walks the rows. */
#include "classify/gpu_specs.h"

#include <math.h>
#include <string.h>

const struct gpu_path_info gpu_paths[GPU_PATH_COUNT] = {
    [GPU_PATH_FP64] = {NUMBER_FP64, NUMBER_FP64, "fma"},
    [GPU_PATH_FP32] = {NUMBER_FP32, NUMBER_FP32, "fma"},
    [GPU_PATH_TF32] = {NUMBER_TF32, NUMBER_FP32, "tensor"},
    [GPU_PATH_BF16] = {NUMBER_BF16, NUMBER_FP32, "tensor"},
    [GPU_PATH_FP16] = {NUMBER_FP16, NUMBER_FP32, "tensor"},
    [GPU_PATH_FP16_ACC16] = {NUMBER_FP16, NUMBER_FP16, "tensor"},
    [GPU_PATH_FP8_E4M3] = {NUMBER_FP8_E4M3, NUMBER_FP32, "tensor"},
    [GPU_PATH_FP8_E5M2] = {NUMBER_FP8_E5M2, NUMBER_FP32, "tensor"},
    [GPU_PATH_INT8] = {NUMBER_INT8, NUMBER_INT32, "tensor"},
    [GPU_PATH_FP4_E2M1] = {NUMBER_FP4_E2M1, NUMBER_FP32, "tensor"},
};

/* Peaks in dense TFLOP/s. Both fp8 formats run at one rate. */
#define FP64(x)       [GPU_PATH_FP64] = (x)*1e12
#define FP32(x)       [GPU_PATH_FP32] = (x)*1e12
#define TF32(x)       [GPU_PATH_TF32] = (x)*1e12
#define BF16(x)       [GPU_PATH_BF16] = (x)*1e12
#define FP16(x)       [GPU_PATH_FP16] = (x)*1e12
#define BF16_FP16(x)  BF16(x), FP16(x)
#define FP16_ACC16(x) [GPU_PATH_FP16_ACC16] = (x)*1e12
#define FP8(x)        [GPU_PATH_FP8_E4M3] = (x)*1e12, [GPU_PATH_FP8_E5M2] = (x)*1e12
#define INT8(x)       [GPU_PATH_INT8] = (x)*1e12
#define FP4(x)        [GPU_PATH_FP4_E2M1] = (x)*1e12

/* PCI ids: pci.ids of 2026-08-22. clock_hz is the clock that reproduces the peaks, not the highest one. tf32 of GPUs whose
 * source doesn't give it is half of bf16, which is the ratio of every architecture that has both. */
/* clang-format off */
static const struct gpu_spec specs[] = {
    {.key = "t4", .name = "Tesla T4",
     .driver_names = {"Tesla T4"},
     .pci_ids = {0x1eb8}, .pci_vendor = 0x10de, .compute_capability = "7.5",
     .sm_count = 40, .clock_hz = 1590e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 1024,
     .memory_bytes = 16e9, .bytes_per_second = 320e9,
     .flops_per_second = {FP32(8.1), FP16(65), FP16_ACC16(65), INT8(130)},
     .source = "NVIDIA T4 data sheet, by pytorch-lightning throughput.py and Waterline GPU reference 2026-09-26",
     .confidence = "ok"},
    {.key = "v100-sxm2-16", .name = "V100 SXM2 16GB",
     .driver_names = {"Tesla V100-SXM2-16GB"},
     .pci_ids = {0x1db1}, .pci_vendor = 0x10de, .compute_capability = "7.0",
     .sm_count = 80, .clock_hz = 1530e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 1024,
     .memory_bytes = 16e9, .bytes_per_second = 900e9,
     .flops_per_second = {FP32(15.7), FP16(125), FP16_ACC16(125)},
     .source = "NVIDIA V100 data sheet, by pytorch-lightning throughput.py and Waterline GPU reference 2026-09-26",
     .confidence = "ok"},
    {.key = "v100-sxm2-32", .name = "V100 SXM2 32GB",
     .driver_names = {"Tesla V100-SXM2-32GB"},
     .pci_ids = {0x1db5}, .pci_vendor = 0x10de, .compute_capability = "7.0",
     .sm_count = 80, .clock_hz = 1530e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 1024,
     .memory_bytes = 32e9, .bytes_per_second = 900e9,
     .flops_per_second = {FP32(15.7), FP16(125), FP16_ACC16(125)},
     .source = "NVIDIA V100 data sheet, by pytorch-lightning throughput.py and Waterline GPU reference 2026-09-26",
     .confidence = "ok"},
    {.key = "v100-pcie", .name = "V100 PCIe 16/32GB",
     .driver_names = {"Tesla V100-PCIE-16GB", "Tesla V100-PCIE-32GB"},
     .pci_ids = {0x1db4, 0x1db6}, .pci_vendor = 0x10de, .compute_capability = "7.0",
     .sm_count = 80, .clock_hz = 1380e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 1024,
     .memory_bytes = 32e9, .bytes_per_second = 900e9,
     .flops_per_second = {FP32(14), FP16(112), FP16_ACC16(112)},
     .source = "NVIDIA V100 data sheet, by pytorch-lightning throughput.py and Waterline GPU reference 2026-09-26",
     .confidence = "ok"},
    {.key = "a10", .name = "A10",
     .driver_names = {"NVIDIA A10"},
     .pci_ids = {0x2236}, .pci_vendor = 0x10de, .compute_capability = "8.6",
     .sm_count = 72, .clock_hz = 1695e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 1024,
     .memory_bytes = 24e9, .bytes_per_second = 600e9,
     .flops_per_second = {FP32(31.2), TF32(62.5), BF16_FP16(125), FP16_ACC16(125), INT8(250)},
     .source = "NVIDIA A10 page, by Waterline GPU reference 2026-09-26",
     .confidence = "ok"},
    {.key = "a10g", .name = "A10G (AWS g5)",
     .driver_names = {"NVIDIA A10G"},
     .pci_ids = {0x2237}, .pci_vendor = 0x10de, .compute_capability = "8.6",
     .sm_count = 80, .clock_hz = 1710e6, .clock_basis = GPU_CLOCK_BACKSOLVED, .tensor_flops_per_clock_per_sm = 512,
     .memory_bytes = 24e9, .bytes_per_second = 600e9,
     .flops_per_second = {FP32(35), TF32(35), BF16_FP16(70), INT8(140)},
     .source = "AWS A10G data sheet, by Waterline GPU reference 2026-09-26",
     .confidence = "ok; 125 TFLOP/s, often quoted, is the A10"},
    {.key = "a30", .name = "A30",
     .driver_names = {"NVIDIA A30"},
     .pci_ids = {0x20b7}, .pci_vendor = 0x10de, .compute_capability = "8.0",
     .sm_count = 56, .clock_hz = 1440e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 2048,
     .memory_bytes = 24e9, .bytes_per_second = 933e9,
     .flops_per_second = {FP32(10.3), TF32(82), BF16_FP16(165), FP16_ACC16(165), INT8(330)},
     .source = "kernelmeter 0.9.0 gpus.py (SMs, clock, bus) and the architecture rates",
     .confidence = "derived; data sheet not compared"},
    {.key = "a40", .name = "A40",
     .driver_names = {"NVIDIA A40"},
     .pci_ids = {0x2235}, .pci_vendor = 0x10de, .compute_capability = "8.6",
     .sm_count = 84, .clock_hz = 1740e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 1024,
     .memory_bytes = 48e9, .bytes_per_second = 696e9,
     .flops_per_second = {FP32(37.4), TF32(74.8), BF16_FP16(149.7), FP16_ACC16(149.7), INT8(299.3)},
     .source = "NVIDIA Ada white paper, appendix, by Waterline GPU reference 2026-09-26",
     .confidence = "ok"},
    {.key = "a100-sxm-40", .name = "A100 SXM4 40GB",
     .driver_names = {"NVIDIA A100-SXM4-40GB", "A100-SXM4-40GB"},
     .pci_ids = {0x20b0}, .pci_vendor = 0x10de, .compute_capability = "8.0",
     .sm_count = 108, .clock_hz = 1410e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 2048,
     .memory_bytes = 40e9, .bytes_per_second = 1555e9,
     .flops_per_second = {FP32(19.5), TF32(156), BF16_FP16(312), FP16_ACC16(312), INT8(624)},
     .source = "NVIDIA A100 data sheet, by Waterline GPU reference 2026-09-26 and stas00/ml-engineering accelerator tables",
     .confidence = "ok"},
    {.key = "a100-sxm-80", .name = "A100 SXM4 80GB",
     .driver_names = {"NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB"},
     .pci_ids = {0x20b2}, .pci_vendor = 0x10de, .compute_capability = "8.0",
     .sm_count = 108, .clock_hz = 1410e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 2048,
     .memory_bytes = 80e9, .bytes_per_second = 2039e9,
     .flops_per_second = {FP32(19.5), TF32(156), BF16_FP16(312), FP16_ACC16(312), INT8(624)},
     .source = "NVIDIA A100 data sheet, by Waterline GPU reference 2026-09-26 and stas00/ml-engineering accelerator tables",
     .confidence = "ok"},
    {.key = "a100-pcie-40", .name = "A100 PCIe 40GB",
     .driver_names = {"NVIDIA A100-PCIE-40GB", "A100-PCIE-40GB"},
     .pci_ids = {0x20f1, 0x20b1}, .pci_vendor = 0x10de, .compute_capability = "8.0",
     .sm_count = 108, .clock_hz = 1410e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 2048,
     .memory_bytes = 40e9, .bytes_per_second = 1555e9,
     .flops_per_second = {FP32(19.5), TF32(156), BF16_FP16(312), FP16_ACC16(312), INT8(624)},
     .source = "NVIDIA A100 data sheet, by Waterline GPU reference 2026-09-26 and stas00/ml-engineering accelerator tables",
     .confidence = "ok"},
    {.key = "a100-pcie-80", .name = "A100 PCIe 80GB",
     .driver_names = {"NVIDIA A100 80GB PCIe"},
     .pci_ids = {0x20b5}, .pci_vendor = 0x10de, .compute_capability = "8.0",
     .sm_count = 108, .clock_hz = 1410e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 2048,
     .memory_bytes = 80e9, .bytes_per_second = 1935e9,
     .flops_per_second = {FP32(19.5), TF32(156), BF16_FP16(312), FP16_ACC16(312), INT8(624)},
     .source = "NVIDIA A100 data sheet, by Waterline GPU reference 2026-09-26 and stas00/ml-engineering accelerator tables",
     .confidence = "ok"},
    {.key = "rtx3090", .name = "GeForce RTX 3090",
     .driver_names = {"NVIDIA GeForce RTX 3090", "GeForce RTX 3090"},
     .pci_ids = {0x2204}, .pci_vendor = 0x10de, .compute_capability = "8.6",
     .sm_count = 82, .clock_hz = 1695e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 512,
     .memory_bytes = 24e9, .bytes_per_second = 936e9,
     .flops_per_second = {FP32(35.6), TF32(35.6), BF16_FP16(71.2), FP16_ACC16(142.3), INT8(284.7)},
     .source = "NVIDIA RTX Blackwell white paper, by Waterline GPU reference 2026-09-26",
     .confidence = "ok; halves fp32 accumulate"},
    {.key = "rtxa6000", .name = "RTX A6000",
     .driver_names = {"NVIDIA RTX A6000", "RTX A6000"},
     .pci_ids = {0x2230}, .pci_vendor = 0x10de, .compute_capability = "8.6",
     .sm_count = 84, .clock_hz = 1800e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 1024,
     .memory_bytes = 48e9, .bytes_per_second = 768e9,
     .flops_per_second = {FP32(38.7), TF32(77.4), BF16_FP16(154.8), FP16_ACC16(154.8), INT8(309.7)},
     .source = "NVIDIA RTX A6000 data sheet, by Waterline GPU reference 2026-09-26",
     .confidence = "ok; 310 TFLOP/s, often quoted, is sparse"},
    {.key = "l4", .name = "L4",
     .driver_names = {"NVIDIA L4"},
     .pci_ids = {0x27b8}, .pci_vendor = 0x10de, .compute_capability = "8.9",
     .sm_count = 58, .clock_hz = 2040e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 1024,
     .memory_bytes = 24e9, .bytes_per_second = 300e9,
     .flops_per_second = {FP32(30.3), TF32(60), BF16_FP16(121), FP16_ACC16(121), FP8(242), INT8(242)},
     .source = "NVIDIA L4 page, by Waterline GPU reference 2026-09-26",
     .confidence = "ok; a 72 W card runs far below this clock"},
    {.key = "l40", .name = "L40",
     .driver_names = {"NVIDIA L40"},
     .pci_ids = {0x26b5}, .pci_vendor = 0x10de, .compute_capability = "8.9",
     .sm_count = 142, .clock_hz = 2490e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 512,
     .memory_bytes = 48e9, .bytes_per_second = 864e9,
     .flops_per_second = {FP32(90.5), TF32(90.5), BF16_FP16(181), FP8(362), INT8(362)},
     .source = "NVIDIA L40 page, by Waterline GPU reference 2026-09-26; verl flops_counter",
     .confidence = "ok; half of the L40S"},
    {.key = "l40s", .name = "L40S",
     .driver_names = {"NVIDIA L40S"},
     .pci_ids = {0x26b9}, .pci_vendor = 0x10de, .compute_capability = "8.9",
     .sm_count = 142, .clock_hz = 2490e6, .clock_basis = GPU_CLOCK_BACKSOLVED, .tensor_flops_per_clock_per_sm = 1024,
     .memory_bytes = 48e9, .bytes_per_second = 864e9,
     .flops_per_second = {FP32(91.6), TF32(183), BF16_FP16(362), FP16_ACC16(362), FP8(733), INT8(733)},
     .source = "NVIDIA L40S page, by Waterline GPU reference 2026-09-26 and stas00/ml-engineering accelerator tables",
     .confidence = "ok"},
    {.key = "rtx4090", .name = "GeForce RTX 4090",
     .driver_names = {"NVIDIA GeForce RTX 4090"},
     .pci_ids = {0x2684}, .pci_vendor = 0x10de, .compute_capability = "8.9",
     .sm_count = 128, .clock_hz = 2520e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 512,
     .memory_bytes = 24e9, .bytes_per_second = 1008e9,
     .flops_per_second = {FP32(82.6), TF32(82.6), BF16_FP16(165.2), FP16_ACC16(330.3), FP8(330.3), INT8(660.6)},
     .source = "NVIDIA Ada white paper, by Waterline GPU reference 2026-09-26",
     .confidence = "ok; fp8 with fp16 accumulate would be 660.6"},
    {.key = "rtx6000ada", .name = "RTX 6000 Ada",
     .driver_names = {"NVIDIA RTX 6000 Ada Generation"},
     .pci_ids = {0x26b1}, .pci_vendor = 0x10de, .compute_capability = "8.9",
     .sm_count = 142, .clock_hz = 2505e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 1024,
     .memory_bytes = 48e9, .bytes_per_second = 960e9,
     .flops_per_second = {FP32(91.1), TF32(182.1), BF16_FP16(364.2), FP16_ACC16(364.2), FP8(728.5), INT8(728.5)},
     .source = "Waterline GPU reference 2026-09-26 (dense, from the sparse AI TOPS)",
     .confidence = "derived"},
    {.key = "rtx5090", .name = "GeForce RTX 5090",
     .driver_names = {"NVIDIA GeForce RTX 5090"},
     .pci_ids = {0x2b85}, .pci_vendor = 0x10de, .compute_capability = "12.0",
     .sm_count = 170, .clock_hz = 2407e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 512,
     .memory_bytes = 32e9, .bytes_per_second = 1792e9,
     .flops_per_second = {FP32(104.8), TF32(104.8), BF16_FP16(209.5), FP16_ACC16(419), FP8(419), INT8(838), FP4(1676)},
     .source = "NVIDIA RTX Blackwell white paper, by Waterline GPU reference 2026-09-26",
     .confidence = "ok"},
    {.key = "rtxpro6000-ws", .name = "RTX PRO 6000 Blackwell WS",
     .driver_names = {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition"},
     .pci_ids = {0x2bb1}, .pci_vendor = 0x10de, .compute_capability = "12.0",
     .sm_count = 188, .clock_hz = 2617e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 1024,
     .memory_bytes = 96e9, .bytes_per_second = 1792e9,
     .flops_per_second = {FP32(125), TF32(250), BF16_FP16(500), FP16_ACC16(500), FP8(1000), INT8(1000), FP4(2000)},
     .source = "Waterline GPU reference 2026-09-26 (dense, from 4000 sparse AI TOPS)",
     .confidence = "derived"},
    {.key = "rtxpro6000-maxq", .name = "RTX PRO 6000 Blackwell Max-Q",
     .driver_names = {"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition"},
     .pci_ids = {0x2bb4}, .pci_vendor = 0x10de, .compute_capability = "12.0",
     .sm_count = 188, .clock_hz = 2280e6, .clock_basis = GPU_CLOCK_BACKSOLVED, .tensor_flops_per_clock_per_sm = 1024,
     .memory_bytes = 96e9, .bytes_per_second = 1792e9,
     .flops_per_second = {FP32(110), TF32(220), BF16_FP16(440), FP16_ACC16(440), FP8(880), INT8(880), FP4(1760)},
     .source = "derived from 110 TFLOP/s fp32",
     .confidence = "unverified"},
    {.key = "rtxpro6000-srv", .name = "RTX PRO 6000 Blackwell Server",
     .driver_names = {"NVIDIA RTX PRO 6000 Blackwell Server Edition"},
     .pci_ids = {0x2bb5}, .pci_vendor = 0x10de, .compute_capability = "12.0",
     .sm_count = 188, .clock_hz = 2490e6, .clock_basis = GPU_CLOCK_BACKSOLVED, .tensor_flops_per_clock_per_sm = 1024,
     .memory_bytes = 96e9, .bytes_per_second = 1597e9,
     .flops_per_second = {FP32(120), TF32(240), BF16_FP16(480), FP16_ACC16(480), FP8(960), INT8(960), FP4(1920)},
     .source = "Waterline GPU reference 2026-09-26 (120 TFLOP/s fp32, 1597 GB/s); tensor peaks as SM times clock",
     .confidence = "derived; conflicts with 500 TFLOP/s in the same source"},
    {.key = "h100-pcie", .name = "H100 PCIe 80GB",
     .driver_names = {"NVIDIA H100 PCIe"},
     .pci_ids = {0x2331}, .pci_vendor = 0x10de, .compute_capability = "9.0",
     .sm_count = 114, .clock_hz = 1620e6, .clock_basis = GPU_CLOCK_BACKSOLVED, .tensor_flops_per_clock_per_sm = 4096,
     .memory_bytes = 80e9, .bytes_per_second = 2000e9,
     .flops_per_second = {FP32(51), TF32(378), BF16_FP16(756.5), FP16_ACC16(756.5), FP8(1513), INT8(1513)},
     .source = "NVIDIA H100 page, by Waterline GPU reference 2026-09-26 and stas00/ml-engineering accelerator tables",
     .confidence = "ok; 2039 GB/s is quoted too"},
    {.key = "h100-sxm", .name = "H100 SXM5 80GB",
     .driver_names = {"NVIDIA H100 80GB HBM3"},
     .pci_ids = {0x2330}, .pci_vendor = 0x10de, .compute_capability = "9.0",
     .sm_count = 132, .clock_hz = 1830e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 4096,
     .memory_bytes = 80e9, .bytes_per_second = 3350e9,
     .flops_per_second = {FP32(67), TF32(494.7), BF16_FP16(989.5), FP16_ACC16(989.5), FP8(1979), INT8(1979)},
     .source = "NVIDIA H100 page, by Waterline GPU reference 2026-09-26 and stas00/ml-engineering accelerator tables",
     .confidence = "ok; highest SM clock is 1980 MHz, the specification means 1830"},
    {.key = "h100-nvl", .name = "H100 NVL 94GB",
     .driver_names = {"NVIDIA H100 NVL"},
     .pci_ids = {0x2321}, .pci_vendor = 0x10de, .compute_capability = "9.0",
     .sm_count = 132, .clock_hz = 1545e6, .clock_basis = GPU_CLOCK_BACKSOLVED, .tensor_flops_per_clock_per_sm = 4096,
     .memory_bytes = 94e9, .bytes_per_second = 3900e9,
     .flops_per_second = {FP32(60), TF32(417.5), BF16_FP16(835.5), FP16_ACC16(835.5), FP8(1670.5), INT8(1670.5)},
     .source = "NVIDIA PB-11773, by Waterline GPU reference 2026-09-26",
     .confidence = "ok; SMs and clock from the fp32 peak"},
    {.key = "h200-sxm", .name = "H200 SXM 141GB",
     .driver_names = {"NVIDIA H200"},
     .pci_ids = {0x2335}, .pci_vendor = 0x10de, .compute_capability = "9.0",
     .sm_count = 132, .clock_hz = 1830e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 4096,
     .memory_bytes = 141e9, .bytes_per_second = 4800e9,
     .flops_per_second = {FP32(67), TF32(494.7), BF16_FP16(989.5), FP16_ACC16(989.5), FP8(1979), INT8(1979)},
     .source = "NVIDIA H200 page, by Waterline GPU reference 2026-09-26 and stas00/ml-engineering accelerator tables",
     .confidence = "ok"},
    {.key = "h200-nvl", .name = "H200 NVL 141GB",
     .driver_names = {"NVIDIA H200 NVL"},
     .pci_ids = {0x233b}, .pci_vendor = 0x10de, .compute_capability = "9.0",
     .sm_count = 132, .clock_hz = 1545e6, .clock_basis = GPU_CLOCK_BACKSOLVED, .tensor_flops_per_clock_per_sm = 4096,
     .memory_bytes = 141e9, .bytes_per_second = 4800e9,
     .flops_per_second = {FP32(60), TF32(417.5), BF16_FP16(835.5), FP16_ACC16(835.5), FP8(1670.5), INT8(1670.5)},
     .source = "Waterline GPU reference 2026-09-26",
     .confidence = "ok"},
    {.key = "gh200-96", .name = "GH200 96GB",
     .driver_names = {"NVIDIA GH200 480GB"},
     .pci_ids = {0x2342}, .pci_vendor = 0x10de, .compute_capability = "9.0",
     .sm_count = 132, .clock_hz = 1830e6, .clock_basis = GPU_CLOCK_BACKSOLVED, .tensor_flops_per_clock_per_sm = 4096,
     .memory_bytes = 96e9, .bytes_per_second = 4000e9,
     .flops_per_second = {FP32(67), TF32(494.7), BF16_FP16(989.5), FP16_ACC16(989.5), FP8(1979), INT8(1979)},
     .source = "Waterline GPU reference 2026-09-26 and stas00/ml-engineering accelerator tables",
     .confidence = "secondary"},
    {.key = "gh200-144", .name = "GH200 144GB HBM3e",
     .driver_names = {"NVIDIA GH200 144G HBM3e"},
     .pci_ids = {0x2348}, .pci_vendor = 0x10de, .compute_capability = "9.0",
     .sm_count = 132, .clock_hz = 1830e6, .clock_basis = GPU_CLOCK_BACKSOLVED, .tensor_flops_per_clock_per_sm = 4096,
     .memory_bytes = 144e9, .bytes_per_second = 4900e9,
     .flops_per_second = {FP32(67), TF32(494.7), BF16_FP16(989.5), FP16_ACC16(989.5), FP8(1979), INT8(1979)},
     .source = "stas00/ml-engineering accelerator tables (4800 GB/s there); NVIDIA 4900 GB/s",
     .confidence = "bandwidth unverified"},
    {.key = "b200", .name = "B200 HGX 180GB",
     .driver_names = {"NVIDIA B200"},
     .pci_ids = {0x2901}, .pci_vendor = 0x10de, .compute_capability = "10.0",
     .sm_count = 148, .clock_hz = 1856e6, .clock_basis = GPU_CLOCK_BACKSOLVED, .tensor_flops_per_clock_per_sm = 8192,
     .memory_bytes = 180e9, .bytes_per_second = 8000e9,
     .flops_per_second = {FP32(75), TF32(1125), BF16_FP16(2250), FP16_ACC16(2250), FP8(4500), INT8(4500), FP4(9000)},
     .source = "NVIDIA DGX B200 data sheet, by stas00/ml-engineering accelerator tables and Waterline GPU reference 2026-09-26",
     .confidence = "ok"},
    {.key = "gb200", .name = "GB200 (per GPU)",
     .driver_names = {"NVIDIA GB200"},
     .pci_ids = {0x2941}, .pci_vendor = 0x10de, .compute_capability = "10.0",
     .sm_count = 148, .clock_hz = 2062e6, .clock_basis = GPU_CLOCK_DEVICE_MAX, .tensor_flops_per_clock_per_sm = 8192,
     .memory_bytes = 186e9, .bytes_per_second = 8000e9,
     .flops_per_second = {FP32(80), TF32(1250), BF16_FP16(2500), FP16_ACC16(2500), FP8(5000), INT8(5000), FP4(10000)},
     .source = "NVIDIA GB200 NVL72 page, by stas00/ml-engineering accelerator tables and Waterline GPU reference 2026-09-26",
     .confidence = "ok"},
    {.key = "b300", .name = "B300 SXM6",
     .driver_names = {"NVIDIA B300", "NVIDIA B300 SXM6 AC"},
     .pci_ids = {0x3182}, .pci_vendor = 0x10de, .compute_capability = "10.3",
     .sm_count = 148, .clock_hz = 1856e6, .clock_basis = GPU_CLOCK_BACKSOLVED, .tensor_flops_per_clock_per_sm = 8192,
     .memory_bytes = 270e9, .bytes_per_second = 8000e9,
     .flops_per_second = {FP32(75), TF32(1125), BF16_FP16(2250), FP16_ACC16(2250), FP8(4500), INT8(188), FP4(13500)},
     .source = "NVIDIA HGX page, by Waterline GPU reference 2026-09-26",
     .confidence = "SM count and memory unverified; int8 4500 in another source"},
    {.key = "gb300", .name = "GB300 (per GPU)",
     .driver_names = {"NVIDIA GB300"},
     .pci_ids = {0x31c2, 0x31c3}, .pci_vendor = 0x10de, .compute_capability = "10.3",
     .sm_count = 148, .clock_hz = 2062e6, .clock_basis = GPU_CLOCK_BACKSOLVED, .tensor_flops_per_clock_per_sm = 8192,
     .memory_bytes = 279e9, .bytes_per_second = 8000e9,
     .flops_per_second = {FP32(83.3), TF32(1250), BF16_FP16(2500), FP16_ACC16(2500), FP8(5000), INT8(167), FP4(15000)},
     .source = "NVIDIA GB300 NVL72 page, by Waterline GPU reference 2026-09-26",
     .confidence = "SM count unverified"},
    {.key = "orin-agx64", .name = "Jetson AGX Orin 64GB",
     .driver_names = {"Orin"},
     .pci_vendor = 0x10de, .compute_capability = "8.7",
     .sm_count = 16, .clock_hz = 1300e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 2048,
     .memory_bytes = 64e9, .bytes_per_second = 204.8e9,
     .flops_per_second = {FP32(5.3), TF32(21.3), BF16_FP16(42.6), FP16_ACC16(42.6), INT8(85)},
     .source = "NVIDIA: 170 sparse INT8 TOPS of the GPU, halved",
     .confidence = "derived; shared LPDDR5"},
    {.key = "thor-t5000", .name = "Jetson AGX Thor T5000",
     .driver_names = {"NVIDIA Thor"},
     .pci_ids = {0x2b00}, .pci_vendor = 0x10de, .compute_capability = "11.0",
     .sm_count = 20, .clock_hz = 1575e6, .clock_basis = GPU_CLOCK_BACKSOLVED, .tensor_flops_per_clock_per_sm = 8192,
     .memory_bytes = 128e9, .bytes_per_second = 273e9,
     .flops_per_second = {FP32(8.1), TF32(129), BF16_FP16(258.5), FP16_ACC16(258.5), FP8(517), INT8(517), FP4(1035)},
     .source = "NVIDIA: 1035 dense FP4, 517 dense FP8; 20 SMs by NVIDIA forum 356355",
     .confidence = "tf32 derived; int8 and compute capability unverified"},
    {.key = "gb10", .name = "GB10 (DGX Spark)",
     .driver_names = {"NVIDIA GB10"},
     .pci_ids = {0x2e12}, .pci_vendor = 0x10de, .compute_capability = "12.1",
     .sm_count = 48, .clock_hz = 2540e6, .clock_basis = GPU_CLOCK_BACKSOLVED, .tensor_flops_per_clock_per_sm = 512,
     .memory_bytes = 128e9, .bytes_per_second = 273e9,
     .flops_per_second = {FP32(31), TF32(31.3), BF16_FP16(62.5), FP16_ACC16(125), INT8(250), FP4(500)},
     .source = "derived from the Blackwell ladder",
     .confidence = "conflict: bf16 62.5 or 125, fp8 125 or 250 (left out); measure it"},
    {.key = "h20", .name = "H20",
     .driver_names = {"NVIDIA H20"},
     .pci_ids = {0x2329}, .pci_vendor = 0x10de, .compute_capability = "9.0",
     .sm_count = 78, .clock_hz = 0, .clock_basis = GPU_CLOCK_NONE, .tensor_flops_per_clock_per_sm = 0,
     .memory_bytes = 96e9, .bytes_per_second = 4000e9,
     .flops_per_second = {FP32(44), TF32(74), BF16_FP16(148), FP16_ACC16(148), FP8(296), INT8(296)},
     .source = "verl flops_counter",
     .confidence = "secondary; SM count unverified, clock not known"},
    {.key = "l20", .name = "L20",
     .driver_names = {"NVIDIA L20"},
     .pci_ids = {0x26ba, 0x26b7}, .pci_vendor = 0x10de, .compute_capability = "8.9",
     .sm_count = 92, .clock_hz = 2520e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 512,
     .memory_bytes = 48e9, .bytes_per_second = 864e9,
     .flops_per_second = {FP32(59.8), TF32(59.8), BF16_FP16(119.5), FP8(239), INT8(239)},
     .source = "verl flops_counter",
     .confidence = "secondary; SM count unverified"},
    {.key = "mi300x", .name = "Instinct MI300X",
     .pci_ids = {0x74a1}, .pci_vendor = 0x1002, .compute_capability = "gfx942",
     .sm_count = 304, .clock_hz = 2100e6, .clock_basis = GPU_CLOCK_PUBLISHED, .tensor_flops_per_clock_per_sm = 2048,
     .memory_bytes = 192e9, .bytes_per_second = 5300e9,
     .flops_per_second = {FP32(163.4), TF32(653.7), BF16_FP16(1307.4), FP16_ACC16(1307.4), FP8(2614.9), INT8(2614.9)},
     .source = "torch inductor device_info, stas00/ml-engineering accelerator tables, TraceLens arch json",
     .confidence = "ok; no CUDA device, for the table only"},
    {.key = "tpu-v5e", .name = "TPU v5e",
     .pci_vendor = 0,
     .sm_count = 0, .clock_hz = 0, .clock_basis = GPU_CLOCK_NONE, .tensor_flops_per_clock_per_sm = 0,
     .memory_bytes = 16e9, .bytes_per_second = 819e9,
     .flops_per_second = {BF16(197), INT8(394)},
     .source = "stas00/ml-engineering accelerator tables (Google documentation)",
     .confidence = "reference row, no CUDA device"},
    {.key = "unit", .name = "Unit GPU (arithmetic only)",
     .sm_count = 100, .clock_hz = 0, .clock_basis = GPU_CLOCK_NONE, .tensor_flops_per_clock_per_sm = 0,
     .memory_bytes = 64e9, .bytes_per_second = 1000e9,
     .flops_per_second = {FP64(100), FP32(100), TF32(100), BF16_FP16(100), FP16_ACC16(100), FP8(100), INT8(100), FP4(100)},
     .source = "a definition that makes expected rows easy to work out by hand",
     .confidence = "exact; exists in the simulator only"},
};
/* clang-format on */

enum { PCI_VENDOR_NVIDIA = 0x10de };
static const char simulated_prefix[] = "Simulated ";

const struct gpu_spec *gpu_specs(size_t *count)
{
    *count = sizeof specs / sizeof specs[0];
    return specs;
}

const struct gpu_spec *gpu_spec_by_key(const char *key)
{
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
        if (!strcmp(specs[i].key, key))
            return &specs[i];
    return NULL;
}

static const struct gpu_spec *find_by_pci(uint32_t pci_device_id)
{
    if (!pci_device_id)
        return NULL;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
        for (int j = 0; j < GPU_PCI_IDS && specs[i].pci_ids[j]; j++)
            if (specs[i].pci_ids[j] == pci_device_id && specs[i].pci_vendor == PCI_VENDOR_NVIDIA)
                return &specs[i];
    return NULL;
}

static const struct gpu_spec *find_by_driver_name(const char *name)
{
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
        for (int j = 0; j < GPU_DRIVER_NAMES && specs[i].driver_names[j]; j++)
            if (!strcmp(specs[i].driver_names[j], name))
                return &specs[i];
    return NULL;
}

const struct gpu_spec *gpu_spec_find(uint32_t pci_device_id, const char *driver_name, bool simulated)
{
    if (simulated) {
        /* The key first: rows that share a chip differ by key only, and `unit` has no PCI id at all. */
        size_t prefix = sizeof simulated_prefix - 1;
        bool prefixed = !strncmp(driver_name, simulated_prefix, prefix);
        return gpu_spec_by_key(prefixed ? driver_name + prefix : driver_name);
    }
    const struct gpu_spec *spec = find_by_pci(pci_device_id);
    return spec ? spec : find_by_driver_name(driver_name);
}

double gpu_spec_ridge(const struct gpu_spec *spec, enum gpu_path path)
{
    if (!spec || (unsigned)path >= GPU_PATH_COUNT || !(spec->flops_per_second[path] > 0) ||
        !(spec->bytes_per_second > 0))
        return NAN;
    return spec->flops_per_second[path] / spec->bytes_per_second;
}
