/* SPDX-License-Identifier: Apache-2.0 */
/* A small table, specific rows before general ones. It decides about kernels only that no library call owns, and what it
 * says has the provenance "name": a kind, never a shape. */
#include "classify/kernel_patterns.h"

#include <string.h>

/* Helpers of a GEMM or an attention come first: counting them as another GEMM would count the work twice. */
/* clang-format off */
static const struct kernel_pattern patterns[] = {
    {"splitKreduce",              KERNEL_OTHER,     "_ZN8cublasLt19splitKreduce_kernelILi32ELi16Ei13__nv_bfloat16S1_fS1_Lb0E"},
    {"splitk_reduce",             KERNEL_OTHER,     "_ZN8allspark29f16_gemm_splitk_reduce_kernelI6__halfLi128ELi11EEEvPKT_PS2_"},
    {"cublasLt8epilogue",         KERNEL_OTHER,     "_ZN8cublasLt8epilogue4impl22globalKernelBgradAB_v2ILi8ELi128E13__nv_fp8_e5m2ffEE"},
    {"_combine_kernel",           KERNEL_OTHER,     "_ZN5flash32flash_fwd_splitkv_combine_kernelI23Flash_fwd_kernel_traitsILi128E"},
    {"FlashAttnFwdCombine",       KERNEL_OTHER,     "_ZN7cutlass13device_kernelIN5flash19FlashAttnFwdCombineIN4cute5tupleIJ"},
    {"FlashAttnBwdPostprocess",   KERNEL_OTHER,     "_ZN7cutlass13device_kernelIN5flash32FlashAttnBwdPostprocessConvertdQ"},
    {"FlashAttnBwdPreprocess",    KERNEL_OTHER,     "_ZN7cutlass13device_kernelIN5flash22FlashAttnBwdPreprocessI"},
    {"flash_bwd_dot_do_o",        KERNEL_OTHER,     "_ZN13pytorch_flash25flash_bwd_dot_do_o_kernelILb0E23Flash_bwd_kernel_traits"},
    {"flash_bwd_convert",         KERNEL_OTHER,     "_ZN13pytorch_flash27flash_bwd_convert_dq_kernelI23Flash_bwd_kernel_traits"},
    {"FmhaKernelBwdConvert",      KERNEL_OTHER,     "_ZN7cutlass13device_kernelINS_4fmha6kernel20FmhaKernelBwdConvertIN4cute"},
    {"FmhaKernelBwdSumOdO",       KERNEL_OTHER,     "_ZN7cutlass13device_kernelINS_4fmha6kernel19FmhaKernelBwdSumOdOIN4cute"},
    {"paged_attention_v2_reduce", KERNEL_OTHER,     "_ZN4vllm32paged_attention_v2_reduce_kernelItLi96ELi128ELi512EEEvPT_"},
    {"prepare_varlen",            KERNEL_OTHER,     "_ZN5flash32prepare_varlen_num_blocks_kernelILi16ELb0EEEviiiPKiS2_"},
    {"mla_metadata",              KERNEL_OTHER,     "_Z23get_mla_metadata_kernel19Mla_metadata_params"},
    {"get_ggemm_starts",          KERNEL_OTHER,     "_Z16get_ggemm_startsIN7cutlass12float_e4m3_tENS0_10bfloat16_tEfN4cute6"},
    {"quant_deep_gemm",           KERNEL_OTHER,     "_ZN4vllm35silu_mul_fp8_quant_deep_gemm_kernelILi4224ELi16384EEE"},
    {"sdpa",                      KERNEL_ATTENTION, "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_26"},
    {"fmha",                      KERNEL_ATTENTION, "_Z39fmha_cutlassF_f16_aligned_64x64_rf_sm50N22PyTorchMemEffAttention15AttentionKernel"},
    {"flash_fwd",                 KERNEL_ATTENTION, "_ZN13pytorch_flash16flash_fwd_kernelI23Flash_fwd_kernel_traitsILi128E"},
    {"flash_bwd",                 KERNEL_ATTENTION, "_ZN13pytorch_flash44flash_bwd_dq_dk_dv_loop_seqk_parallel_kernelI23Flash_bwd"},
    {"FlashAttn",                 KERNEL_ATTENTION, "_ZN7cutlass13device_kernelIN5flash20enable_sm90_or_laterINS1_16FlashAttnFwdSm90I"},
    {"FlashAttention",            KERNEL_ATTENTION, "kernel_cutlass_kernel_flash_attncuteflash_sm120FlashAttentionForwardSm120_object"},
    {"flash_attn",                KERNEL_ATTENTION, "_Z18flash_attn_ext_f16ILi128ELi128ELi8ELi8ELb0ELb0EEvPKcS1_S1_S1_"},
    {"paged_attention",           KERNEL_ATTENTION, "_ZN4vllm25paged_attention_v1_kernelIttLi64ELi8ELi128ELNS_18Fp8KVCacheDataType"},
    {"PagedAttention",            KERNEL_ATTENTION, "_ZN10flashinfer28BatchMLAPagedAttentionKernelI"},
    {"KVCacheKernel",             KERNEL_ATTENTION, "_ZN10flashinfer34BatchPrefillWithPagedKVCacheKernelI"},
    {"multihead_attention",       KERNEL_ATTENTION, "_ZN4mmha33masked_multihead_attention_kernelItLi80ELi128ELi1EE"},
    {"sparse_attn_fwd",           KERNEL_ATTENTION, "_ZN4sm9022sparse_attn_fwd_kernelINS_9TmaParamsIN4cute5tupleIJiiiEEE"},
    {"gqa_attn",                  KERNEL_ATTENTION, "_ZN10fbgemm_gpu6gen_ai9attention51_GLOBAL__N__8e9cf3a2_18_gqa_attn_splitk_cu_371"},
    {"mqa_attn",                  KERNEL_ATTENTION, "_ZN10fbgemm_gpu6gen_ai9attention15mqa_attn_kernelEN5torch10headeronly6"},
    {"_attn_fwd",                 KERNEL_ATTENTION, "_attn_fwd_inner"},
    {"cudaCoreGemm",              KERNEL_GEMM,      "_ZN10fbgemm_gpu12cudaCoreGemmIN7cutlass12float_e4m3_tE13__nv_bfloat16L"},
    {"fbgemm",                    KERNEL_OTHER,     "_ZN10fbgemm_gpu19one_shot_all_reduceILi2ELb0EEEviiiSt5arrayIPiLm8EES1_"},
    {"gemv",                      KERNEL_GEMV,      "_Z13gemv2N_kernelIii13__nv_bfloat16S0_S0_fLi128ELi1ELi2ELi2ELi11ELb0E1"},
    {"nvjet",                     KERNEL_GEMM,      "nvjet_tst_64x32_64x16_2x2_2cta_h_bz_splitK_TNT"},
    {"gemm",                      KERNEL_GEMM,      "ampere_bf16_s16816gemm_bf16_128x256_ldg8_relu_f2f_tn"},
    {"bmm_Bfloat16",              KERNEL_GEMM,      "bmm_Bfloat16_Bfloat16Bfloat16_Fp32_t128x128x64_s5_et128x128_m256x128x1"},
    {"Marlin",                    KERNEL_GEMM,      "_ZN6marlin6MarlinI13__nv_bfloat16Ll2814749767172868ELl1125899906909960ELi128E"},
    {"mul_mat_",                  KERNEL_GEMM,      "_Z12mul_mat_q8_0IN3c104HalfELb0EEvPKvS3_PT_iiiii"},
    {"fused_moe_kernel",          KERNEL_GEMM,      "fused_moe_kernel"},
    {"triton_tem_fused_mm",       KERNEL_GEMM,      "triton_tem_fused_mm_2"},
};

static const char *const persistent_parts[] = {
    "persistent", "Persistent", "stream_k", "streamk", "StreamK",
    "nvjet", /* cuBLAS's kernels for Hopper and later: at most one block, or cluster, an SM */
};
/* clang-format on */

const struct kernel_pattern *kernel_patterns(size_t *count)
{
    *count = sizeof patterns / sizeof patterns[0];
    return patterns;
}

enum kernel_kind kernel_kind_of_name(const char *name)
{
    if (!name)
        return KERNEL_OTHER;
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
        if (strstr(name, patterns[i].part))
            return patterns[i].kind;
    return KERNEL_OTHER;
}

bool kernel_is_persistent(const char *name)
{
    if (!name)
        return false;
    for (size_t i = 0; i < sizeof persistent_parts / sizeof persistent_parts[0]; i++)
        if (strstr(name, persistent_parts[i]))
            return true;
    return false;
}
