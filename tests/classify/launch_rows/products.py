# SPDX-License-Identifier: Apache-2.0
"""Products as llama.cpp's host code launches them: from ne00 (K), ne01 (N), ne1 (M) and so on to grid and parameters.

Each function follows the host function that it names; what is expected comes from the sizes of the operator alone.
"""
from kernels import NULL, ONE, SET, TWO, UNTOLD, block, fastdiv, fusion, number, padded, up, zeros


class Operator:
    """MUL_MAT, or MUL_MAT_ID if n_expert: src0 [k, n, ne02, ne03], src1 [k, m, ne12, ne13]; of experts src1 [k, ne11, m]."""

    def __init__(self, n, k, m=1, ne02=1, ne12=1, ne03=1, ne13=1, row=None, n_expert=0, used=0, ne11=1):
        self.n, self.k, self.m = n, k, m
        self.ne02, self.ne12, self.ne03, self.ne13 = ne02, ne12, ne03, ne13
        self.row = row  # elements from row to row of src0 if it is a view
        self.n_expert, self.used, self.ne11 = n_expert, used, ne11
        if n_expert:
            self.ne02 = n_expert

    def expected(self, form, **more):
        # a token's experts are distinct: a top-k picks them
        batch = self.used if self.n_expert else self.ne12 * self.ne13
        weights = more.get("weights", 1)
        most = weights * (min(self.m * self.used, self.n_expert) if self.n_expert else self.ne02 * self.ne03)
        least = weights * self.used if self.n_expert else most
        result = dict(reading="read", kind="matmul", m=self.m, n=self.n, k=self.k, batch=batch, weights=1,
                      experts=int(self.n_expert > 0), least=least, most=most, format=form, weight=0,
                      activations=self.ne11 if self.n_expert else batch, adds=0, d_format="fp32",
                      provenance="at_most" if least != most else "params")
        result.update(more)
        return result


CACHE_CELLS = 4096


def strides_x(op, form):
    """Of src0's rows, channels and samples, in blocks; in the row of a KV cache heads lie side by side."""
    row = (op.row or op.k) // block(form)
    if op.row:
        return row, op.k // block(form), row * CACHE_CELLS
    return row, op.n * row, op.ne02 * op.n * row


# ---- mul_mat_vec_q: ggml_cuda_mul_mat_vec_q() of mmvq.cu ----

def mul_mat_vec_q(out, g, form, op, gate=False, bias=False, small_k=False, untold=False, label=""):
    s01, s02, s03 = strides_x(op, form)
    s11 = padded(op.k) // 32
    if op.n_expert:
        ne11, tokens = op.ne11, op.m
        s12, s13 = ne11 * s11, tokens * ne11 * s11
        s1, s2, s3 = op.n, op.n * op.used, op.n * op.used * tokens
        col_y, col_dst, channel_y, channel_dst = s12, s2, s11, s1
        channels_y, channels, samples = ne11, op.used, 1
    else:
        s12, s13 = op.m * s11, op.ne12 * op.m * s11
        s1, s2, s3 = op.n, op.n * op.m, op.n * op.m * op.ne12
        col_y, col_dst, channel_y, channel_dst = s11, s1, s12, s2
        channels_y, channels, samples = op.ne12, op.ne12, op.ne13
    warps = 4 if op.m <= 4 else 2
    rows = 2 if op.m > 1 else warps if small_k else 1
    grid, shape = (up(op.n, rows), channels, samples), (32, warps, 1)
    expected = op.expected(form, a_format="q8_1", path="int8-dp4a", weights=2 if gate else 1, adds=int(bias))
    ids = SET if op.n_expert else NULL
    if g in ("V2", "V3"):
        name = "_Z13mul_mat_vec_qIL9ggml_type%dELi%dEEvPKvS2_PKiPfiiiiiiiiiiiii" % (number(form), op.m)
        values = [op.k, channels_y, s01, col_y, col_dst, channels // op.ne02, s02, channel_y, channel_dst,
                  samples // op.ne03, s03, s13, s3]
        out.add(g, "mul_mat_vec_q " + label, name, grid, shape, [SET, SET, ids, SET] + values, **expected)
        return
    fused = gate or bias
    flags = [fused, small_k] + ([False] if g == "V5" else [])
    name = "_Z13mul_mat_vec_qIL9ggml_type%dELi%d%sEEvPKvS2_PKi31ggml_cuda_mm_fusion_args_devicePfj5uint3jjjS7_jjjS7_jjjj" % (
        number(form), op.m, "".join("ELb%d" % f for f in flags) + "E")
    name = name.replace("EEEv", "EEv")
    ratio = zeros() if op.n_expert else fastdiv(channels // op.ne02)
    values = [op.k, fastdiv(channels_y) if op.n_expert else zeros(), s01, col_y, col_dst, ratio, s02, channel_y, channel_dst,
              fastdiv(samples // op.ne03), s03, s13, s3, op.n_expert]  # ids: a view of all experts in their order
    out.add(g, "mul_mat_vec_q " + label, name, grid, shape,
            [SET, SET, ids, fusion_of(g, bias, gate, untold), SET] + values, **left_unread(expected, untold and fused))


def fusion_of(g, bias, gate, untold):
    return UNTOLD if untold else fusion(bias, gate, False, 48 if g == "V5" else 32)


def left_unread(expected, unread):
    """Without the struct nothing tells whether a fused kernel has a gate."""
    return {"reading": "no_values"} if unread else expected


def mul_mat_vec_q_2024(out, form, n, k, m):
    """mul_mat_vec_q_cuda() of V1."""
    op = Operator(n, k, m)
    name = "_Z13mul_mat_vec_qIL9ggml_type%dELi%dEEvPKvS2_Pfiiii" % (number(form), m)
    out.add("V1", "mul_mat_vec_q", name, (up(n, 1 if m == 1 else 2), 1, 1), (32, 4 if m <= 4 else 2, 1),
            [SET, SET, SET, k, n, padded(k), n], **op.expected(form, a_format="q8_1", path="int8-dp4a"))


def mul_mat_vec_q_split(out, g, form, n, k, m, rows_here, main, small_k=False):
    """ggml_cuda_op_mul_mat_vec_q(): rows of a weight split over GPUs; the main one writes into the whole result."""
    rows_dst = n if main else rows_here
    per = 2 if m > 1 else 4 if small_k else 1
    ones = [1] * 3
    expected = Operator(rows_here, k, m).expected(form, a_format="q8_1", path="int8-dp4a", provenance="at_most")
    strides = [k // block(form), padded(k) // 32, rows_dst]
    grid, shape = (up(rows_here, per), 1, 1), (32, 4 if m <= 4 else 2, 1)
    label = "mul_mat_vec_q split rows%s" % (" of the main GPU" if main else "")
    if g in ("V2", "V3"):
        name = "_Z13mul_mat_vec_qIL9ggml_type%dELi%dEEvPKvS2_PKiPfiiiiiiiiiiiii" % (number(form), m)
        out.add(g, label, name, grid, shape, [SET, SET, NULL, SET, k, 1] + strides + [1] + ones + [1] + ones, **expected)
    else:
        name = ("_Z13mul_mat_vec_qIL9ggml_type%dELi%dELb0ELb%dEEvPKvS2_PKi31ggml_cuda_mm_fusion_args_devicePfj5uint3jjjS7_"
                "jjjS7_jjjj" % (number(form), m, small_k))
        out.add(g, label, name, grid, shape, [SET, SET, NULL, fusion(0, 0, 0, 32), SET, k, zeros()] + strides +
                [fastdiv(1)] + ones + [fastdiv(1)] + ones + [0], **expected)


def mul_mat_vec_q_moe(out, g, form, op, gate=False, bias=False, untold=False):
    """mul_mat_vec_q_moe_launch()"""
    s01, s02, _ = strides_x(op, form)
    s11 = padded(op.k) // 32
    values = [op.k, fastdiv(op.ne11), op.n, s01, op.ne11 * s11, op.n * op.used, s02, s11, op.n, op.m, op.n_expert]
    grid, shape = (up(op.n, 2), op.used, 1), (32, op.m, 1)
    weights = 2 if gate else 1
    expected = op.expected(form, a_format="q8_1", path="int8-dp4a", weights=weights, adds=int(bias))
    if g == "V5":
        name = ("_Z17mul_mat_vec_q_moeIL9ggml_type%dELi2ELb%dEEvPKvS2_PKi31ggml_cuda_mm_fusion_args_devicePfj5uint3jjjjjjjjj"
                % (number(form), gate or bias))
        first = [SET, SET, SET, fusion_of(g, bias, gate, untold), SET]
    else:
        name = "_Z17mul_mat_vec_q_moeIL9ggml_type%dELi2EEvPKvS2_PKiPfj5uint3jjjjjjjjj" % number(form)
        first = [SET, SET, SET, SET]
    out.add(g, "mul_mat_vec_q_moe", name, grid, shape, first + values, **expected)


# ---- mul_mat_q: ggml_cuda_mul_mat_q() of mmq.cu, launch_mul_mat_q() of mmq.cuh ----

MULTIPROCESSORS = 46


def stream_k_grid(g, tiles):
    if g in ("V2", "V3", "V3b"):
        return MULTIPROCESSORS
    efficiency = 100 * tiles // (MULTIPROCESSORS * up(tiles, MULTIPROCESSORS))
    return tiles if efficiency >= 90 else MULTIPROCESSORS


def mul_mat_q(out, g, form, op, tile, stream_k=True, native_fp4=False, split_rows=0):
    moe = op.n_expert > 0
    s01, s02, s03 = strides_x(op, form)
    rows = op.m * op.used if moe else op.m  # ne_get_rows
    ne11 = op.ne11 if moe else op.m
    per_row = padded(op.k) * 144 // (256 * 4) if native_fp4 else padded(op.k) * 36 // (32 * 4)
    s12 = ne11 * per_row
    s13 = (op.m if moe else op.ne12) * s12
    s1 = op.n
    s2 = op.n * (op.used if moe else op.m)
    s3 = s2 * (op.m if moe else op.ne12)
    channels_y = op.n_expert if moe else op.ne12
    samples_y = 1 if moe else op.ne13
    n = op.n
    if split_rows:  # ggml_cuda_op_mul_mat_q()
        n, s02, s03, s12, s13, s2, s3 = split_rows, 0, 0, 0, 0, 0, 0
    ratio, sample_ratio = channels_y // op.ne02, samples_y // op.ne03
    ntx, nty = up(op.m if g in ("V3b", "V4", "V5") or not moe else rows, tile), up(n, 128)
    tiles = ntx * nty * channels_y * samples_y
    blocks = stream_k_grid(g, tiles)
    grid = (blocks, 1, 1) if stream_k else (nty, ntx, channels_y * samples_y)
    scratch = SET if stream_k and tiles % blocks else NULL
    check = n % 128 != 0
    whole = Operator(n, op.k, op.m, op.ne02, op.ne12, op.ne03, op.ne13, None, op.n_expert, op.used, op.ne11)
    expected = whole.expected(form, a_format="nvfp4" if native_fp4 else "q8_1", path="fp4" if native_fp4 else "int8")
    if moe:  # rows of all experts in one product
        most = min(rows, op.n_expert)
        expected.update(m=rows, batch=1, activations=1, most=most, provenance="at_most" if most != op.used else "params")
    ids = [SET, SET] if moe else [NULL, NULL]
    head = [SET, SET] + ids + [SET, scratch]
    label = "mul_mat_q" + (" of experts" if moe else " split rows" if split_rows else "")
    if g in ("V2", "V3"):
        flags = "ELi8" if g == "V2" else ""
        name = "_Z9mul_mat_qIL9ggml_type%dELi%d%sELb%dEEvPKcPKiS4_S4_PfS5_iiiiiiiiiiiiiiii" % (number(form), tile, flags, check)
        values = [op.k, n, rows, s01, rows, s1, ratio, channels_y, s02, s12, s2, sample_ratio, samples_y, s03, s13, s3]
    elif g == "V3b":
        name = "_Z9mul_mat_qIL9ggml_type%dELi%dELb%dEEvPKcPKiS4_S4_PfS5_iiiiiiiiiiiiiiiii" % (number(form), tile, check)
        values = [op.k, n, rows, s01, rows, s1, ratio, channels_y, s02, s12, s2, sample_ratio, samples_y, s03, s13, s3, op.m]
    else:
        blocks_per_row = fastdiv(op.k // block(form))
        values = [blocks_per_row, n, rows, s01, rows, s1, fastdiv(ratio), fastdiv(channels_y), s02, s12, s2,
                  fastdiv(sample_ratio), fastdiv(samples_y), s03, s13, s3, fastdiv(ntx)]
        if g == "V4":
            name = "_Z9mul_mat_qIL9ggml_type%dELi%dELb%dEEvPKcPKiS4_S4_PfS5_5uint3iiiiiS6_S6_iiiS6_S6_iiiS6_" % (
                number(form), tile, check)
        else:
            name = ("_Z9mul_mat_qIL9ggml_type%dELi%dELb%dEL9ggml_prec%dEEvPKcPKiS5_S5_PfS6_PKf5uint3iiiiiS9_S9_iiiS9_S9_iiiS9_"
                    % (number(form), tile, check, 40 if native_fp4 else 30))
            head.append(SET if native_fp4 and form == "nvfp4" else NULL)
    out.add(g, label, name, grid, (32, 8, 1), head + values, **expected)
    if stream_k and tiles % blocks:
        mul_mat_q_fixup(out, g, form, tile, check, native_fp4, ids, op, n, rows, s1, channels_y, s2, samples_y, s3, ntx, blocks)


def mul_mat_q_fixup(out, g, form, tile, check, native_fp4, ids, op, n, rows, s1, channels_y, s2, samples_y, s3, ntx, blocks):
    expected = dict(reading="read", kind="helper", serves="last_matmul")
    if g in ("V2", "V3"):
        name = "_Z24mul_mat_q_stream_k_fixupIL9ggml_type%dELi%d%sELb%dEEvPKiS2_PfPKfiiiiiiii" % (
            number(form), tile, "ELi8" if g == "V2" else "", check)
        out.add(g, "mul_mat_q_stream_k_fixup", name, (blocks, 1, 1), (32, 8, 1),
                ids + [SET, SET, op.k, n, rows, s1, channels_y, s2, samples_y, s3], **expected)
        return
    if g == "V3b":
        name = "_Z24mul_mat_q_stream_k_fixupIL9ggml_type%dELi%dELb%dEEvPKiS2_PfPKfiiimimimi" % (number(form), tile, check)
        out.add(g, "mul_mat_q_stream_k_fixup", name, (blocks, 1, 1), (32, 8, 1),
                ids + [SET, SET, op.k, n, rows, s1, channels_y, s2, samples_y, s3, op.m], **expected)
        return
    values = [fastdiv(op.k // block(form)), n, rows, s1, fastdiv(channels_y), s2, fastdiv(samples_y), s3, fastdiv(ntx)]
    if g == "V4":
        name = "_Z24mul_mat_q_stream_k_fixupIL9ggml_type%dELi%dELb%dEEvPKiS2_PfS3_5uint3iiiS4_iS4_iS4_" % (
            number(form), tile, check)
    else:
        name = "_Z24mul_mat_q_stream_k_fixupIL9ggml_type%dELi%dELb%dEL9ggml_prec%dEEvPKiS3_PfS4_5uint3iiiS5_iS5_iS5_" % (
            number(form), tile, check, 40 if native_fp4 else 30)
    out.add(g, "mul_mat_q_stream_k_fixup", name, (blocks, 4, 1), (32, 4, 1), ids + [SET, SET] + values, **expected)


def mul_mat_q_2024(out, form, n, k, m, tile, stream_k=True, columns=0):
    """launch_mul_mat_q() of V1; COLUMNS: of all GPUs' work, where rows are split."""
    nty, ntx = up(n, 128), up(m, tile)
    check = n % 128 != 0
    name = "_Z9mul_mat_qIL9ggml_type%dELi%dELi8ELb%dEEvPKcS2_PfS3_iiiiiii" % (number(form), tile, check)
    out.add("V1", "mul_mat_q", name, (MULTIPROCESSORS, 1, 1) if stream_k else (nty, ntx, 1), (32, 8, 1),
            [SET, SET, SET, SET if stream_k else NULL, k, n, k // block(form), padded(k), m, columns or m, n],
            **Operator(n, k, m).expected(form, a_format="q8_1", path="int8"))
    if stream_k:
        name = "_Z24mul_mat_q_stream_k_fixupIL9ggml_type%dELi%dELi8ELb%dEEvPfPKfiiiii" % (number(form), tile, check)
        out.add("V1", "mul_mat_q_stream_k_fixup", name, (nty, ntx, 1), (32, 8, 1), [SET, SET, k, n, m, n, MULTIPROCESSORS],
                reading="read", kind="helper", serves="last_matmul")


# ---- one row or few of floats: ggml_cuda_mul_mat_vec_f() of mmvf.cu, ggml_cuda_mul_mat_vec() of mmv.cu ----

def block_size(k):
    """launch_mul_mat_vec_f_cuda(): the fewest rounds, the smaller block among equals."""
    return min(range(32, 257, 32), key=lambda size: (up(k, 2 * size), size))


def mul_mat_vec_f(out, g, form, op, half_sums=False, gate=False, bias=False, split_rows=0, untold=False,
                  label=""):
    s01, s02, s03 = strides_x(op, "fp32")
    moe = op.n_expert > 0
    s11 = op.k
    if moe:
        s12, s13 = op.ne11 * s11, op.m * op.ne11 * s11
        s1, s2, s3 = op.n, op.n * op.used, op.n * op.used * op.m
        col_y, col_dst, channel_y, channel_dst = s12, s2, s11, s1
        channels_y, channels, samples = op.ne11, op.used, op.m
    else:
        s12, s13 = op.m * s11, op.ne12 * op.m * s11
        s1, s2, s3 = op.n, op.n * op.m, op.n * op.m * op.ne12
        col_y, col_dst, channel_y, channel_dst = s11, s1, s12, s2
        channels_y, channels, samples = op.ne12, op.ne12, op.ne13
    n = op.n
    if split_rows:  # ggml_cuda_op_mul_mat_vec_f() on the main GPU
        n, s02, s03, s12, s13, s2, s3, channel_y, channel_dst = split_rows, 0, 0, 0, 0, 0, 0, 0, 0
    size = block_size(op.k)
    grid, shape = (n, channels, samples), (size, 1, 1)
    sums = ("S0_" if form == "fp16" else "6__half") if half_sums else "f"
    path = "fp16-fma" if half_sums else "fp32"
    whole = Operator(n, op.k, op.m, op.ne02, op.ne12, op.ne03, op.ne13, None, op.n_expert, op.used, op.ne11)
    weights = 2 if gate else 1
    expected = whole.expected(form, a_format="fp32", path=path, weights=weights, adds=int(bias))
    ids = SET if moe else NULL
    columns = 1 if moe else op.m
    label = "mul_mat_vec_f " + label
    if g in ("V2b", "V3"):
        kernel = "11mul_mat_vec" if g == "V2b" else "13mul_mat_vec_f"
        name = "_Z%sI%s%sLi%dELi%dEEvPKT_PKfPKiPfiiiiiiiiiiiii" % (kernel, ONE[form], sums, columns, size)
        values = [op.k // 2, channels_y, s01, col_y // 2, s1 if moe else col_dst, channels // op.ne02, s02, channel_y, channel_dst,
                  op.ne13 // op.ne03, s03, s13, s3]
        out.add(g, label, name, grid, shape, [SET, SET, ids, SET] + values, **expected)
        return
    several = moe and op.m > 1
    substitution = "S9_" if form == "fp32" else "SA_"
    name = ("_Z13mul_mat_vec_fI%s%sLi%dELi%dELb%dELb%dEEvPKT_PKfPKi31ggml_cuda_mm_fusion_args_devicePfi5uint3iii%siii%siiii"
            % (ONE[form], sums, columns, size, gate or bias, several, substitution, substitution))
    values = [op.k // 2, fastdiv(channels_y) if moe else zeros(), s01, col_y // 2, col_dst,
              zeros() if moe else fastdiv(channels // op.ne02), s02, channel_y, channel_dst, fastdiv(op.ne13 // op.ne03), s03, s13,
              s3, op.n_expert]
    out.add(g, label, name, grid, shape, [SET, SET, ids, fusion_of(g, bias, gate, untold), SET] + values,
            **left_unread(expected, untold and (gate or bias)))


def mul_mat_vec(out, form, op, half_sums=False, label=""):
    """launch_mul_mat_vec_cuda() of V2"""
    s01, s02, s03 = strides_x(op, "fp32")
    moe = op.n_expert > 0
    size = block_size(op.k)
    channels_y, channels = (op.ne11, op.used) if moe else (op.ne12, op.ne12)
    channel_dst = op.n
    sample_dst = op.n * (op.used if moe else op.ne12)
    sums = ("S0_" if form == "fp16" else "6__half") if half_sums else "f"
    name = "_Z11mul_mat_vecI%s%sLi%dEEvPKT_PKfPKiPflllllllllll" % (ONE[form], sums, size)
    values = [op.k // 2, channels_y, s01, channels // op.ne02, s02, op.k, channel_dst, op.ne13 // op.ne03, s03, channels_y * op.k,
              sample_dst]
    out.add("V2", "mul_mat_vec " + label, name, (op.n, channels, op.ne13), (size, 1, 1),
            [SET, SET, SET if moe else NULL, SET] + values,
            **op.expected(form, a_format="fp32", path="fp16-fma" if half_sums else "fp32"))


def mul_mat_vec_2024(out, op, half_sums):
    """ggml_cuda_mul_mat_vec() of V1b: fp16 alone"""
    s01, s02, _ = strides_x(op, "fp16")
    size = block_size(op.k)
    name = "_Z11mul_mat_vecI%sLi%dEEvPK6__halfPKfPfllllll" % ("6__half" if half_sums else "f", size)
    if half_sums:
        name = name.replace("PK6__half", "PKS0_")
    out.add("V1b", "mul_mat_vec", name, (op.n, 1, op.ne12), (size, 1, 1),
            [SET, SET, SET, op.k // 2, s01, op.ne12 // op.ne02, s02, op.k, op.n],
            **op.expected("fp16", a_format="fp32", path="fp16-fma" if half_sums else "fp32"))


def dequantize_mul_mat_vec(out, form, n, k, half=False):
    """dequantize_mul_mat_vec_*_cuda() of V1's dmmv.cu, GGML_CUDA_MMV_Y 1, K_QUANTS_PER_ITERATION 2; HALF: GGML_CUDA_F16"""
    expected = Operator(n, k).expected(form, a_format="fp16" if half else "fp32", path="fp16-fma" if half else "fp32")
    if form.endswith("_K"):
        rows = 2 if form == "q2_K" else 1
        name = "_Z27dequantize_mul_mat_vec_q%s_kPKvPKfPfi%s" % (form[1], "" if form == "q5_K" else "i")
        out.add("V1", "dequantize_mul_mat_vec_q%s_k" % form[1], name, (up(n, rows), 1, 1), (32, rows, 1),
                [SET, SET, SET, k] + ([] if form == "q5_K" else [n]), **expected)
    else:
        name = "_Z22dequantize_mul_mat_vecIL9ggml_type%dEEvPKv%sPfii" % (number(form), "PK6__half" if half else "PKf")
        out.add("V1", "dequantize_mul_mat_vec", name, (n, 1, 1), (32, 1, 1), [SET, SET, SET, k, n], **expected)


def products_of_heads_2024(out):
    """ggml_mul_mat_p021_f16_f32_cuda(), ggml_mul_mat_vec_nc_f16_f32_cuda() of V1: K and V of 2 heads, Q of 8."""
    op = Operator(512, 128, 1, ne02=2, ne12=8)
    out.add("V1", "mul_mat_p021_f16_f32", "_Z20mul_mat_p021_f16_f32PKvPKfPfiiii", (1, 512, 8), (32, 1, 1),
            [SET, SET, SET, 128, 512, 2, 8], **op.expected("fp16", a_format="fp32", path="fp32"))
    op = Operator(128, 512, 1, ne02=2, ne12=8)
    out.add("V1", "mul_mat_vec_nc_f16_f32", "_Z22mul_mat_vec_nc_f16_f32PKvPKfPfiiiii", (1, 128, 8), (32, 1, 1),
            [SET, SET, SET, 512, 128, 4096, 4096 * 128, 4], **op.expected("fp16", a_format="fp32", path="fp32"))


# ---- up to 16 rows, and experts: ggml_cuda_mul_mat_f() of mmf.cu ----

def mul_mat_f(out, g, form, op, label=""):
    each = 1 if form == "fp32" else 2
    path = {"fp32": "tf32", "fp16": "fp16", "bf16": "bf16"}[form]
    moe = op.n_expert > 0
    s01, s02, s03 = (stride // each for stride in strides_x(op, "fp32"))
    if moe:
        s11, s12, s13 = op.k, op.ne11 * op.k, op.m * op.ne11 * op.k
        s1, s2, s3 = op.n, op.n * op.used, op.n * op.used * op.m
        col_y, col_dst, channel_dst = s12 // each, s2, s1
        channel_y = 0 if op.ne11 == 1 else s11
        channels, channels_y = op.used, op.used if op.ne11 == 1 else op.ne11
    else:
        s11, s12, s13 = op.k, op.m * op.k, op.ne12 * op.m * op.k
        s1, s2, s3 = op.n, op.n * op.m, op.n * op.m * op.ne12
        col_y, col_dst, channel_y, channel_dst = s11 // each, s1, s12, s2
        channels, channels_y = op.ne12, op.ne12
    values_x = op.k // each
    warps = min(range(1, 9), key=lambda w: (up(values_x, w * 64), w))
    columns = min(op.m, 16)
    type_name = TWO[form]
    expected = op.expected(form, a_format="fp32", path=path)
    if moe and op.m > 16:
        tiles = up(op.m, columns)
        substitution, ids = ("S8_", "S6_S6_") if form == "fp32" else ("S9_", "S7_S7_")
        name = "_Z13mul_mat_f_idsI%sLi32ELi%dELi%dEEvPKT_PKfPKi%sPfiiiiiiiiiiiiii5uint3%s" % (type_name, columns, warps, ids,
                                                                                             substitution)
        values = [values_x, op.m, channels, s01, col_y, col_dst, channels // op.n_expert, s02, channel_y, channel_dst, 1, s03, s13,
                  s3, fastdiv(op.ne11), fastdiv(channels)]
        out.add(g, "mul_mat_f_ids", name, (op.n // 32, op.n_expert, tiles), (32, warps, 1), [SET] * 6 + values, **expected)
        return
    ratio = channels // (op.n_expert if moe else op.ne02)
    if g == "V3":
        name = "_Z9mul_mat_fI%sLi32ELi%dELi%dEEvPKT_PKfPKiPfiiiiiiiiiiiii" % (type_name, columns, warps)
        values = [values_x, channels_y, s01, col_y, col_dst, ratio, s02, channel_y, channel_dst, op.ne13 // op.ne03, s03, s13, s3]
        out.add(g, "mul_mat_f " + label, name, (op.n // 32, op.ne12, op.ne13), (32, warps, 1), [SET, SET, NULL, SET] + values,
                **expected)
        return
    name = "_Z9mul_mat_fI%sLi32ELi%dELi%dELb%dEEvPKT_PKfPKiPfiiiiiiiiiiiiiiii" % (type_name, columns, warps, moe)
    values = [values_x, op.m if moe else columns, channels, s01, col_y, col_dst, 1 if moe else 0, op.n_expert if moe else 0,
              ratio, s02, channel_y, channel_dst, op.ne13 // op.ne03, s03, s13, s3]
    y = op.n_expert * up(op.m, columns) if moe else op.ne12
    out.add(g, "mul_mat_f " + label, name, (op.n // 32, y, op.ne13), (32, warps, 1),
            [SET, SET, SET if moe else NULL, SET] + values, **expected)
