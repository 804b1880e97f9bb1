# SPDX-License-Identifier: Apache-2.0
"""Kernels around products and attention, as llama.cpp's host code launches them; what is expected is whom they serve."""
from kernels import FORMATS, NULL, SET, fastdiv, padded, real, up

NEXT_MATMUL = dict(reading="read", kind="helper", serves="next_matmul")
NEXT = dict(reading="read", kind="helper", serves="next")
OUTPUT = dict(reading="read", kind="helper", serves="last_output")
OTHER = dict(reading="read", kind="other")


def quantize(out, g, k, m, channels=1):
    """quantize_row_q8_1_cuda(), quantize_mmq_q8_1_cuda()"""
    blocks = up(padded(k), 256)
    if g == "V1":
        out.add(g, "quantize_q8_1", "_Z13quantize_q8_1PKfPvll", (blocks, m * channels, 1), (256, 1, 1), [SET, SET, k, padded(k)],
                **NEXT_MATMUL)
        out.add(g, "quantize_mmq_q8_1", "_Z17quantize_mmq_q8_1IL18mmq_q8_1_ds_layout1EEvPKfPvlll",
                (up(padded(k), 512), m, channels), (128, 1, 1), [SET, SET, k, m, padded(k)], **NEXT_MATMUL)
        return
    strides = [k, k * m, k * m * channels]
    new = g in ("V4", "V5")
    out.add(g, "quantize_q8_1", "_Z13quantize_q8_1PKfPvlllll" + ("j5uint3" if new else "ii"), (blocks, m, channels), (256, 1, 1),
            [SET, SET, k] + strides + [padded(k), m, fastdiv(channels) if new else channels], **NEXT_MATMUL)
    y = up(padded(k), 512)
    grid = (y, m, channels) if g == "V2" else (m, y, channels)
    values = [k] + strides + [padded(k), m, channels]
    if g == "V5":
        out.add(g, "quantize_mmq_q8_1", "_Z17quantize_mmq_q8_1IL18mmq_q8_1_ds_layout1ELb0EEvPKfPKiPvllllliii", grid, (128, 1, 1),
                [SET, NULL, SET] + values + [0], **NEXT_MATMUL)
    else:
        out.add(g, "quantize_mmq_q8_1", "_Z17quantize_mmq_q8_1IL18mmq_q8_1_ds_layout1EEvPKfPKiPvlllllii", grid, (128, 1, 1),
                [SET, NULL, SET] + values, **NEXT_MATMUL)


def experts(out, g, k, tokens, n_expert, used):
    """ggml_cuda_launch_mm_ids_helper(); quantize_scatter_mmq_q8_1_cuda() of V5"""
    values = [tokens, used, 1, n_expert, 1] + ([1] if g == "V5" else [])
    name = "_Z13mm_ids_helperILi%dEEvPKiPiS2_S2_iiiii%s" % (used, "b" if g == "V5" else "")
    out.add(g, "mm_ids_helper", name, (n_expert, 1, 1), (32, 1, 1), [SET] * 4 + values, **NEXT_MATMUL)
    if g == "V5":
        out.add(g, "quantize_mmq_q8_1 scattered", "_Z17quantize_mmq_q8_1IL18mmq_q8_1_ds_layout1ELb1EEvPKfPKiPvllllliii",
                (tokens, up(padded(k), 512), 1), (128, 1, 1),
                [SET, SET, SET, k, 0, k, 0, padded(k), tokens * used, 1, used], **NEXT_MATMUL)


def conversions(out, g):
    """convert.cu: a weight of 512 x 1024 before a GEMM, activations, and its fp16 output"""
    k, n, m = 1024, 512, 32
    contiguous = {"V1": ("l", lambda e, q: [e]), "V2": ("l", lambda e, q: [e]),
                  "V3": ("llllll", lambda e, q: [e, 1, 1, e // q, e // q, e // q]),
                  "V4": ("lll5uint3lll", lambda e, q: [e, 1, 1, fastdiv(1), e // q, e // q, e // q])}
    contiguous["V5"] = contiguous["V4"]
    tail, values = contiguous[g]
    out.add(g, "dequantize_block", "_Z16dequantize_blockILi32ELi2EXadL_Z15dequantize_q4_0PKvliR6float2EE6__halfEvS1_PT2_" + tail,
            (up(n * k, 512), 1, 1), (256, 1, 1), [SET, SET] + values(n * k, 32), **NEXT)
    out.add(g, "dequantize_block_q4_K", "_Z21dequantize_block_q4_KI6__halfEvPKvPT_", (n * k // 256, 1, 1), (32, 1, 1), [SET, SET],
            **NEXT)
    out.add(g, "dequantize_block_q6_K", "_Z21dequantize_block_q6_KIfEvPKvPT_", (n * k // 256, 1, 1), (64, 1, 1), [SET, SET], **NEXT)
    out.add(g, "dequantize_block_q4_0", "_Z21dequantize_block_q4_0I6__halfEvPKvPT_i", (up(n * k, 256), 1, 1), (32, 1, 1),
            [SET, SET, n * k // 32], **NEXT)
    for elements in (n * k, n * k - 64):
        name = "_Z25dequantize_block_q8_0_f16ILb%dEEvPKvP6__halfl" % (elements % 2048 != 0)
        out.add(g, "dequantize_block_q8_0_f16", name, (up(elements, 2048), 1, 1), (32, 1, 1), [SET, SET, elements], **NEXT)
    if g == "V2":
        tail, values = "llllll", lambda e, q: [e, 1, 1, e, e, e]
    elif g in ("V3", "V4", "V5"):
        values = lambda e, q, inner=values: inner(e, 1)
    for types, count, serves in (("f6__half", m * k, NEXT), ("6__halff", m * n, OUTPUT), ("f13__nv_bfloat16", m * k, NEXT),
                                 ("13__nv_bfloat16f", m * n, OUTPUT)):
        if g == "V1" and "bfloat" in types:
            continue
        name = "_Z13convert_unaryI%sEvPKvPT0_" % types
        out.add(g, "convert_unary", name + tail, (up(count, 256), 1, 1), (256, 1, 1), [SET, SET] + values(count, 1), **serves)
        if g == "V5":
            out.add(g, "convert_unary_cont_vec4", "_Z23convert_unary_cont_vec4I%sEvPKvPT0_l" % types, (up(count // 4, 256), 1, 1),
                    (256, 1, 1), [SET, SET, count // 4], **serves)
    half = g in ("V1", "V2")
    name = "_Z22k_compute_batched_ptrs" + ("PK6__halfS1_PcPPKvPPvlllmmmmmmll" if half else "PKvS0_PcPS0_PPvlllmmmmmmll")
    # scores of 8 heads of Q and 2 of K
    out.add(g, "k_compute_batched_ptrs", name, (1, 1, 1), (8, 1, 1),
            [SET] * 5 + [8, 1, 8, 256, 131072, 8192, 65536, 32768, 262144, 4, 1], **NEXT_MATMUL)


def others(out, g):
    rows, width = 3, 512
    new = g in ("V4", "V5")
    strides = [width, width * rows, width * rows, 4 * width, 4 * width * 8, 4 * width * 8, 1, rows, rows]
    name = "_Z16k_get_rows_floatIffEvPKT_PKiPT0_ll" + ("5uint3" if new else "") + "mmmmmmmmm"
    y = up(width, 256)
    out.add(g, "k_get_rows_float", name, (y, rows, 1) if g in ("V1", "V2") else (rows, y, 1), (256, 1, 1),
            [SET] * 3 + [width, 1] + ([fastdiv(1)] if new else []) + strides, **OTHER)
    heads, keys = 8, 256
    if g in ("V1", "V2"):
        name = "_Z12soft_max_f32ILb1ELi256ELi256E6__halfEvPKfPKT2_Pfiiffffj"
        out.add(g, "soft_max_f32", name, (heads * rows, 1, 1), (256, 1, 1),
                [SET, SET, SET, keys, rows, real(0.1), real(0), real(1), real(1), heads], **OTHER)
    else:
        words = [heads, heads, keys, heads * rows, rows, keys, rows, heads, 1, 512, 512 * rows, 512 * rows, 1, 1]
        struct = "x" + "".join(w.to_bytes(8, "little").hex() for w in words) + "00" * 16
        out.add(g, "soft_max_f32", "_Z12soft_max_f32ILb1ELi256ELi256E6__halfEvPKfPKT2_S2_Pf15soft_max_params", (rows, heads, 1),
                (256, 1, 1), [SET, SET, NULL, SET, struct], **OTHER)
    pair = "x" + "00" * 8
    tail = [real(1), real(0), real(1), pair, real(0.86), NULL]
    d = 128
    grid, shape = (rows * heads, up(d, 512), 1), (1, 256, 1)
    if g == "V1":
        out.add(g, "rope_norm", "_Z9rope_normIfLb0EEvPKT_PS0_iiPKififf14rope_corr_dimsfPKf", grid, shape,
                [SET, SET, d, d, SET, real(1), heads, real(0), real(1), pair, real(0.86), NULL], **OTHER)
    elif g in ("V2", "V3"):
        out.add(g, "rope_norm", "_Z9rope_normILb1ELb0EfEvPKT1_PS0_iiiiiPKifff14rope_corr_dimsfPKf", grid, shape,
                [SET, SET, d, heads, d, d * heads, d, SET] + tail, **OTHER)
    else:
        sizes = [d, heads, rows, d, d * heads, d * heads * rows, d, d * heads, d * heads * rows, d] + ([0] if g == "V5" else [])
        name = "_Z9rope_normILb1ELb0Ef6__halfEvPKT1_PT2_%sPKifff14rope_corr_dimsfPKfPKli%s" % ("i" * len(sizes),
                                                                                               "b" if g == "V5" else "")
        out.add(g, "rope_norm", name, grid, shape, [SET, SET] + sizes + [SET] + tail + [SET, 1024] + ([0] if g == "V5" else []),
                **OTHER)
    width = 2048
    mul = [SET, 0, 0, 0, fastdiv(width), fastdiv(1), fastdiv(1), fastdiv(1)]
    first = [SET, SET, width, width, width * rows, width * rows, real(1e-5)]
    none = [NULL, 0, 0, 0] + ["0,0,0"] * 4
    name, parameters = {
        "V1": ("_Z12rms_norm_f32ILi1024EEvPKfPfif", [SET, SET, width, real(1e-5)]),
        "V2": ("_Z12rms_norm_f32ILi1024EEvPKfPfilllf", first),
        "V3": ("_Z12rms_norm_f32ILi1024ELb1EEvPKfPfilllfS1_llliiii", first + [SET, 0, 0, 0, width, 1, 1, 1]),
        "V4": ("_Z12rms_norm_f32ILi1024ELb1ELb0EEvPKfPfilllfS1_lll5uint3S3_S3_S3_S1_lllS3_S3_S3_S3_", first + mul + none),
        "V5": ("_Z12rms_norm_f32ILi1024ELb1ELb0ELb0EEvPKfPfilllfS1_lll5uint3S3_S3_S3_S1_lllS3_S3_S3_S3_f",
               first + mul + none + [real(1)])}[g]
    out.add(g, "rms_norm_f32", name, (rows, 1, 1), (1024, 1, 1), parameters, **OTHER)
    width = 256
    total = width * rows
    if g == "V3":
        out.add(g, "k_set_rows", "_Z10k_set_rowsIf6__halfEvPKT_PKlPT0_lllllllllllllllll", (up(total, 256), 1, 1), (256, 1, 1),
                [SET] * 3 + [width, rows, 1, 1, rows, 1, 1, 1] + [width, total, total, 1, rows, rows, width, 65536, 65536], **OTHER)
    elif new:
        out.add(g, "k_set_rows", "_Z10k_set_rowsIfl6__halfEvPKT_PKT0_PT1_llllllllllllll5uint3S9_S9_S9_S9_", (up(total, 256), 1, 1),
                (256, 1, 1), [SET] * 3 + [total, rows, 1, 1, 1, width, total, total, 1, rows, rows, width, 65536, 65536,
                                          fastdiv(width), fastdiv(rows), fastdiv(1), fastdiv(1), fastdiv(1)], **OTHER)


def copies(out, g):
    """ggml_cuda_cpy(): a tensor of ne00 x ne01 x ne02 becomes one of other strides, type or both"""
    if g == "V3":
        return  # its list is not known
    ne = [96, 20, 3]
    total, integer = 96 * 20 * 3, "l" if g in ("V4", "V5") else "i"
    behind = [SET, -1] if g == "V2" else []
    values = [SET, SET, total] + ne + [4, 384, 7680, 23040, 96 * 20, 3, 1, 2, 3840, 11520, 11520] + behind
    tail = integer * 15 + ("PPci" if g == "V2" else "")
    scalar = "10cpy_scalar" if integer == "l" else "11cpy_f32_f16"
    name = "_Z%sIXadL_Z13cpy_1_f32_f16PKcPcEEEvS1_S2_%s" % (scalar, tail.replace("PPc", "PS2_"))
    out.add(g, scalar[2:], name, (up(total, 64), 1, 1), (64, 1, 1), values, **OTHER)
    block = 64 if g == "V5" else 1
    quantised = "_Z9cpy_f32_qIXadL_Z17cpy_blck_f32_q4_0PKcPcEELi32EEvS1_S2_" + tail.replace("PPc", "PS2_")
    out.add(g, "cpy_f32_q", quantised, (up(total // 32, block), 1, 1), (block, 1, 1), values, **OTHER)
    if g != "V1":
        read = "_Z9cpy_q_f32IXadL_Z17cpy_blck_q8_0_f32PKcPcEELi32EEvS1_S2_" + tail.replace("PPc", "PS2_")
        out.add(g, "cpy_q_f32", read, (up(total // 32, 64) if block == 64 else total, 1, 1), (block, 1, 1), values, **OTHER)
    if integer == "l":
        out.add(g, "cpy_scalar_transpose", "_Z20cpy_scalar_transposeIfEvPKcPclllllllllllllll", (up(20, 32), up(96, 32), up(3, 8)),
                (32, 8, 1), values, **OTHER)
        out.add(g, "cpy_scalar_contiguous", "_Z21cpy_scalar_contiguousIf6__halfEvPKcPcl", (up(total, 64), 1, 1), (64, 1, 1),
                [SET, SET, total], **OTHER)
        name = "_Z9fwht_cudaILi64EfEvPKT0_Pflf" if g == "V5" else "_Z9fwht_cudaILi64EEvPKfPflf"
        out.add(g, "fwht_cuda", name, (up(18, 4), 1, 1), (32, 4, 1), [SET, SET, 18, real(0.125)], **OTHER)
