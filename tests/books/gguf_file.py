# SPDX-License-Identifier: Apache-2.0
"""Writes GGUF files (version 3) with headers alone: tensors have names, shapes and types, and no data behind them. Sizes of
types are those of ggml-org/llama.cpp, ggml/src/ggml-common.h."""
import struct

TYPES = {  # name: number, weights of a block, its bytes
    "f32": (0, 1, 4), "f16": (1, 1, 2), "q4_0": (2, 32, 18), "q4_1": (3, 32, 20), "q5_0": (6, 32, 22), "q5_1": (7, 32, 24),
    "q8_0": (8, 32, 34), "q8_1": (9, 32, 36), "q2_K": (10, 256, 84), "q3_K": (11, 256, 110), "q4_K": (12, 256, 144),
    "q5_K": (13, 256, 176), "q6_K": (14, 256, 210), "q8_K": (15, 256, 292), "iq2_xxs": (16, 256, 66), "iq2_xs": (17, 256, 74),
    "iq3_xxs": (18, 256, 98), "iq1_s": (19, 256, 50), "iq4_nl": (20, 32, 18), "iq3_s": (21, 256, 110), "iq2_s": (22, 256, 82),
    "iq4_xs": (23, 256, 136), "i8": (24, 1, 1), "iq1_m": (29, 256, 56), "bf16": (30, 1, 2), "tq1_0": (34, 256, 54),
    "tq2_0": (35, 256, 66), "mxfp4": (39, 32, 17), "nvfp4": (40, 64, 36), "q1_0": (41, 128, 18), "q2_0": (42, 64, 18)}


def bytes_of(kind, *shape):
    elements = 1
    for size in shape:
        elements *= size
    _, block, size = TYPES[kind]
    assert elements % block == 0
    return elements // block * size


def text(value):
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def pair(key, value):
    if isinstance(value, str):
        return text(key) + struct.pack("<I", 8) + text(value)
    if isinstance(value, list):  # of 32-bit integers
        return text(key) + struct.pack("<IIQ", 9, 4, len(value)) + struct.pack(f"<{len(value)}I", *value)
    return text(key) + struct.pack("<II", 4, value)


def write(path, pairs, tensors):
    """TENSORS: (name, type, shape with the fastest dimension last)."""
    raw = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs)) + b"".join(pair(*p) for p in pairs.items())
    for name, kind, shape in tensors:
        number = kind if isinstance(kind, int) else TYPES[kind][0]
        raw += text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *reversed(shape))
        raw += struct.pack("<IQ", number, 0)
    path.write_bytes(raw)
