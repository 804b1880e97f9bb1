#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what the shim recorded against what was called. An independent statement of what arguments mean: it goes by the
functions' names and the numbers that generate.py passes, and by the simulator's ledger where there is one."""
import argparse
import json
import sys

M, N, K, LDA, LDB, LDC, LDD, BATCH = 37, 41, 43, 211, 223, 227, 229, 7
INCX, INCY = 3, 5
STRIDES = [100003, 100019, 100043, 100049]
UNKNOWN_STREAM = 2**64 - 1
LETTER = {"S": (0, 68, 0), "D": (1, 70, 1), "C": (4, 68, 4), "Z": (5, 70, 5), "H": (2, 64, 2)}
SCALARS = {"plain": (2, 1), "swapped": (3, 2), "device": (4, 4)}  # one, zero; other, one; on the device
ARGS_NOT_READ, BIAS = 1, 2

problems = []


def problem(text):
    problems.append(text)


def types_of(function):
    """A, B, C, D, compute, scale by the function's name."""
    if function.startswith("cublasGemm"):
        return [14, 14, 0, 0], 68, 0
    if function.startswith(("cublasSgemmEx", "cublasCgemmEx")):
        return ([4, 4, 4, 4], 68, 4) if function[6] == "C" else ([14, 14, 0, 0], 68, 0)
    value, compute, scale = LETTER[function[6]]
    return [value] * 4, compute, scale


def is_legacy(function):
    return function in [f"cublas{letter}gem{kind}" for letter in "SDCZ" for kind in "mv"]


def expect_cublas(call, device):
    function, variant, null = call["function"], call["variant"], call["null"]
    gemv = "gemv" in function
    first, second = (0, 1) if variant == "swapped" else (1, 0)
    types, compute, scale = types_of(function)
    e = {"kind": 2 if gemv else 1, "library": 1, "provenance": 1, "m": M, "n": N, "k": 1 if gemv else K,
         "trans_a": first, "trans_b": 0 if gemv else second, "type": types, "type_compute": compute, "type_scale": scale,
         "ld": [LDA, INCX, INCY, INCY] if gemv else [LDA, LDB, LDC, LDC], "batch": 1, "batch_mode": 0,
         "batch_stride": [0, 0, 0, 0], "order": [0, 0, 0, 0], "scale_mode": [-1, -1, -1, -1], "epilogue": 1,
         "type_bias": -1, "type_aux": -1, "flags": 0}
    if "Strided" in function:
        e.update(batch=BATCH, batch_mode=1, batch_stride=[STRIDES[0], STRIDES[1], STRIDES[2], STRIDES[2]])
    elif "Batched" in function:
        e.update(batch=BATCH, batch_mode=2)
    alpha, beta = SCALARS[variant]
    if is_legacy(function):  # by value: the device variant passes one
        alpha, beta = (2, 2) if variant == "device" else (alpha, beta)
        e.update(pointer_mode=0, math_mode=-1, stream=UNKNOWN_STREAM)
    elif null == "handle":
        alpha, beta = 0, 0
        e.update(pointer_mode=255, math_mode=-1, stream=UNKNOWN_STREAM)
    else:
        e.update(pointer_mode=1 if variant == "device" else 0, math_mode=device["math_mode"], stream=device["stream"])
    e.update(alpha=0 if null == "alpha" else alpha, beta=0 if null == "beta" else beta)
    return e


def expect_lt(call, device):
    variant, null = call["variant"], call["null"]
    first, second = (0, 1) if variant == "swapped" else (1, 0)
    alpha, beta = SCALARS[variant]
    e = {"kind": 1, "library": 2, "provenance": 2, "m": M, "n": N, "k": K, "trans_a": first, "trans_b": second,
         "type": [14] * 4, "type_compute": 68, "type_scale": 0, "ld": [LDA, LDB, LDC, LDD], "batch": BATCH, "batch_mode": 1,
         "batch_stride": STRIDES[:], "order": [0] * 4, "scale_mode": [-1] * 4, "epilogue": 4, "type_aux": -1,
         "flags": BIAS, "alpha": 0 if null == "alpha" else alpha, "beta": 0 if null == "beta" else beta,
         "pointer_mode": 1 if variant == "device" else 0, "math_mode": -1, "stream": 0 if null == "stream" else device["stream"]}
    if null in ("computeDesc", "Adesc", "Bdesc", "Ddesc"):
        e = {"flags": ARGS_NOT_READ, "m": -1, "n": -1, "k": -1, "batch": -1, "type": [-1] * 4, "alpha": 0, "beta": 0}
    elif null == "Cdesc":
        e["type"][2] = e["ld"][2] = -1
        e["batch_stride"][2] = -1
        e.pop("order")
    return e


def expect_failed(call, device):
    """By-value shape only."""
    if call["function"] == "cublasLtMatmul":
        return {"flags": ARGS_NOT_READ, "m": -1, "n": -1, "k": -1, "alpha": 0, "beta": 0}
    e = expect_cublas(call, device)
    keep = {key: e[key] for key in ("kind", "m", "n", "k", "trans_a", "trans_b", "type", "type_compute", "ld", "batch",
                                    "batch_mode", "batch_stride")}
    keep.update(flags=ARGS_NOT_READ, alpha=0, beta=0, math_mode=-1, pointer_mode=255, status=call["status"])
    return keep


def expect_operands(call):
    """Which of three addresses is there, by parameter name: the rest of the pattern is fixed by the program's memory."""
    lists = {"A": 0, "Aarray": 0, "B": 1, "Barray": 1, "x": 1, "C": 2, "Carray": 2, "y": 2}
    if call["function"] == "cublasLtMatmul":
        lists.update(D=2)
        del lists["C"]
    missing = lists.get(call["null"])
    return [index != missing for index in range(3)]


def compare_fields(call, record, expected):
    for key, value in expected.items():
        if record[key] != value:
            problem(f"call {call['index']} {call['function']} ({call['variant']}, NULL {call['null']}): {key} is "
                    f"{record[key]}, expected {value}")


def check_call(call, record, entries, device):
    if entries[record["entry"]] != call["function"]:
        problem(f"call {call['index']}: recorded as {entries[record['entry']]}, called {call['function']}")
        return
    if call["status"]:
        if record["record"] != "failed":
            problem(f"call {call['index']} {call['function']}: returned {call['status']} and is recorded as {record['record']}")
            return
        compare_fields(call, record, expect_failed(call, device))
        return
    if record["record"] != "call":
        problem(f"call {call['index']} {call['function']}: returned 0 and is recorded as {record['record']}")
        return
    lt = call["function"] == "cublasLtMatmul"
    compare_fields(call, record, expect_lt(call, device) if lt else expect_cublas(call, device))
    if [bool(address) for address in record["operand"]] != expect_operands(call):
        problem(f"call {call['index']} {call['function']} (NULL {call['null']}): operands {record['operand']}")
    a, b, d = record["operand"]
    if a and b and d and (b - a, d - a) != (65536, 65536 * (3 if lt else 2)):
        problem(f"call {call['index']} {call['function']}: operands in a wrong order {record['operand']}")


def check_launch(call, record, entries, names, device):
    config_missing = call["null"] == "config"
    per_thread = call["function"].endswith("_ptsz")
    stream = device["stream"]
    if call["null"] in ("stream", "hStream", "config"):
        stream = 2 if per_thread else 0
    expected = {"grid": [0, 0, 0] if config_missing else [2, 3, 5], "block": [0, 0, 0] if config_missing else [7, 11, 1],
                "shared": 0 if config_missing else 13, "stream": stream, "parent": 0}
    if entries[record["entry"]] != call["function"]:
        problem(f"call {call['index']}: recorded as {entries[record['entry']]}, called {call['function']}")
    compare_fields(call, record, expected)
    name = names.get(record["name"])
    driver = not call["function"].lstrip("_").startswith("cuda")
    wanted = None if driver or call["null"] in ("func", "kernel") else device["kernel"]
    if name != wanted:
        problem(f"call {call['index']} {call['function']}: kernel name {name}, expected {wanted}")


LEDGER_PASSED = {"m": M, "n": N, "k": K, "lda": LDA, "ldb": LDB, "ldc": LDC, "incx": INCX, "incy": INCY,
                 "strideA": STRIDES[0], "strideB": STRIDES[1], "strideC": STRIDES[2]}
# The ledger's name of what a record's field holds.
LEDGER_RECORDED = {"m": ["m"], "n": ["n"], "k": ["k"], "batchCount": ["batch"], "Atype": ["type", 0], "Btype": ["type", 1],
                   "Ctype": ["type", 2], "computeType": ["type_compute"], "lda": ["ld", 0], "ldb": ["ld", 1],
                   "incx": ["ld", 1], "ldc": ["ld", 2], "incy": ["ld", 2], "ldd": ["ld", 3], "strideA": ["batch_stride", 0],
                   "strideB": ["batch_stride", 1], "strideC": ["batch_stride", 2], "transa": ["trans_a"], "transb": ["trans_b"],
                   "trans": ["trans_a"], "epilogue": ["epilogue"]}
LEDGER_MODES = {"pointer_mode": ["pointer_mode"], "math_mode": ["math_mode"]}
BETA = {1: "zero", 2: "nonzero", 3: "nonzero", 4: "device"}


def field_of(record, path):
    value = record[path[0]]
    return value[path[1]] if len(path) > 1 else value


def check_ledger_line(call, record, line):
    """The simulator's own list of parameters, our record of the call, and what was passed: all three agree."""
    where = f"call {call['index']} {call['function']} ({call['variant']}, NULL {call['null']})"
    args = line["args"]
    lt = call["function"] == "cublasLtMatmul"
    if not lt:
        for name, value in LEDGER_PASSED.items():
            if name in args and int(args[name]) != value:
                problem(f"{where}: the ledger says {name} = {args[name]}, passed {value}")
    if not is_legacy(call["function"]) and line["status"] != call["status"]:
        problem(f"{where}: the ledger says it returned {line['status']}, the program got {call['status']}")
    if lt and record["m"] == -1:
        return  # descriptors of a call that failed are not read
    batched = "Batched" in call["function"] or lt
    names = dict(LEDGER_RECORDED)
    if record["record"] == "call" and not is_legacy(call["function"]) and not lt:
        names.update(LEDGER_MODES)
    for name, path in names.items():
        if args.get(name) is None or (name.startswith("stride") and not batched):
            continue
        value = int(args[name])
        if name.startswith("trans") and is_legacy(call["function"]):  # a character
            value = "NTC".index(chr(value).upper())
        if field_of(record, path) != value:
            problem(f"{where}: the ledger says {name} = {args[name]}, recorded {field_of(record, path)}")
    if record["record"] == "call" and "beta_kind" in args and BETA.get(record["beta"]) != args["beta_kind"]:
        problem(f"{where}: the ledger says beta is {args['beta_kind']}, recorded {record['beta']}")


def check_ledger(calls, records, launched, path):
    lines = [json.loads(line) for line in open(path)]
    ledger = [l for l in lines if l["type"] == "call" and l["function"].startswith("cublas") and not l["nested"]]
    if [c["function"] for c in calls] != [l["function"] for l in ledger]:
        problem(f"the ledger holds {len(ledger)} calls, {len(calls)} were made, or in another order")
        return
    for call, record, line in zip(calls, records, ledger):
        check_ledger_line(call, record, line)
    own = [l for l in lines if l["type"] == "kernel" and l["call"] == 0]
    if len(own) != len(launched):
        problem(f"the ledger holds {len(own)} kernels outside library calls, {len(launched)} launches are recorded")
    for kernel, launch in zip(own, launched):
        if kernel["grid"] != launch["grid"] or kernel["block"] != launch["block"] or kernel["shared"] != launch["shared"]:
            problem(f"the ledger says {kernel['grid']} x {kernel['block']}, recorded {launch['grid']} x {launch['block']}")


def read_calls(path):
    calls = []
    for line in open(path):
        part = line.split()
        if part[0].isdigit():
            calls.append({"index": int(part[0]), "function": part[1], "variant": part[2], "null": part[3],
                          "status": int(part[4])})
    return calls


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("calls", help="standard output of the calling program")
    parser.add_argument("trace", help="output of preload_trace_dump")
    parser.add_argument("--stream", type=int, help="default: the program says it itself")
    parser.add_argument("--math-mode", type=int, default=0)
    parser.add_argument("--kernel", default="test_kernel")
    parser.add_argument("--ledger")
    options = parser.parse_args()
    device = {"stream": options.stream, "math_mode": options.math_mode, "kernel": options.kernel}
    if options.stream is None:
        device["stream"] = next(int(line.split()[1]) for line in open(options.calls) if line.startswith("stream "))
    calls = read_calls(options.calls)
    records = [json.loads(line) for line in open(options.trace)]
    entries = {r["id"]: r["text"] for r in records if r["record"] == "entry"}
    names = {r["id"]: r["text"] for r in records if r["record"] == "name"}
    library = [c for c in calls if c["function"].startswith("cublas")]
    launches = [c for c in calls if not c["function"].startswith("cublas")]
    recorded = [r for r in records if r["record"] in ("call", "failed")]
    launched = [r for r in records if r["record"] == "launch"]
    if not library or len(recorded) != len(library):
        problem(f"{len(library)} library calls were made, {len(recorded)} are recorded")
    else:
        for call, record in zip(library, recorded):
            check_call(call, record, entries, device)
    good = [c for c in launches if not c["status"]]
    if len(good) != len(launched):
        problem(f"{len(good)} launches succeeded, {len(launched)} are recorded")
    else:
        for call, record in zip(good, launched):
            check_launch(call, record, entries, names, device)
    slots = [r for r in records if r["record"] == "slot"]
    if sum(s["launches_failed"] for s in slots) != len(launches) - len(good):
        problem(f"{len(launches) - len(good)} launches failed, the slots say {sum(s['launches_failed'] for s in slots)}")
    if options.ledger:
        check_ledger(library, recorded, launched, options.ledger)
    for text in problems[:40]:
        print(text)
    if problems:
        sys.exit(f"{len(problems)} differences")
    print(f"{len(recorded)} calls and {len(launched)} launches agree")


if __name__ == "__main__":
    main()
