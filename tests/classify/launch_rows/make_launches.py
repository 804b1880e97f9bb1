#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes synthetic launches of llama.cpp's kernels, five generations of them, with what they mean: make_launches.py FILE

Nothing here is read off the table of rows under test: grids and parameters follow the engine's host code, what is expected
the sizes of the operators. One launch a line, columns separated by tabs: label, name, grid, block, parameters, expectation.
Parameters: * a pointer, - NULL, 12 an integer, 1,2,3 a uint3, 1.5f a float, x0011 bytes of a struct.
"""
import sys

sys.dont_write_bytecode = True
import attention  # noqa: E402
import helpers  # noqa: E402
import products  # noqa: E402
from attention import Attention  # noqa: E402
from kernels import FORMATS, Launches  # noqa: E402
from products import Operator  # noqa: E402

QUANTISED = [form for form in FORMATS if form not in ("fp32", "fp16", "bf16")]
OF_GENERATION = {"V1": set(QUANTISED) - {"mxfp4", "nvfp4", "q1_0", "q2_0"}, "V2": set(QUANTISED) - {"mxfp4", "nvfp4", "q1_0", "q2_0"},
                 "V3": set(QUANTISED) - {"nvfp4", "q1_0", "q2_0"}, "V4": set(QUANTISED), "V5": set(QUANTISED)}


def quantised_products(out, g):
    for form in [f for f in QUANTISED if f in OF_GENERATION[g]]:
        products.mul_mat_vec_q(out, g, form, Operator(768, 1536))
        products.mul_mat_q(out, g, form, Operator(1536, 768, 300), 112)
    for m in (2, 5, 8):
        products.mul_mat_vec_q(out, g, "q4_K", Operator(1001, 512, m))
    products.mul_mat_vec_q(out, g, "q8_0", Operator(512, 128, 1, ne02=2, ne12=8, row=1024), label="of heads")
    products.mul_mat_vec_q(out, g, "q8_0", Operator(96, 256, 3, ne02=4, ne12=8, ne03=2, ne13=6), label="of channels and samples")
    products.mul_mat_vec_q(out, g, "q6_K", Operator(768, 512, 1, n_expert=8, used=2, ne11=1), label="of experts, one row")
    products.mul_mat_vec_q(out, g, "q6_K", Operator(512, 768, 1, n_expert=64, used=6, ne11=6), label="of experts, a row each")
    if g != "V5":
        for main in (False, True):
            products.mul_mat_vec_q_split(out, g, "q4_0", 4096, 1024, 1, 1536, main)
        products.mul_mat_vec_q_split(out, g, "q4_0", 4096, 1024, 4, 1536, True)
        if g == "V4":
            products.mul_mat_vec_q_split(out, g, "q4_0", 4096, 1024, 1, 1536, True, small_k=True)
        products.mul_mat_q(out, g, "q4_0", Operator(4096, 1024, 40), 40, split_rows=1536)
    for m, tile in ((9, 16), (17, 24), (512, 128)):
        products.mul_mat_q(out, g, "q4_K", Operator(1000, 2048, m), tile)
    products.mul_mat_q(out, g, "q5_K", Operator(4096, 2048, 512), 128, stream_k=False)
    products.mul_mat_q(out, g, "q8_0", Operator(256, 128, 64, ne02=2, ne12=8), 64)
    products.mul_mat_q(out, g, "q8_0", Operator(96, 256, 24, ne02=4, ne12=8, ne03=2, ne13=6), 24)
    products.mul_mat_q(out, g, "q4_K", Operator(768, 2048, 301, n_expert=128, used=8, ne11=1), 64)
    products.mul_mat_q(out, g, "q4_K", Operator(2048, 768, 20, n_expert=8, used=2, ne11=2), 24, stream_k=False)
    if g in ("V4", "V5"):
        products.mul_mat_vec_q(out, g, "q4_K", Operator(1536, 512), gate=True, label="with gate")
        products.mul_mat_vec_q(out, g, "q4_K", Operator(512, 1536), bias=True, label="with sum")
        products.mul_mat_vec_q(out, g, "q4_K", Operator(514, 256), small_k=True, label="of small K")
        products.mul_mat_vec_q(out, g, "q4_K", Operator(768, 512, 1, n_expert=8, used=2), gate=True, bias=True,
                               label="of experts with gate")
        products.mul_mat_vec_q(out, g, "q4_K", Operator(770, 256, 1, n_expert=8, used=2), small_k=True, label="of small K")
        for op in (Operator(768, 512, 3), Operator(768, 512, n_expert=8, used=2)):
            products.mul_mat_vec_q(out, g, "q4_K", op, untold=True, label="without its struct")
        products.mul_mat_vec_q(out, g, "q4_K", Operator(768, 512), bias=True, untold=True, label="without its struct")
        products.mul_mat_vec_q_moe(out, g, "q4_K", Operator(768, 512, 4, n_expert=8, used=2))
        products.mul_mat_vec_q_moe(out, g, "q4_0", Operator(511, 768, 6, n_expert=64, used=6, ne11=6))
        products.mul_mat_q(out, g, "mxfp4", Operator(2880, 2880, 256), 128, native_fp4=True)
        products.mul_mat_q(out, g, "nvfp4", Operator(4096, 4096, 64), 64, native_fp4=True)
    if g == "V5":
        products.mul_mat_vec_q_moe(out, g, "q4_K", Operator(768, 512, 3, n_expert=16, used=4), gate=True)
        products.mul_mat_vec_q_moe(out, g, "q4_K", Operator(768, 512, 3, n_expert=16, used=4), untold=True)
        products.mul_mat_vec_q_moe(out, g, "mxfp4", Operator(768, 512, 3, n_expert=16, used=4, ne11=4), bias=True)
        products.mul_mat_q(out, g, "nvfp4", Operator(512, 1024, 40, n_expert=16, used=4), 40, native_fp4=True)


def float_products(out, g):
    for form in ("fp32", "fp16", "bf16"):
        for op in (Operator(768, 512), Operator(512, 768, 3), Operator(256, 128, 1, ne02=2, ne12=8, row=512),
                   Operator(96, 64, 2, ne02=4, ne12=8, ne03=2, ne13=6)):
            products.mul_mat_vec_f(out, g, form, op, half_sums=form == "fp16" and op.m == 1)
        for op in (Operator(768, 512, 1, n_expert=8, used=2), Operator(512, 768, 1, n_expert=8, used=2, ne11=2)):
            products.mul_mat_vec_f(out, g, form, op, half_sums=form == "fp16" and op.ne11 == 1, label="of experts")
        products.mul_mat_vec_f(out, g, form, Operator(1536, 512), label="split rows", **({"split_rows": 640} if g == "V3" else {}))
        for op in (Operator(768, 512, 4), Operator(64, 1024, 16, row=2048), Operator(96, 128, 7, ne02=4, ne12=8, ne03=2, ne13=6)):
            products.mul_mat_f(out, g, form, op)
        if g == "V3":
            continue
        products.mul_mat_vec_f(out, g, form, Operator(1536, 512), gate=True, label="with gate")
        products.mul_mat_vec_f(out, g, form, Operator(512, 1536), bias=True, label="with sum")
        products.mul_mat_vec_f(out, g, form, Operator(768, 512, 4, n_expert=8, used=4), label="of experts, tokens")
        for op in (Operator(768, 512, 2), Operator(768, 512, n_expert=8, used=2), Operator(768, 512, 2, n_expert=8, used=2)):
            products.mul_mat_vec_f(out, g, form, op, untold=True, label="without its struct")
        products.mul_mat_vec_f(out, g, form, Operator(768, 512), gate=True, untold=True, label="without its struct")
        products.mul_mat_vec_f(out, g, form, Operator(512, 768, 3, n_expert=32, used=4, ne11=4), label="of experts, tokens")
        for op in (Operator(768, 512, 10, n_expert=8, used=2), Operator(512, 768, 3, n_expert=32, used=4, ne11=4),
                   Operator(768, 512, 40, n_expert=8, used=2), Operator(512, 768, 33, n_expert=64, used=4, ne11=4)):
            products.mul_mat_f(out, g, form, op, label="of experts")


def between(out):
    """Lists that stood between two generations."""
    for half_sums in (False, True):
        for op in (Operator(768, 512), Operator(512, 128, ne02=2, ne12=8, row=1024), Operator(128, 512, ne02=2, ne12=8)):
            products.mul_mat_vec_2024(out, op, half_sums)
    for form in ("fp32", "fp16", "bf16"):
        for op in (Operator(768, 512), Operator(512, 768, 3), Operator(256, 128, 1, ne02=2, ne12=8, row=512),
                   Operator(96, 64, 2, ne02=4, ne12=8, ne03=2, ne13=6)):
            products.mul_mat_vec_f(out, "V2b", form, op, half_sums=form == "fp16" and op.m == 1)
        for op in (Operator(768, 512, 1, n_expert=8, used=2), Operator(512, 768, 1, n_expert=8, used=2, ne11=2)):
            products.mul_mat_vec_f(out, "V2b", form, op, half_sums=form == "fp16" and op.ne11 == 1)
    attentions(out, "V2b")
    for op, tile in ((Operator(1536, 768, 300), 112), (Operator(1000, 2048, 17), 24), (Operator(256, 512, 64, ne02=2, ne12=8), 64),
                     (Operator(96, 256, 24, ne02=4, ne12=8, ne03=2, ne13=6), 24),
                     (Operator(768, 2048, 301, n_expert=128, used=8), 64), (Operator(2048, 768, 20, n_expert=8, used=2, ne11=2), 24)):
        products.mul_mat_q(out, "V3b", "q4_K", op, tile)
        products.mul_mat_q(out, "V3b", "q4_K", op, tile, stream_k=False)


def attentions(out, g):
    decode = Attention(32, 8, 128, 1, 4096)
    prefill = Attention(32, 8, 128, 300, 512)
    older = g in ("V1", "V2", "V2b", "V3")
    for floats in ((False, True) if older else (False,)):
        attention.vec(out, g, decode, 1, 4, floats)
        attention.vec(out, g, Attention(16, 16, 128, 1, 256, k="q8_0", v="q4_0"), 1, 2 if older else 1, floats)
        attention.vec(out, g, Attention(24, 8, 64, 2, 512, mask=False), 2, 1, floats)
        attention.tile(out, g, prefill, 16 if older else 8, 1 if older else 4, 1, floats)
        attention.tile(out, g, Attention(12, 4, 64, 20, 768), 16, 1, 2 if g != "V1" else 4, floats)
        attention.tile(out, g, Attention(12, 12, 64, 33, 256, mask=False), 32, 1, 1, floats)
    if g != "V1":
        attention.mma(out, g, prefill, 16, 4)
        attention.mma(out, g, decode, 2, 4)
        attention.mma(out, g, Attention(32, 32, 64, 1500, 2048), 64, 1)
        attention.vec(out, g, Attention(32, 8, 128, 1, 1024, sequences=4), 1, 3)
        attention.mma(out, g, Attention(28, 4, 128, 4, 1024, sequences=3), 8, 1)
        attention.mma(out, g, Attention(16, 16, 64, 100, 512, mask=False), 16, 1)
    if g not in ("V1", "V2"):
        attention.mma(out, g, Attention(128, 1, 576, 64, 1024, d_v=512, v_in_k=True), 4, 16)
    if g in ("V4", "V5"):
        attention.tile(out, g, Attention(128, 1, 576, 5, 1024, d_v=512, v_in_k=False), 2, 16, 1)
    if g == "V5":
        attention.mma(out, g, Attention(64, 8, 128, 1, 2048), 1, 8, sparse=True)
    if g != "V5":
        for sums in ("fp32", "fp16"):
            attention.wmma(out, g, prefill, 16, 1, sums)
            attention.wmma(out, g, Attention(12, 4, 128, 40, 256, mask=False), 32, 1, sums)
            attention.wmma(out, g, Attention(32, 8, 64, 8, 1024), 16, 2, sums)


def everything():
    out = Launches()
    for form in sorted(OF_GENERATION["V1"]):
        products.mul_mat_vec_q_2024(out, form, 768, 1536, 1)
        products.mul_mat_q_2024(out, form, 1536, 768, 300, 104)
    for m in (2, 7):
        products.mul_mat_vec_q_2024(out, "q4_K", 1001, 512, m)
    for n, m, tile, stream_k in ((1000, 17, 24, True), (4096, 512, 128, False)):
        products.mul_mat_q_2024(out, "q4_K", n, 2048, m, tile, stream_k)
    products.mul_mat_q_2024(out, "q4_K", 1024, 2048, 128, 128, columns=300)
    products.mul_mat_q_2024(out, "q4_K", 1024, 2048, 44, 48, columns=300)
    for form in ("q4_0", "q8_0", "fp16", "q2_K", "q3_K", "q4_K", "q5_K", "q6_K"):
        products.dequantize_mul_mat_vec(out, form, 1001, 1536)
    products.dequantize_mul_mat_vec(out, "q5_1", 768, 2048, half=True)
    products.products_of_heads_2024(out)
    for op in (Operator(768, 512), Operator(256, 128, ne02=2, ne12=8, row=512), Operator(96, 64, ne02=4, ne12=8, ne03=2, ne13=6),
               Operator(768, 512, n_expert=8, used=2), Operator(512, 768, n_expert=8, used=2, ne11=2)):
        for form in ("fp32", "fp16", "bf16"):
            products.mul_mat_vec(out, form, op, half_sums=form == "fp16" and op.k == 512, label="of experts" if op.n_expert else "")
    for g in ("V2", "V3", "V4", "V5"):
        quantised_products(out, g)
    for g in ("V3", "V4", "V5"):
        float_products(out, g)
    for g in ("V1", "V2", "V3", "V4", "V5"):
        attentions(out, g)
        helpers.quantize(out, g, 1500, 3)
        helpers.quantize(out, g, 512, 7, channels=4)
        helpers.conversions(out, g)
        helpers.others(out, g)
        helpers.copies(out, g)
    between(out)
    for g in ("V4", "V5"):
        helpers.experts(out, g, 2048, 40, 128, 8)
    return "\n".join(out.lines) + "\n"


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: make_launches.py FILE")
    with open(sys.argv[1], "w") as file:
        file.write(everything())


if __name__ == "__main__":
    main()
