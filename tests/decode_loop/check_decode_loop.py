#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs decode_loop on the simulated GPU and compares the ledger with what follows from config.json, worked out here.

    check_decode_loop.py DECODE_LOOP LIBRARIES CONFIG"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

BYTES = 2  # bf16
failures = []


def expect(what, got, wanted):
    if got != wanted:
        failures.append(f"{what}: expected {wanted!r}, got {got!r}")


def run(arguments, folder):
    """Exit status, output, errors, ledger of one run in an environment of its own."""
    ledger = folder / "ledger.jsonl"
    ledger.unlink(missing_ok=True)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("SIMGPU_", "LD_"))}
    environment.update(LD_LIBRARY_PATH=LIBRARIES, SIMGPU_LEDGER=str(ledger))
    done = subprocess.run([PROGRAM, *arguments], env=environment, capture_output=True, text=True, timeout=60)
    lines = [json.loads(line) for line in ledger.read_text().splitlines()] if ledger.exists() else []
    return done.returncode, done.stdout, done.stderr, lines


def expected_calls(config, batch, steps, layers, bias):
    """(function, m, n, k, flops, bytes) -> how often. m counts outputs, n the batch, k inputs."""
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    heads = config["num_attention_heads"]
    size = config.get("head_dim", hidden // heads)
    q, kv = heads * size, config.get("num_key_value_heads", heads) * size
    layer = [(q, hidden, bias), (kv, hidden, bias), (kv, hidden, bias), (hidden, q, False),
             (inner, hidden, False), (inner, hidden, False), (hidden, inner, False)]
    calls = collections.Counter()
    for outputs, inputs, biased in layer * layers + [(config["vocab_size"], hidden, False)]:
        flops = 2 * batch * outputs * inputs
        moved = BYTES * (batch * inputs + outputs * inputs + batch * outputs) + (BYTES * outputs if biased else 0)
        calls["cublasLtMatmul" if biased else "cublasGemmEx", outputs, batch, inputs, flops, moved] += steps
    return calls


def ledger_calls(lines):
    calls = collections.Counter()
    for line in lines:
        if line["type"] != "call":
            continue
        args = line["args"]
        expect("status", line["status"], 0)
        expect("nested", line["nested"], False)
        expect("types", (args["Atype"], args["Btype"], args["Ctype"], args["computeType"]), (14, 14, 14, 68))
        expect("operations", (args["transa"], args["transb"]), (1, 0))
        expect("leading dimensions", (args["lda"], args["ldb"], args["ldc"]), (args["k"], args["k"], args["m"]))
        if line["function"] == "cublasLtMatmul":
            expect("epilogue", args["epilogue"], 4)
            expect("bias", isinstance(args["bias"], str), True)
        calls[line["function"], args["m"], args["n"], args["k"], args["flops"], args["bytes"]] += 1
    return calls


def compare(name, config_path, arguments, batch, steps, layers, bias, folder):
    status, output, errors, lines = run(arguments, folder)
    expect(f"{name}: exit status ({errors.strip()})", status, 0)
    expect(f"{name}: lines of output", output.count("\n"), 1)
    config = json.loads(pathlib.Path(config_path).read_text())
    wanted = expected_calls(config, batch, steps, layers, bias)
    expect(f"{name}: calls", ledger_calls(lines), wanted)
    kernels = [line for line in lines if line["type"] == "kernel"]
    expect(f"{name}: kernels", len(kernels), sum(wanted.values()))
    counts = collections.Counter(key[0] for key in wanted.elements())
    for function in ("cublasGemmEx", "cublasLtMatmul"):
        expect(f"{name}: says {function}", f"{counts[function]} {function}" in output, True)
    return wanted


def check_replays(folder):
    """One step as it is, one captured, which only is asked for, and replays of that one."""
    steps, layers = 6, 2
    status, output, errors, lines = run(["--graph", "--times", "--steps", str(steps), "--layers", str(layers)], folder)
    expect(f"replays: exit status ({errors.strip()})", status, 0)
    wanted = expected_calls(json.loads(pathlib.Path(CONFIG).read_text()), 256, 2, layers, True)
    expect("replays: calls", ledger_calls(lines), wanted)
    kernels = [line for line in lines if line["type"] == "kernel"]
    a_step = sum(wanted.values()) // 2
    expect("replays: kernels", len(kernels), steps * a_step)
    expect("replays: kernels of graphs", sum(line["graph"] != 0 for line in kernels), (steps - 1) * a_step)
    expect("replays: times", [line.split()[0] for line in output.splitlines()], ["step_ns"] * steps + ["decode_loop:"])


def intensities(calls):
    """Shown intensity by (M, N, K) as a user reads them, one digit."""
    return {(n, m, k): f"{flops / moved:.1f}" for (_, m, n, k, flops, moved) in calls}


def bad_inputs(folder):
    good = json.loads(pathlib.Path(CONFIG).read_text())
    broken = {
        "missing.json": None,
        "cut.json": '{"hidden_size": 35',
        "array.json": "[]",
        "no_hidden.json": json.dumps({k: v for k, v in good.items() if k != "hidden_size"}),
        "text.json": json.dumps({**good, "vocab_size": "many"}),
        "negative.json": json.dumps({**good, "num_hidden_layers": -1}),
        "heads.json": json.dumps({**good, "num_key_value_heads": 5}),
        "odd.json": json.dumps({**good, "hidden_size": 3585}),
        "huge.json": json.dumps({**good, "intermediate_size": 1 << 40}),
        "bias.json": json.dumps({**good, "attention_bias": 3}),
    }
    for name, text in broken.items():
        path = folder / name
        if text is not None:
            path.write_text(text)
        status, output, errors, lines = run(["--config", str(path)], folder)
        expect(f"{name}: exit status", status, 2)
        expect(f"{name}: error lines", errors.count("\n"), 1)
        expect(f"{name}: names the file", name in errors, True)
        expect(f"{name}: output and CUDA calls", (output, lines), ("", []))
    for arguments in (["--batch", "0"], ["--batch", "x"], ["--steps"], ["--layers", "-3"], ["extra"], ["--nonsense"]):
        status, _, errors, _ = run(arguments, folder)
        expect(f"{arguments}: exit status", status, 2)
        expect(f"{arguments}: error lines", errors.count("\n"), 1)


def failing_calls(folder):
    """A failing library is an error of its own, with exit status 1 and the call's name."""
    for fault, named in (("cublasGemmEx:13", "cublasGemmEx"), ("cublasLtMatmul:14", "cublasLtMatmul"),
                         ("cudaMalloc:2", "cudaMalloc"), ("cublasCreate_v2:1", "cublasCreate")):
        environment = {**os.environ, "LD_LIBRARY_PATH": LIBRARIES, "SIMGPU_FAULT": fault}
        done = subprocess.run([PROGRAM, "--layers", "1"], env=environment, capture_output=True, text=True, timeout=60)
        expect(f"{fault}: exit status", done.returncode, 1)
        expect(f"{fault}: names the call in {done.stderr.strip()!r}", named in done.stderr, True)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        at_256 = compare("default", CONFIG, [], 256, 1, 28, True, folder)
        shown = intensities(at_256)
        for shape, intensity in {(256, 3584, 3584): "224.0", (256, 512, 3584): "162.9", (256, 18944, 3584): "236.0",
                                 (256, 3584, 18944): "236.0"}.items():
            expect(f"intensity of {shape}", shown.get(shape), intensity)
        single = compare("batch 1", CONFIG, ["--batch", "1", "--steps", "3", "--layers", "2", "--no-bias"], 1, 3, 2,
                         False, folder)
        expect("intensities of batch 1", set(intensities(single).values()), {"1.0"})
        tiny = folder / "tiny.json"
        tiny.write_text(json.dumps({"model_type": "llama", "hidden_size": 96, "intermediate_size": 256,
                                    "num_hidden_layers": 3, "num_attention_heads": 6, "head_dim": 32,
                                    "vocab_size": 1000}))
        compare("head_dim of its own", tiny, ["--config", str(tiny), "--batch", "5", "--layers", "99"], 5, 1, 3, False,
                folder)
        check_replays(folder)
        bad_inputs(folder)
        failing_calls(folder)
    for failure in failures[:20]:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    PROGRAM, LIBRARIES, CONFIG = sys.argv[1:]
    sys.exit(main())
