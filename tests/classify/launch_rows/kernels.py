# SPDX-License-Identifier: Apache-2.0
"""What the launches of llama.cpp's kernels are made of: mangled names, values of parameters, formats of weights.

Names are as compilers mangle the declarations of each generation; those of 2026-10 stand in the library of cyllama-cuda12
0.7.0. Numbers in braces are filled in. Generations, by source:
    V1  2024-08  abetlen/llama-cpp-python v0.2.90, vendor/llama.cpp
    V2  2025-05  ggml-org/llama.cpp@8733e0cf6
    V3  2025-08  ggml-org/llama.cpp@4227c9be4
    V4  2026     ggml-org/llama.cpp@af6528e6d
    V5  2026-10  ggml-org/llama.cpp@0c1e57098
and lists that stood between two of them: V1b of v0.3.4, V2b of v0.3.13, V3b of v0.3.18 of abetlen/llama-cpp-python.
"""

# ggml's number, weights a block, bytes a block: ggml-org/llama.cpp ggml/include/ggml.h and ggml/src/ggml-common.h
FORMATS = {
    "fp32": (0, 1, 4), "fp16": (1, 1, 2), "bf16": (30, 1, 2), "q4_0": (2, 32, 18), "q4_1": (3, 32, 20), "q5_0": (6, 32, 22),
    "q5_1": (7, 32, 24), "q8_0": (8, 32, 34), "q2_K": (10, 256, 84), "q3_K": (11, 256, 110), "q4_K": (12, 256, 144),
    "q5_K": (13, 256, 176), "q6_K": (14, 256, 210), "iq2_xxs": (16, 256, 66), "iq2_xs": (17, 256, 74), "iq3_xxs": (18, 256, 98),
    "iq1_s": (19, 256, 50), "iq4_nl": (20, 32, 18), "iq3_s": (21, 256, 110), "iq2_s": (22, 256, 82), "iq4_xs": (23, 256, 136),
    "iq1_m": (29, 256, 56), "mxfp4": (39, 32, 17), "nvfp4": (40, 64, 36), "q1_0": (41, 128, 18), "q2_0": (42, 64, 18),
}
# the same as template arguments of kernels on floats: a value each, two values each
ONE = {"fp32": "f", "fp16": "6__half", "bf16": "13__nv_bfloat16"}
TWO = {"fp32": "f", "fp16": "7__half2", "bf16": "14__nv_bfloat162"}

NULL, SET = "-", "*"
UNTOLD = "?"  # bytes that were not kept


def number(form):
    return FORMATS[form][0]


def block(form):
    return FORMATS[form][1]


def up(value, step):
    return -(-value // step)


def padded(k):
    """MATRIX_ROW_PADDING: rows of quantised activations."""
    return 512 * up(k, 512)


def fastdiv(d):
    """init_fastdiv_values(): multiplier, shift, the divisor itself."""
    shift = 0
    while shift < 32 and (1 << shift) < d:
        shift += 1
    return "%d,%d,%d" % (((1 << 32) * ((1 << shift) - d)) // d + 1 & 0xffffffff, shift, d)


def zeros():
    return "0,0,0"


def fusion(bias, gate, gate_bias, size):
    """ggml_cuda_mm_fusion_args_device: x_bias, gate, gate_bias, ...; 32 bytes in V4, 48 in V5."""
    words = [0x7f0000001000 if bias else 0, 0x7f0000002000 if gate else 0, 0x7f0000003000 if gate_bias else 0]
    text = "".join((w).to_bytes(8, "little").hex() for w in words)
    return "x" + text + "00" * (size - 24)


def real(value):
    return "%rf" % float(value)


def pointers(text):
    """'*-*': one that is set, one NULL, one that is set."""
    return list(text)


class Launches:
    """Lines of the file that the test reads."""

    def __init__(self):
        self.lines = []

    def add(self, generation, label, name, grid, block_size, parameters, **expected):
        self.lines.append("\t".join([
            "%s %s" % (generation, label), name, "%d,%d,%d" % tuple(grid), "%d,%d,%d" % tuple(block_size),
            " ".join(str(p) for p in parameters), " ".join("%s=%s" % item for item in expected.items())]))
