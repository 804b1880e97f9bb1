#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_work.py WORK_FIGURES: the work models against exact fractions on shapes of real size, 300 of each kind.

Written from the definitions, not from the C code: bytes are added up operand by operand, the ridge is solved with fractions,
visible keys are added up row by row. Figures must be the double next to the fraction; M* and intensities within 1e-12 of it.
"""
import random
import subprocess
import sys
from fractions import Fraction

SEED = 65537
SHAPES = 300
SIZES = [64, 96, 128, 512, 576, 1024, 1536, 2048, 3584, 4096, 5120, 7168, 8192, 11008, 14336, 18944, 28672, 32000, 128256]
WIDTHS = [4, 8, 16, 32]


def gemm_case(draw):
    m, n, k = draw.choice([1, 2, 7, 8, 31, 64, 160, 256, 1000, 8192]), draw.choice(SIZES), draw.choice(SIZES)
    batch = draw.choice([1, 1, 1, 2, 8, 64])
    left, right, d = (draw.choice(WIDTHS) for _ in range(3))
    reads_c = draw.random() < 0.3
    group, scale_bits = draw.choice([(0, 0), (0, 0), (32, 16), (128, 20), (16, 8), (100, 32)])
    ridge = draw.choice([50, 153, 295, 403, 590, 2000])
    line = f'gemm {m} {n} {k} {batch} {left} {right} {d} {int(reads_c)} {group} {scale_bits} {ridge}'

    def moved_bits(rows):
        groups = -(-k // group) if group else 0
        activations = rows * k * left
        weight = n * k * right + n * groups * scale_bits
        output = rows * n * d * (2 if reads_c else 1)
        return batch * (activations + weight + output)

    flops = 2 * m * n * k * batch
    # bytes grow evenly with rows: what the first adds, and what is there without any
    slope = Fraction(moved_bits(2) - moved_bits(1), 8)
    fixed = Fraction(moved_bits(1), 8) - slope
    flops_of_row = 2 * n * k * batch
    cap = flops_of_row / slope
    rows = ridge * fixed / (flops_of_row - ridge * slope) if cap > ridge else None
    return line, [('exact', flops), ('exact', Fraction(moved_bits(m), 8)), ('near', rows), ('near', cap)]


def visible_keys(mask, left, right, row, queries, keys):
    diagonal = row if mask == 'top_left' else row + keys - queries
    last = keys - 1
    if mask != 'none':
        last = min(last, diagonal)
    elif right >= 0:
        last = min(last, diagonal + right)
    first = max(0, diagonal - left) if left >= 0 else 0
    return range(first, max(first, last + 1))


def attention_case(draw):
    n_kv = draw.choice([1, 2, 4, 8])
    n_q = n_kv * draw.choice([1, 4, 7, 8])
    d, d_v = draw.choice([(64, 64), (128, 128), (192, 128), (576, 512)])
    mask = draw.choice(['none', 'top_left', 'bottom_right'])
    left = draw.choice([-1, -1, 0, 127, 1023, 4095])
    right = draw.choice([-1, -1, 0, 64]) if mask == 'none' else -1
    queries, keys = draw.choice([(1, draw.randint(1, 20000)), (draw.randint(1, 600), draw.randint(1, 9000)),
                                 (draw.randint(1, 6000),) * 2, (draw.randint(1, 3000), draw.randint(1, 3000))])
    bits, kv_bits = draw.choice([(16, 16), (16, 8), (32, 32), (16, 4)])
    line = f'attention {n_q} {n_kv} {d} {d_v} {queries} {keys} {mask} {left} {right} {bits} {kv_bits}'

    pairs = reading = 0
    first, last = None, None  # rows see ranges that move one key a row: what all see together has no hole
    for row in range(queries):
        seen = visible_keys(mask, left, right, row, queries, keys)
        pairs += len(seen)
        if seen:
            reading += 1
            first = seen[0] if first is None else min(first, seen[0])
            last = seen[-1] if last is None else max(last, seen[-1])
    distinct = last - first + 1 if reading else 0
    kv = Fraction(distinct * n_kv * (d + d_v) * kv_bits, 8)
    rest = Fraction(n_q * (reading * d + queries * d_v) * bits, 8)
    return line, [('exact', pairs), ('exact', 2 * n_q * (d + d_v) * pairs), ('exact', kv), ('exact', kv + rest)]


def crossover_case(draw):
    parameters, n_q = draw.randint(10**6, 10**10), draw.choice([8, 32, 64, 128])
    d, d_v = draw.choice([(64, 64), (128, 128), (192, 128)])
    # 2 P L FLOPs of products; 2 n_q (d + d_v) L^2 / 2 of causal attention
    return f'crossover {parameters} {n_q} {d} {d_v}', [('near', Fraction(2 * parameters, n_q * (d + d_v)))]


def is_right(kind, expected, printed):
    if expected is None:
        return printed == float('inf')
    if kind == 'exact':
        return printed == float(expected)
    return abs(printed - float(expected)) <= 1e-12 * abs(float(expected))


def main():
    draw = random.Random(SEED)
    cases = [make(draw) for make in (gemm_case, attention_case, crossover_case) for _ in range(SHAPES)]
    lines = ''.join(line + '\n' for line, _ in cases)
    run = subprocess.run(sys.argv[1:2], input=lines, capture_output=True, text=True, check=True)
    answers = run.stdout.splitlines()
    if len(answers) != len(cases):
        sys.exit(f'{len(answers)} answers to {len(cases)} shapes')
    wrong = 0
    for (line, figures), answer in zip(cases, answers):
        printed = [float(word) for word in answer.split()]
        if len(printed) != len(figures) or not all(is_right(*f, p) for f, p in zip(figures, printed)):
            wrong += 1
            print(f'{line}: expected {[None if f is None else float(f) for _, f in figures]}, printed {printed}')
    never = sum(figures[2][1] is None for line, figures in cases if line.startswith('gemm'))
    print(f'seed {SEED}: {len(cases)} shapes, {wrong} wrong; {never} products reach no ridge')
    if wrong or not 0 < never < SHAPES:
        sys.exit(1)


if __name__ == '__main__':
    main()
