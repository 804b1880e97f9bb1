# SPDX-License-Identifier: Apache-2.0
"""Sessions in which every text that a stranger chooses is one of a list of hostile names."""
import itertools
import json
import pathlib
import sys

import hostile_names
import trace_bytes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "books"))
import gguf_file  # noqa: E402

MOST_OF_A_RECORD = 60000


def file_name(name):
    """Without what no file can be called; never one that is hidden, or the folder itself."""
    return b"n" + name.replace(b"/", b"|").replace(b"\0", b"")[:200]


def letters(name):
    """A text for JSON files, which hold no invalid UTF-8."""
    return hostile_names.as_json(name)


def write_trace(folder, names, pid):
    """The kernels of NAMES, each launched by itself and some by a library call; all other texts of the trace in turn, too."""
    turn = itertools.cycle(names)
    trace = trace_bytes.Trace(pid)
    short = [name[:4000] for name in names]
    trace.process(b"\0".join(short)[:40000], next(turn)[:200])
    trace.entry(1, b"cublasGemmEx")
    trace.entry(2, b"cuLaunchKernel")
    trace.device(next(turn))
    trace.note("hook_level", b"preload")
    trace.note("timing_on", next(turn)[:2000])
    for code in ("device", "shapes_off", "escaped", "rank", "profiler", "graphs", "lengths", "join", "writer", "blas", "overhead"):
        trace.note(code, next(turn)[:MOST_OF_A_RECORD], 1)
    trace.timing(next(turn)[:4000])
    for i, name in enumerate(names):
        identity = trace.name(name[:MOST_OF_A_RECORD])
        trace.launch(identity, 3000 + i)
        if i % 8 == 0:
            trace.gemm(1 + i, 4096, 4096, identity, 20000 + i)
        if i % 5 == 0:
            trace.mark(name[:2000])
    trace.write(folder)


def write_session_file(folder, names):
    turn = itertools.cycle(names)
    facts = {key: letters(next(turn)) for key in ("rooftap_version", "working_directory", "host", "kernel", "simulate")}
    facts.update(schema=1, command=[letters(name) for name in names], started_realtime_ns=1_799_999_999_000_000_000,
                 ended_realtime_ns=1_800_000_009_000_000_000, target_pid=1, exit={"kind": "exit", "value": 0},
                 clocks={"samples": 0, "problem": letters(next(turn))},
                 unused_cuda=[{"pid": 3, "runtime": letters(next(turn)), "driver": letters(next(turn))}],
                 settings={letters(name): letters(name) for name in names[:20]})
    # Half with escapes, half as it is: both are JSON.
    (folder / "session.json").write_text(json.dumps(facts, ensure_ascii=len(names) % 2 == 0), encoding="utf-8", errors="surrogatepass")


def write_broken_files(folder, names):
    """Files that are no traces, each a line among the problems."""
    for name in names:
        (pathlib.Path(folder) / (file_name(name) + b".trace").decode("utf-8", "surrogateescape")).write_bytes(b"no trace")


def write(folder, names, processes=1, broken=True):
    """BROKEN: with files that are no traces, too."""
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(processes):
        write_trace(folder, names[i:] + names[:i], 1000 + i)
    write_session_file(folder, names)
    if broken:
        write_broken_files(folder, names[:12])
    return folder


def write_model(path, names):
    """A GGUF whose matrices, metadata and file are called so; the first one has the shape of the session's products."""
    tensors = [(f"blk.0.{letters(name)}.weight", "f16", (4096, 4096)) for name in names]
    gguf_file.write(path, {"general.architecture": "llama", "general.name": letters(names[0]), "llama.block_count": 1}, tensors)


def write_gpu_table(path, name):
    row = {"key": "hostile", "name": letters(name), "driver_names": [letters(name)], "pci_device_ids": ["0x2684"], "sm_count": 128,
           "bytes_per_second": 1e12, "flops_per_second": {"bf16": 1e14}, "source": letters(name)}
    path.write_text(json.dumps({"gpus": [row]}))


def write_kernel_table(path, name):
    rows = [{"function": letters(name), "family": "attention", "example": letters(name), "source": letters(name)}]
    path.write_text(json.dumps({"kernels": rows}))
