# SPDX-License-Identifier: Apache-2.0
"""Random descriptions for make_trace: half of them plausible, half contradictory. Of one seed always the same."""
import random

MOST, LEAST = 2**63 - 1, -2**63
EDGES = [0, 1, -1, 2, 127, 128, MOST, LEAST, 2**31, 2**32, 2**62, 4096]
PLAUSIBLE = [1, 16, 100, 128, 256, 1024, 3584, 4096, 18944]
# name, PCI id, SMs: of the table, contradicting it, without a row
GPUS = [("NVIDIA GeForce RTX 4090", 0x2684, 128), ("NVIDIA H100 80GB HBM3", 0x2330, 132), ("Simulated rtx4090", 0, 128),
        ("Mystery unit", 0x9999, 40), ("NVIDIA GeForce RTX 4090", 0x2684, 0), ("", 0, -1), ("Mystery unit", 0, 2**31 - 1)]
KERNELS = {"g": "gemm", "f": "_ZN5flash16flash_fwd_kernelIiEEvv", "s": "void softmax_warp_forward<float>(float*)",
           "k": "cutlass_80_tensorop_bf16_s16816gemm_streamk", "n": "_ZN4vllm15rms_norm_kernelEv", "x": "nothing known"}


def device(draw, ordinal, hard):
    name, pci, sms = draw.choice(GPUS if hard else GPUS[:2])
    facts = f"mig={draw.choice([0, 0, 1, -1, 7])} memory={draw.choice([-1, 0, 24 << 30, MOST])}" if hard else ""
    return f'device {ordinal} name="{name}" pci={pci} sms={sms} uuid={ordinal + 1} bus={ordinal} {facts}'


def signature(draw, name, hard):
    def pick(edges, plausible):
        return draw.choice(edges if hard and draw.random() < 0.4 else plausible)
    kind = pick(["gemv", "level3", "9"], ["gemm", "gemm", "gemm", "gemv"])
    return " ".join([
        f"signature {name} kind={kind} entry={pick([2, 3, 4, 9], [1])}",
        *(f"{side}={pick(EDGES, PLAUSIBLE)}" for side in ("m", "n", "k")[:2 if kind == "gemv" else 3]),
        *(["k=1"] if kind == "gemv" else []),
        f"batch={pick([0, -1, MOST, 2], [1, 1, 1, 8])} batch_mode={pick(['pointers', 'grouped', 'strided'], ['none'])}",
        f"ta={pick(['N', 'C'], ['T', 'T', 'N'])} tb={pick(['T', 'C'], ['N'])}",
        f"type={pick(['99', '-1', 'cfp32', 'fp4', 'int4', 'fp64', 'fp32,bf16'], ['bf16', 'fp16', 'fp32', 'e4m3,e4m3,bf16,bf16', 'int8,int8,int32,int32'])}",
        f"compute={pick(['999', '-1', '16f', '32i', 'fast_tf32'], ['32f'])} library={pick(['lt', '9'], ['cublas', 'lt'])}",
        f"stride={pick(['100,0,7', '-1', str(MOST), f'{LEAST},5,5'], ['0'])} ld={pick(['-5', str(MOST), str(LEAST)], ['0', '4096'])}",
        f"beta={pick(['unknown', 'device', '77'], ['zero', 'zero', 'one'])} epilogue={pick(['-1', '4', '132', '2147483647'], ['1'])}",
        f"scale={pick(['0', '1', '5', '6', '99'], ['-1'])} order={pick(['5'], ['0', '0', '1'])}",
        f"provenance={pick(['at_most', 'name', 'none', '200', '0'], ['exact', 'descriptor'])}",
    ])


def timing(draw, hard, signatures):
    """Modes, windows, graphs and the rest, of which only some belong together."""
    mode = draw.choice(["node", "graph", "sampled", "sampled", "off", "events"])
    lines = [f'timing {mode} "rule" window={draw.choice([0, 1000000, MOST] if hard else [1000000])} '
             f'period={draw.choice([0, 1, MOST] if hard else [20000000])} asked={draw.choice(["auto", mode])}']
    graph = draw.randint(1, 3)
    for node in range(draw.randint(0, 4)):
        of = draw.choice([f"signature=s{draw.randrange(signatures)} name=g", "name=k", "name=x"])
        lines.append(f"graph_node {graph} {draw.choice([node, 1])} {of} launches={draw.choice([0, 0, 2, MOST] if hard else [0])} "
                     f"retired={draw.choice([0, 0, 1])} {draw.choice(['at=1', 'at=' + str(MOST)]) if hard else ''}")
    for _ in range(draw.randint(0, 3)):
        lines.append(f"graph_launches {graph} {draw.choice(EDGES[:2] + [7, 100, 2**64 - 1, MOST] if hard else [5, 50])} "
                     f"{'at=' + str(draw.choice([0, 1, MOST])) if hard and draw.random() < 0.5 else ''}".replace("graph_launches -1", "graph_launches 1"))
    for _ in range(draw.choice([0, 0, 3])):
        lines.append(f"graph_run {graph} times={draw.randint(1, 3)} ns={draw.choice([0, 1, 10**15] if hard else [100000])} "
                     f"device={draw.choice([0, 77]) if hard else 0}")
    lines.append(f"lengths {draw.choice(EDGES[:3] + [4096])} count={draw.choice([0, 1, 2**31])} least={draw.choice(EDGES)} "
                 f"most={draw.choice(EDGES)} sum={draw.choice(EDGES)} launches={draw.choice([0, 1, MOST])}".replace("lengths -1", "lengths 1"))
    number = draw.choice(EDGES if hard else [1000, 0])
    lines.append(f"overhead wall={number} calls={draw.choice([0, 4, number])} calls_ns=800 calls_all={draw.choice([0, 10, MOST])} "
                 f"callbacks={draw.choice([0, 2])} callbacks_ns={number} callbacks_all=3 level={draw.choice([0, 1, 9])}")
    return lines


def windows(draw, hard, lines):
    """Opens and closes them among LINES."""
    number, at = 0, sorted(draw.randint(0, len(lines)) for _ in range(2 * draw.randint(0, 4)))
    for place, index in reversed(list(zip(at, range(len(at))))):
        number = index // 2 + 1
        why = draw.choice(["sampled", "sampled", "option", "control"])
        what = draw.choice(["open", "close", "mark"]) if hard and draw.random() < 0.3 else "close" if index % 2 else "open"
        when = f"at={draw.choice([0, 1, MOST, 2**63])}" if hard and draw.random() < 0.1 else ""
        lines[place:place] = [f"window {what} {why} number={number} text=\"m\" {when}".replace(str(2**63), str(MOST)),
                              f"wait ns={draw.choice([1000000, 30000000])}"]


def describe(seed):
    draw = random.Random(seed)
    hard = seed % 2 == 1
    devices = draw.choice([0, 1, 2, 3]) if hard else draw.choice([1, 1, 2])
    lines = ["file 1.trace pid=1", 'process command="program"', draw.choice(['note timing_on ""'] * 3 + ["note hook_level \"preload\""])]
    lines += ["entry 1 cublasGemmEx", "entry 2 cublasSgemv_v2", "entry 3 cublasStrsm_v2", "entry 4 cublasLtMatmul"]
    lines += [device(draw, ordinal, hard) for ordinal in range(devices)]
    lines += [f'name {alias} "{name}"' for alias, name in KERNELS.items()]
    signatures = draw.randint(1, 9)
    lines += [signature(draw, f"s{i}", hard) for i in range(signatures)]
    head = len(lines)
    activation = 1
    for step in range(draw.randint(1, 40)):
        which = draw.randrange(signatures)
        if draw.random() < 0.2:  # as q, k and v: what comes next reads the same
            activation = draw.randrange(9)
        weight = 1000 + which if draw.random() < 0.8 else draw.randrange(3)
        lines.append(
            f"call s{which} times={draw.choice([1, 1, 3])} stream={draw.choice([0, 7, 7, 7])} a={weight} "
            f"b={activation} d={draw.randrange(5) if hard else 2000 + step} kernels={draw.choice([0, 1, 1, 1, 2])} name={draw.choice('gkx')} "
            f"ns={draw.choice([0, 1, 10**9, 10**15] if hard else [2000, 20000, 50000, 400000])} "
            f"grid={draw.choice(['0', '4294967295,4294967295,4294967295', '7'] if hard else ['8', '64', '128', '1000'])} "
            f"device={draw.choice([0, 1, 77] if hard else list(range(devices)))} gap={draw.choice([0, 0, 5000])}")
        if draw.random() < 0.4:
            lines.append(f"launch {draw.choice('fsnx')} kernels={draw.choice([0, 1, 1])} ns={draw.choice([1, 1500, 9000])}")
        if draw.random() < 0.1:
            lines.append(f"failed s{which} status={draw.choice([7, 14, -1])}")
        if draw.random() < 0.1:
            lines.append("copy ns=3000 bytes=4096")
    more = random.Random(-seed - 1)  # of its own, so that the lines above stay what they are
    if more.random() < 0.5:
        body = lines[head:]
        windows(more, hard, body)
        lines = lines[:head] + timing(more, hard, signatures) + body
    return "\n".join(lines + draw.choice([["end"], []])) + "\n"
