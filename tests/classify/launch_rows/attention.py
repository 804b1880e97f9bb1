# SPDX-License-Identifier: Apache-2.0
"""FLASH_ATTN_EXT as llama.cpp's launch_fattn() launches it: from the sizes of Q, K, V and the mask to grid and parameters."""
from kernels import FORMATS, NULL, SET, block, fastdiv, number, real, up

MULTIPROCESSORS, BLOCKS_AN_SM = 46, 2


class Attention:
    """Q [d, queries, n_q, sequences], K [d, keys, n_kv, sequences] and V of a cache: heads of one cell side by side."""

    def __init__(self, n_q, n_kv, d, queries, keys, sequences=1, d_v=None, mask=True, k="fp16", v="fp16", v_in_k=False):
        self.n_q, self.n_kv, self.d, self.d_v = n_q, n_kv, d, d_v or d
        self.queries, self.keys, self.sequences, self.mask, self.k, self.v, self.v_in_k = (queries, keys, sequences, mask, k, v,
                                                                                          v_in_k)

    def strides(self, form, d):
        number_of, weights, size = FORMATS[form]
        del number_of
        head = d // weights * size
        return head * self.n_kv, head, head * self.n_kv * self.keys

    def expected(self, path, splits=1):
        result = dict(reading="read", kind="attention", n_q=self.n_q, n_kv=self.n_kv, d=self.d, d_v=self.d_v,
                      queries=self.queries, keys=self.keys, sequences=self.sequences, keys_at_most=int(self.mask),
                      masked=int(self.mask), v_in_k=int(self.v_in_k), q_format="fp32", k_format=self.k, v_format=self.v,
                      o_format="fp32", splits=splits, provenance="at_most" if self.mask else "params")
        if path:
            result["path"] = path
        if splits > 1:
            result["split_row_bits"] = 32 * (self.d_v + 2)
        return result

    def scalars(self):
        head_log2 = 1 << (self.n_q.bit_length() - 1)
        return [real(0.0884), real(0), real(1), real(1), head_log2, real(0)]

    def q_strides(self):
        return [self.n_q * self.d * 4, self.d * 4, self.n_q * self.d * 4 * self.queries]

    def label(self, kernel, sparse=False):
        return kernel + ("" if self.mask and not sparse else ", keys by one parameter alone")

    def tiles(self, columns1, columns2=1):
        return up(self.queries, columns1), up(self.n_q // self.n_kv, columns2)


def lists(g, a, scratch, kv_max=NULL):
    """Parameters in the order of each generation."""
    k, v = a.strides(a.k, a.d), a.strides(a.k if a.v_in_k else a.v, a.d if a.v_in_k else a.d_v)
    pad = {"V1": 32, "V2": 64, "V2b": 64, "V3": 64, "V4": 1, "V5": 1}[g]  # GGML_KQ_MASK_PAD
    rows = pad * up(a.queries, pad)
    mask = SET if a.mask else NULL
    if g == "V2b":
        return ([SET, SET, SET, mask, SET, scratch] + a.scalars() + [a.d, a.queries, a.n_q, a.sequences] +
                [a.d, a.keys, a.n_kv, a.sequences] +
                ([rows, 1, 2 * a.keys, 2 * a.keys * rows] if a.mask else [0] * 4) + a.q_strides() + list(k) + list(v) +
                [a.d_v, a.n_q, a.queries, a.sequences])
    if g in ("V1", "V2"):
        return ([SET, SET, SET, mask, SET, scratch] + a.scalars() + [a.d, a.queries, a.n_q, a.sequences] +
                [a.d, a.keys, a.n_kv, a.sequences] + ([rows, 2 * a.keys] if a.mask else [0, 0]) + a.q_strides() + list(k) +
                list(v) + [a.d_v, a.n_q, a.queries, a.sequences])
    queries = fastdiv(a.queries) if g in ("V4", "V5") else a.queries
    masks = [rows, 1, a.sequences, 2 * a.keys, 2 * a.keys * rows, 2 * a.keys * rows] if a.mask else [0] * 6
    return ([SET, SET, SET, mask, NULL, kv_max, SET, scratch] + a.scalars() + [a.d, queries, a.n_q, a.sequences] + a.q_strides() +
            [a.d, a.keys, a.n_kv, a.sequences] + list(k) + list(v) + masks)


TAIL = {"V2b": "PfP6float2ffffjf" + "i" * 25, "V1": "PfP6float2ffffjf" + "i" * 23, "V2": "PfP6float2ffffjf" + "i" * 23,
        "V3": "PKiPfP6float2ffffjf" + "i" * 13 + "liiliiiiil",
        "V4": "PKiPfP6float2ffffjfi5uint3iiiiiiiiiiiliiliiiiil", "V5": "PKiPfP6float2ffffjfi5uint3iiiiiiiiiiiliiliiiiil"}


def mangled(g, kernel, arguments, types):
    """TYPES: how many types of their own come up in the template arguments, each a substitution."""
    pointer = {0: "S1_", 1: "S2_"}[types]
    count = 4 if g in ("V1", "V2", "V2b") else 5
    return "_Z%d%sI%sEEvPKc%s%s" % (len(kernel), kernel, arguments, pointer * (count - 1), TAIL[g])


def combine(out, g, a, splits):
    if splits < 2:
        return
    if g == "V1":
        name = "_Z26flash_attn_combine_resultsILi%dELi%dEEvPKfPK6float2Pf" % (a.d_v, splits)
        parameters, grid = [SET, SET, SET], (a.queries, a.n_q, a.sequences)
    else:
        name = "_Z26flash_attn_combine_resultsILi%dEEvPKfPK6float2Pfi" % a.d_v
        parameters = [SET, SET, SET, splits]
        grid = (a.queries, 1, a.n_q * a.sequences) if g in ("V2", "V2b") else (a.queries, a.n_q, a.sequences)
    out.add(g, "flash_attn_combine_results", name, grid, (a.d_v, 1, 1), parameters, reading="read", kind="helper",
            serves="last_attention")


def split_grid(g, a, columns1, columns2, splits):
    x, heads = a.tiles(columns1, columns2)
    if g == "V1":
        return splits * x, a.n_q, a.sequences
    if g in ("V2", "V2b", "V3"):
        return x, splits, a.n_q * a.sequences
    return x, splits, heads * a.n_kv * a.sequences


def vec(out, g, a, columns, splits, floats=False):
    """flash_attn_vec_ext_f16/_f32, since 2026 flash_attn_ext_vec"""
    kv = "EL9ggml_type%dELS0_%dELb0" % (number(a.k), number(a.v))
    first = "Li%dELi%d" % (a.d, columns) + ("ELi%d" % splits if g == "V1" else "")
    if g in ("V4", "V5"):
        kernel, path = "flash_attn_ext_vec", "fp32"
    else:
        kernel, path = ("flash_attn_vec_ext_f32", "fp32") if floats else ("flash_attn_vec_ext_f16", "fp16-fma")
    kv_max = SET if a.sequences > 1 and g in ("V3", "V4", "V5") else NULL
    out.add(g, a.label(kernel), mangled(g, kernel, first + kv, 1), split_grid(g, a, columns, 1, splits), (32, 4, 1),
            lists(g, a, SET if splits > 1 else NULL, kv_max), **a.expected(path, splits))
    combine(out, g, a, splits)


def tile(out, g, a, columns1, columns2, splits, floats=False):
    if g in ("V4", "V5"):
        kernel, path = "flash_attn_tile", None
        arguments = "Li%dELi%dELi%dELi%dELb0" % (a.d, a.d_v, columns1, columns2)
    else:
        kernel, path = ("flash_attn_tile_ext_f32", "fp32") if floats else ("flash_attn_tile_ext_f16", "fp16-fma")
        arguments = "Li%dELi%dELi8" % (a.d, columns1) + ("ELi%d" % splits if g == "V1" else "") + "ELb0"
    out.add(g, a.label(kernel), mangled(g, kernel, arguments, 0), split_grid(g, a, columns1, columns2, splits), (32, 8, 1),
            lists(g, a, SET if splits > 1 else NULL), **a.expected(path, splits))
    combine(out, g, a, splits)


def wmma(out, g, a, columns, splits, sums):
    """flash_attn_ext_f16 of fattn-wmma-f16"""
    arguments = "Li%dELi%dELi4ELi%d" % (a.d, columns, a.d) + ("ELi%d" % splits if g == "V1" else "")
    arguments += "E%sLb0" % ("f" if sums == "fp32" else "6__half")
    out.add(g, a.label("flash_attn_ext_f16 wmma"), mangled(g, "flash_attn_ext_f16", arguments, int(sums != "fp32")),
            split_grid(g, a, columns, 1, splits), (32, 4, 1), lists(g, a, SET if splits > 1 else NULL),
            **a.expected("fp16" if sums == "fp32" else "fp16-acc16", splits))
    combine(out, g, a, splits)


def mma(out, g, a, columns1, columns2, keys_a_block=64, sparse=False):
    """flash_attn_ext_f16 of fattn-mma-f16 with its fix-up, on a GPU of compute capability 8.9"""
    most = BLOCKS_AN_SM * MULTIPROCESSORS
    tiles_x, tiles_z = a.tiles(columns1, columns2)
    fixups = []
    if g in ("V2", "V2b", "V3"):
        tiles = tiles_x * (a.n_q // columns2) * a.sequences
        blocks = 2 * MULTIPROCESSORS
        if tiles % blocks:
            if g == "V2":
                fixups.append(("_Z25flash_attn_stream_k_fixupILi%dELi%dELi%dELi%dEEvPfPK6float2iii" % (a.d_v, columns1, columns2,
                                                                                                     keys_a_block),
                               [a.queries, a.n_q, a.keys], blocks))
            elif g == "V2b":
                fixups.append(("_Z25flash_attn_stream_k_fixupILi%dELi%dELi%dEEvPfPK6float2iii" % (a.d_v, columns1, columns2),
                               [a.queries, a.n_q, a.keys], blocks))
            else:
                fixups.append(("_Z25flash_attn_stream_k_fixupILi%dELi%dELi%dEEvPfPK6float2iiii" % (a.d_v, columns1, columns2),
                               [a.queries, a.n_q, a.sequences, a.keys], blocks))
    else:
        tiles = tiles_x * tiles_z * a.n_kv * a.sequences
        tiles_kv = up(a.keys, keys_a_block)
        raw = min(most, tiles_kv * tiles)
        rounded = raw // tiles * tiles
        loss = 100 * (raw - rounded) // raw if rounded else 100
        blocks = rounded if loss <= 5 else raw
        if blocks % tiles == 0 and blocks > tiles:
            per_kv = tiles_x * tiles_z
            fixups.append(("_Z33flash_attn_stream_k_fixup_uniformILi%dELi%dELi%dEEvPfPK6float2iiiiii5uint3S4_S4_" % (
                a.d_v, columns1, columns2), [a.queries, a.n_q, a.n_kv, blocks, a.n_q // a.n_kv, blocks // tiles,
                                             fastdiv(per_kv * a.n_kv), fastdiv(per_kv), fastdiv(tiles_x)], tiles))
        elif tiles % blocks:
            per_kv = tiles_kv * tiles_x * tiles_z
            fixups.append(("_Z33flash_attn_stream_k_fixup_generalILi%dELi%dELi%dEEvPfPK6float2iiii5uint3S4_S4_S4_" % (
                a.d_v, columns1, columns2), [a.queries, a.n_q, a.n_q // a.n_kv, tiles_kv * tiles, fastdiv(per_kv * a.n_kv),
                                             fastdiv(per_kv), fastdiv(tiles_kv * tiles_x), fastdiv(tiles_kv)], blocks))
    arguments = {
        "V2": "Li%dELi%dELi%dELi4ELi%dELi2ELb0" % (a.d, columns1, columns2, keys_a_block),
        "V2b": "Li%dELi%dELi%dELi%dELi4ELi2ELb0ELb%d" % (a.d, a.d_v, columns1, columns2, a.v_in_k),
        "V3": "Li%dELi%dELi%dELi%dELi4ELi2ELb0ELb%d" % (a.d, a.d_v, columns1, columns2, a.v_in_k),
        "V4": "Li%dELi%dELi%dELi%dELb0ELb%d" % (a.d, a.d_v, columns1, columns2, a.v_in_k),
        "V5": "Li%dELi%dELi%dELi%dELb0ELb%dELb%d" % (a.d, a.d_v, columns1, columns2, a.v_in_k, sparse)}[g]
    kv_max = SET if a.mask and (a.queries >= 1024 or a.sequences > 1) and g not in ("V2", "V2b") else NULL
    if kv_max == SET:
        name = "_Z25flash_attn_mask_to_KV_maxILi%dEEvPK7__half2Pi%s" % (columns1, "ill" if g == "V5" else "iii")
        out.add(g, "flash_attn_mask_to_KV_max", name, (tiles_x, a.sequences, 1), (128, 1, 1),
                [SET, SET, a.keys // 256, a.keys // 2, a.keys // 2 * a.queries], reading="read", kind="helper",
                serves="next_attention")
    out.add(g, a.label("flash_attn_ext_f16 mma", sparse), mangled(g, "flash_attn_ext_f16", arguments, 0), (blocks, 1, 1), (32, 4, 1),
            lists(g, a, SET if fixups else NULL, kv_max), **a.expected("fp16"))
    for name, values, x in fixups:
        kernel = name[4:].split("I")[0]
        out.add(g, kernel, name, (x, columns1, columns2), (a.d_v, 1, 1), [SET, SET] + values, reading="read", kind="helper",
                serves="last_attention")
