#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what the shim recorded against what was called. An independent statement of what arguments mean: it goes by the
functions' names and the numbers that generate.py passes, and by the simulator's ledger where there is one."""
import argparse
import json
import re
import sys

M, N, K, LDA, LDB, LDC, LDD, BATCH = 37, 41, 43, 211, 223, 227, 229, 7
INCX, INCY = 3, 5
STRIDES = [100003, 100019, 100043, 100049]
PLANES = [200003, 200009, 200017, 200023]
UNKNOWN_STREAM = 2**64 - 1
LETTER = {"S": (0, 68, 0), "D": (1, 70, 1), "C": (4, 68, 4), "Z": (5, 70, 5), "H": (2, 64, 2)}
SCALARS = {"plain": (2, 1), "swapped": (3, 2), "device": (4, 4)}  # one, zero; other, one; on the device
ARGS_NOT_READ, BIAS = 1, 2

problems = []


def problem(text):
    problems.append(text)


NAME = re.compile(r"cublas(?P<xt>Xt)?(?P<types>HSH|HSS|TST|TSS|[SDCZH]|Uint8|G(?=emm))(?P<family>[ge]\w*?mm|gemv|symm|hemm|spmm|"
                  r"trmm|trsm|sy(?:rkx|rk|r2k)|he(?:rkx|rk|r2k))(?P<rest>\w*)$")
ONE_FACTOR, TWO_FACTORS, ONE_SIDE, TRIANGULAR = ("syrk", "herk"), ("syr2k", "her2k", "syrkx", "herkx"), ("symm", "hemm", "spmm"), \
    ("trmm", "trsm")
LEVEL3 = ONE_FACTOR + TWO_FACTORS + ONE_SIDE + TRIANGULAR
WIDE, WIDE_LD = 2**32, 2**33
# What generate.py passes for the groups, said again: op A, op B, m, n, k, lda, ldb, ldc, matrices, alpha, beta.
GROUPS = {
    "plain": [(1, 0, 37, 41, 43, 211, 223, 227, 7, 2, 1), (1, 0, 37, 41, 43, 211, 223, 227, 2, 2, 1),
              (1, 0, 53, 41, 43, 211, 223, 227, 0, 2, 1), (1, 0, 0, 41, 43, 211, 223, 227, 3, 2, 1)],
    "swapped": [(0, 1, 37, 41, 43, 211, 223, 227, 7, 2, 1), (1, 1, 5, 41, 61, 307, 311, 313, 1, 3, 2),
                (0, 1, 53, 41, 43, 211, 223, 227, 0, 3, 2), (0, 1, 0, 41, 43, 211, 223, 227, 3, 3, 2),
                (0, 2, 59, 41, 43, 211, 223, 227, 11, 3, 2)],
    "wide": [(0, 0, 2**32 + 37, 41, 43, 2**33 + 211, 223, 2**33 + 227, 1, 2, 1),
             (0, 0, 37, 41, 43, 211, 223, 227, 2**32 + 7, 2, 1)],
}
GROUPS["device"] = [g[:9] + (4, 4) for g in GROUPS["plain"]]
# Of the groups with work: op A, op B, m, n, k, lda, ldb, ldc, all matrices; alpha, beta.
IN_COMMON = {"plain": (1, 0, 37, 41, 43, 211, 223, 227, 9, 2, 1), "swapped": (255, 255, -1, 41, -1, -1, -1, -1, 19, 0, 0),
             "wide": (0, 0, -1, 41, 43, -1, 223, -1, 2**32 + 8, 2, 1), "device": (1, 0, 37, 41, 43, 211, 223, 227, 9, 4, 4)}


def parts(function):
    return NAME.match(function)


def family(function):
    return parts(function)["family"]


def types_of(function):
    """A, B, C, D, compute, scale by the function's name."""
    name = parts(function)
    if name["types"] == "Uint8":
        return [8] * 4, -1, -1
    if name["types"] == "G" or name["rest"].startswith("Ex") and name["types"] == "S":
        return [14, 14, 0, 0], 68, 0
    if len(name["types"]) == 3:
        a, y = {"H": 2, "T": 14}[name["types"][0]], {"H": 2, "T": 14, "S": 0}[name["types"][2]]
        return [a, a, y, y], 68, 0
    value, compute, scale = LETTER[name["types"]]
    if family(function) == "herk":
        scale = {4: 0, 5: 1}[scale]
    return [value] * 4, compute, scale


def is_legacy(function):
    return (re.match(r"cublas[SDCZ](gem[mv]|symm|trmm|trsm|syrk|syr2k)$|cublas[CZ](hemm|herk|her2k)$", function)) is not None


def is_xt(function):
    return parts(function)["xt"] is not None


def wide_size_of(function):
    """Which size is beyond 32 bits in the variant wide, but for batches."""
    kind = family(function)
    return "n" if kind in ONE_SIDE + TRIANGULAR else "k" if kind in LEVEL3 else "m"


def shape_of(function, variant):
    """What the call's numbers and modes are."""
    kind, rest = family(function), parts(function)["rest"]
    swapped, conjugated, wide = variant == "swapped", variant == "conjugated", variant == "wide"
    first, second = (2, 2) if conjugated else (0, 1) if swapped else (1, 0)
    batched = "Batched" in rest
    more = WIDE if wide and not batched else 0
    ld = [LDA, LDB, LDC] if not more else [WIDE_LD + l for l in (LDA, LDB, LDC)]
    wide_size = wide_size_of(function)
    m, n, k = M + more * (wide_size == "m"), N + more * (wide_size == "n"), K + more * (wide_size == "k")
    e = {"kind": 1, "m": m, "n": n, "k": k, "trans_a": first, "trans_b": second, "side": 255, "fill_mode": 255,
         "diagonal": 0, "batch": 1, "batch_mode": 0, "batch_stride": [0, 0, 0, 0], "groups": 0, "plane_offset": [0, 0, 0, 0]}
    if kind == "gemv":
        e.update(kind=2, k=1, trans_b=0)
        ld = [ld[0], INCX, INCY]
    elif kind in LEVEL3:
        e.update(kind=3, trans_b=0, fill_mode=0 if swapped else 1)
        if kind in ONE_SIDE + TRIANGULAR:
            e.update(side=1 if swapped else 0, k=n if swapped else m)
        else:
            e.update(m=n)
        if kind in TRIANGULAR:
            e.update(diagonal=1 if swapped else 2)
        if kind in ONE_SIDE:
            e.update(trans_a=0)
            ld[0] = -1 if kind == "spmm" else ld[0]
        if kind in ONE_FACTOR:
            ld[1] = -1
        if kind == "trsm" or kind == "trmm" and is_legacy(function):
            ld[2] = ld[1]
    if "Grouped" in rest:
        e.update(batch_mode=3, m=-1, n=-1, k=-1, batch=-1, trans_a=255, trans_b=255)
        ld = [-1, -1, -1]
    elif batched:
        e.update(batch=BATCH + (WIDE if wide else 0), batch_mode=1 if "Strided" in rest else 2)
        if "Strided" in rest:
            e.update(batch_stride=[STRIDES[0], STRIDES[1], STRIDES[2], STRIDES[2]])
    e["ld"] = [ld[0], ld[1], ld[2], ld[2]]
    return e


GROUP_ARRAYS = ("transa_array", "transb_array", "m_array", "n_array", "k_array", "lda_array", "ldb_array", "ldc_array", "group_size")


def expect_groups(e, call):
    """What the arrays say, where they could be read."""
    if call["null"] in GROUP_ARRAYS:
        e.update(flags=ARGS_NOT_READ, alpha=0, beta=0)
        return
    common = IN_COMMON[call["variant"]]
    ld = list(common[5:8])
    known = call["null"] != "handle"
    e.update(trans_a=common[0], trans_b=common[1], m=common[2], n=common[3], k=common[4], ld=ld + ld[2:], batch=common[8],
             alpha=common[9] if known and call["null"] != "alpha_array" else 0,
             beta=common[10] if known and call["null"] != "beta_array" else 0)
    del e["groups"]


def expect_cublas(call, device):
    function, variant, null = call["function"], call["variant"], call["null"]
    types, compute, scale = types_of(function)
    e = {"library": 1, "provenance": 1, "type": types, "type_compute": compute, "type_scale": scale, "order": [0, 0, 0, 0],
         "scale_mode": [-1, -1, -1, -1], "epilogue": 1, "type_bias": -1, "type_aux": -1, "flags": 0}
    e.update(shape_of(function, variant))
    alpha, beta = SCALARS.get(variant, SCALARS["plain"])
    if is_legacy(function) or is_xt(function):  # on the host in any case: the device variant passes one
        alpha, beta = (2, 2) if variant == "device" else (alpha, beta)
        e.update(pointer_mode=0, math_mode=-1, stream=UNKNOWN_STREAM)
    elif null == "handle":
        alpha, beta = 0, 0
        e.update(pointer_mode=255, math_mode=-1, stream=UNKNOWN_STREAM)
    else:
        e.update(pointer_mode=1 if variant == "device" else 0, math_mode=device["math_mode"], stream=device["stream"])
    e.update(alpha=0 if null == "alpha" else alpha, beta=0 if null == "beta" else beta)
    if family(function) in TRIANGULAR:  # no beta: as good as zero
        e.update(beta=1)
    if parts(function)["types"] == "Uint8":
        e.update(alpha=0, beta=1)
    if "Grouped" in function and call["status"] == 0:
        expect_groups(e, call)
    return e


def expect_lt(call, device):
    variant, null = call["variant"], call["null"]
    first, second = (0, 1) if variant == "swapped" else (1, 0)
    alpha, beta = SCALARS.get(variant, SCALARS["plain"])
    planar = variant == "planar"
    e = {"kind": 1, "library": 2, "provenance": 2, "m": M, "n": N, "k": K, "trans_a": first, "trans_b": second,
         "type": [6 if planar else 14] * 4, "type_compute": 68, "type_scale": 4 if planar else 0, "ld": [LDA, LDB, LDC, LDD],
         "batch": BATCH, "batch_mode": 2 if variant == "pointers" else 1, "batch_stride": STRIDES[:],
         "order": [1, 2, 3, 3] if variant == "ordered" else [0] * 4, "plane_offset": PLANES[:] if planar else [0] * 4,
         "scale_mode": [-1] * 4, "epilogue": 4, "type_aux": -1, "flags": BIAS, "groups": 0, "side": 255, "fill_mode": 255,
         "diagonal": 0, "alpha": 0 if null == "alpha" else alpha, "beta": 0 if null == "beta" else beta,
         "pointer_mode": 1 if variant == "device" else 0, "math_mode": -1, "stream": 0 if null == "stream" else device["stream"]}
    if null in ("computeDesc", "Adesc", "Bdesc", "Ddesc"):
        e = {"flags": ARGS_NOT_READ, "m": -1, "n": -1, "k": -1, "batch": -1, "type": [-1] * 4, "alpha": 0, "beta": 0}
    elif null == "Cdesc":
        e["type"][2] = e["ld"][2] = -1
        e["batch_stride"][2] = e["plane_offset"][2] = -1
        e.pop("order")
    return e


def expect_failed(call, device):
    """By-value shape only."""
    if call["function"] == "cublasLtMatmul":
        return {"flags": ARGS_NOT_READ, "m": -1, "n": -1, "k": -1, "alpha": 0, "beta": 0}
    e = expect_cublas(call, device)
    keep = {key: e[key] for key in ("kind", "m", "n", "k", "trans_a", "trans_b", "type", "type_compute", "ld", "batch",
                                    "batch_mode", "batch_stride", "side", "fill_mode", "diagonal", "groups")}
    keep.update(flags=ARGS_NOT_READ, alpha=0, beta=0, math_mode=-1, pointer_mode=255, status=call["status"])
    return keep


def expect_operands(call):
    """Which of three addresses is there, by parameter name: the rest of the pattern is fixed by the program's memory."""
    lists = {"A": 0, "AP": 0, "Aarray": 0, "B": 1, "Barray": 1, "x": 1, "xarray": 1, "C": 2, "Carray": 2, "y": 2, "yarray": 2}
    if call["function"] == "cublasLtMatmul":
        lists.update(D=2)
        del lists["C"]
    missing = [lists.get(call["null"])]
    if writes_b(call["function"]) and missing == [1]:
        missing.append(2)
    if call["function"] != "cublasLtMatmul" and family(call["function"]) in ONE_FACTOR:
        missing.append(1)
    return [index not in missing for index in range(3)]


def writes_b(function):
    kind = "" if function == "cublasLtMatmul" else family(function)
    return kind == "trsm" or kind == "trmm" and is_legacy(function)


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
    if a and b and d and (b - a, d - a) != (65536, 65536 * (3 if lt else 1 if writes_b(call["function"]) else 2)):
        problem(f"call {call['index']} {call['function']}: operands in a wrong order {record['operand']}")


def check_groups(calls, records):
    """Each grouped call that could be read refers to a list in its own block, which says what was passed, in that order."""
    lists = {(r["block"], r["id"]): r["group"] for r in records if r["record"] == "groups"}
    recorded = [r for r in records if r["record"] in ("call", "failed")]
    seen = 0
    for call, record in zip(calls, recorded):
        if not record["groups"]:
            if "Grouped" in call["function"] and record["record"] == "call" and not record["flags"] & ARGS_NOT_READ:
                problem(f"call {call['index']} {call['function']}: no groups are recorded")
            continue
        seen += 1
        listed = lists.get((record["block"], record["groups"]))
        if listed is None:
            problem(f"call {call['index']} {call['function']}: its groups are not in its block")
            continue
        got = [(g["trans_a"], g["trans_b"], *g["size"][:3], *g["ld"], g["size"][3], g["alpha"], g["beta"]) for g in listed]
        unknown = {"handle": (0, 0), "alpha_array": (0, None), "beta_array": (None, 0)}.get(call["null"], (None, None))
        wanted = [g[:9] + tuple(s if u is None else u for s, u in zip(g[9:], unknown)) for g in GROUPS[call["variant"]]]
        if got != wanted:
            problem(f"call {call['index']} {call['function']} ({call['variant']}, NULL {call['null']}): groups {got}, expected {wanted}")
    if any("Grouped" in c["function"] and c["status"] == 0 for c in calls) and not seen:
        problem("no call with groups is recorded")


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


LEDGER_PASSED = {"m": M, "n": N, "k": K, "lda": LDA, "ldb": LDB, "ldc": LDC, "incx": INCX, "incy": INCY, "batchCount": BATCH,
                 "strideA": STRIDES[0], "strideB": STRIDES[1], "strideC": STRIDES[2], "stridex": STRIDES[1], "stridey": STRIDES[2]}


def ledger_passed(call):
    """By name, what was passed."""
    passed = dict(LEDGER_PASSED)
    if "Batched" not in call["function"]:
        del passed["batchCount"]
    if call["variant"] == "wide" and "Batched" in call["function"]:
        passed["batchCount"] += WIDE
    elif call["variant"] == "wide":
        for name in ("lda", "ldb", "ldc"):
            passed[name] += WIDE_LD
        passed[wide_size_of(call["function"])] += WIDE
    return passed


LEDGER_GROUPS = ("transa_values", "transb_values", "m_values", "n_values", "k_values", "lda_values", "ldb_values", "ldc_values",
                 "group_size_values")


def check_ledger_groups(call, args, where):
    """What the simulator found in the arrays is what was passed: the record is held against that elsewhere."""
    if call["status"]:
        return
    for index, name in enumerate(LEDGER_GROUPS):
        wanted = [g[index] for g in GROUPS[call["variant"]]]
        if args.get(name) != wanted:
            problem(f"{where}: the ledger says {name} = {args.get(name)}, passed {wanted}")


# The ledger's name of what a record's field holds.
LEDGER_RECORDED = {"m": ["m"], "n": ["n"], "k": ["k"], "batchCount": ["batch"], "Atype": ["type", 0], "Btype": ["type", 1],
                   "Ctype": ["type", 2], "computeType": ["type_compute"], "lda": ["ld", 0], "ldb": ["ld", 1],
                   "incx": ["ld", 1], "ldc": ["ld", 2], "incy": ["ld", 2], "ldd": ["ld", 3], "strideA": ["batch_stride", 0],
                   "strideB": ["batch_stride", 1], "strideC": ["batch_stride", 2], "transa": ["trans_a"], "transb": ["trans_b"],
                   "trans": ["trans_a"], "epilogue": ["epilogue"], "stridex": ["batch_stride", 1], "stridey": ["batch_stride", 2],
                   "side": ["side"], "uplo": ["fill_mode"]}
for index, operand in enumerate("ABCD"):  # of cublasLt's layouts
    LEDGER_RECORDED.update({f"{operand}_order": ["order", index], f"{operand}_plane_offset": ["plane_offset", index]})
CHARACTERS = {"trans": "NTC", "transa": "NTC", "transb": "NTC", "side": "LR", "uplo": "LU", "diag": "NU"}
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
        for name, value in ledger_passed(call).items():
            if name in args and int(args[name]) != value:
                problem(f"{where}: the ledger says {name} = {args[name]}, passed {value}")
    if "Grouped" in call["function"]:
        check_ledger_groups(call, args, where)
    if (lt or not is_legacy(call["function"])) and line["status"] != call["status"]:
        problem(f"{where}: the ledger says it returned {line['status']}, the program got {call['status']}")
    if lt and record["m"] == -1:
        return  # descriptors of a call that failed are not read
    batched = "Batched" in call["function"] or lt
    names = dict(LEDGER_RECORDED)
    if record["record"] == "call" and not lt and not is_legacy(call["function"]) and not is_xt(call["function"]):
        names.update(LEDGER_MODES)
    for name, path in names.items():
        if args.get(name) is None or (name.startswith("stride") and not batched):
            continue
        value = int(args[name])
        if name in CHARACTERS and not lt and is_legacy(call["function"]):
            value = CHARACTERS[name].index(chr(value).upper())
        if field_of(record, path) != value:
            problem(f"{where}: the ledger says {name} = {args[name]}, recorded {field_of(record, path)}")
    if lt and record["record"] == "call" and record["batch_mode"] != {0: 1, 1: 2}[int(args["D_batch_mode"])]:
        problem(f"{where}: the ledger says D_batch_mode = {args['D_batch_mode']}, recorded {record['batch_mode']}")
    if "diag" in args:
        diagonal = int(args["diag"]) if not is_legacy(call["function"]) else "NU".index(chr(int(args["diag"])).upper())
        if record["diagonal"] != diagonal + 1:
            problem(f"{where}: the ledger says diag = {args['diag']}, recorded {record['diagonal']}")
    if record["record"] == "call" and "beta_kind" in args and BETA.get(record["beta"]) != args["beta_kind"]:
        problem(f"{where}: the ledger says beta is {args['beta_kind']}, recorded {record['beta']}")


def check_nested(lines):
    """Of the entries that have one to call, each called it: else nothing was shown."""
    inside = {l["function"] for l in lines if l["type"] == "call" and l["nested"]}
    for function in ("cublasLtMatmul", "cublasGemmEx", "cublasSgemm_v2_64", "cublasZherkx_64", "cublasCtrsm_v2_64"):
        if function not in inside:
            problem(f"no call of {function} was nested")


def check_ledger(calls, records, launched, path):
    for call in calls:  # but for missing pointers, the simulator takes every call: a test of refusals alone would show nothing
        if call["null"] == "-" and call["status"]:
            problem(f"call {call['index']} {call['function']} ({call['variant']}): the simulator returned {call['status']}")
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
    parser.add_argument("--nested", action="store_true", help="on a device that says gemm_nested")
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
        check_groups(library, records)
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
        if options.nested:
            check_nested([json.loads(line) for line in open(options.ledger)])
    for text in problems[:40]:
        print(text)
    if problems:
        sys.exit(f"{len(problems)} differences")
    print(f"{len(recorded)} calls and {len(launched)} launches agree")


if __name__ == "__main__":
    main()
