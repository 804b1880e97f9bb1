#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""C programs with the shim and without it: what they do and see of themselves has to be identical. P10: exit handlers and
destructors of all kinds call cuBLAS, threads are still there. P11: errno, floating-point state and signals after each kind of
call. I08: what is refused, with the sticky error after each. I10: two contexts that take turns, sizes beyond 32 bits."""
import signal

from recording import BUILD, main
from transcript import Row, Transcripts

SUBJECT = str(BUILD / "tests" / "transcript" / "subject")
MODULE = BUILD / "tests" / "transcript" / "libtranscript_module.so"
PULLER = BUILD / "tests" / "transcript" / "libtranscript_puller.so"
SHIM = BUILD / "lib" / "rooftap" / "librooftap.so"
EVERY_ENTRY = str(BUILD / "tests" / "preload" / "preload_calls_sim")
TREE = str(BUILD / "tests" / "trees" / "tree")
ENDINGS = {"return": 8, "exit": 5, "_exit": 6, "quick_exit": 7, "pthread_exit": 0,
           "abort": -signal.SIGABRT, "kill": -signal.SIGKILL, "fault": -signal.SIGSEGV}

# Ledgers only where each process uses CUDA for itself: a forked child's are its parent's, and the order is the run's.
WAYS_OF_TREES = [(("fork_first", "_exit"), 0, "threads"), (("fork_later", "quick_exit"), 0, None), (("exec", "spawn"), 0, "threads"),
                 (("exec", "vfork"), 0, "threads"), (("system",), 0, "threads"), (("exec_self",), 40, None),
                 (("vfork_calls", "later"), 0, None), (("clone", "first"), 0, None), (("close_all",), 0, None)]


def by_injection(session):
    """As the driver loads it, without a preload."""
    return {"CUDA_INJECTION64_PATH": str(SHIM), "ROOFTAP_DIR": str(session)}


def by_program(session):
    """As the program itself loads it."""
    return {"ROOFTAP_DIR": str(session)}


def rows():
    made = [Row(f"ends by {ending}", [SUBJECT, "ending", ending], status, left_by_all=ending == "pthread_exit") for ending, status in ENDINGS.items()]
    made += [
        Row("64 threads at exit", [SUBJECT, "threads"], 8, "threads"),
        Row("64 threads calling at exit", [SUBJECT, "calling"], 8, None),
        Row("destructors", [SUBJECT, "destructors"], 8, "threads"),
        Row("errors", [SUBJECT, "errors"], 8),
        Row("capture", [SUBJECT, "capture"], 8),
        Row("capture first", [SUBJECT, "capture", "first"], 8),
        Row("contexts, large sizes", [SUBJECT, "large"], 8),
        Row("signal handlers", [SUBJECT, "handlers"], 8, None),
        Row("jumps out of handlers", [SUBJECT, "jumps"], 8, None),
        Row("every entry point", [EVERY_ENTRY], 7, of_run="^stream .*"),
    ]
    made += [Row(f"tree: {' '.join(way)}", [TREE, *way], status, ledger, environment={"TREE_TALLY": "/dev/null"})
             for way, status, ledger in WAYS_OF_TREES]
    for name, when in (("first", []), ("later", ["later"])):
        made += [
            Row(f"shim opened {name}", [SUBJECT, "late", *when], 8, alone={"SUBJECT_LATE": str(MODULE)},
                shimmed={"SUBJECT_LATE": str(SHIM)}, inject=by_program, traced=False),
            Row(f"shim pulled in {name}", [SUBJECT, "late", *when], 8, alone={"SUBJECT_LATE": str(MODULE)},
                shimmed={"SUBJECT_LATE": str(PULLER)}, inject=by_program, traced=False),
        ]
    made += [Row("injected by the driver", [SUBJECT, "ending", "return"], 8, inject=by_injection),
             Row("loading and closing", [SUBJECT, "loading", str(MODULE)], 8, "threads"),
             Row("loading, no look-ups", [SUBJECT, "loading", str(MODULE)], 8, "threads", shimmed={"ROOFTAP_LOOKUP": "off"}),
             Row("no look-ups", [SUBJECT, "ending", "return"], 8, shimmed={"ROOFTAP_LOOKUP": "off"}),
             Row("audited", [SUBJECT, "ending", "return"], 8, options=["--audit"]),
             Row("audited loading", [SUBJECT, "loading", str(MODULE)], 8, "threads", options=["--audit"]),
             Row("disabled", [SUBJECT, "ending", "return"], 8, shimmed={"ROOFTAP_DISABLE": "1"}, traced=False),
             Row("untimed", [SUBJECT, "capture"], 8, shimmed={"ROOFTAP_TIMING": "off"})]
    return made


class Programs(Transcripts):
    def test_identical(self):
        self.assertEqual(self.compare_rows(rows()), [])

    def test_sizes_beyond_32_bits(self):
        """I10: 2 * 70000^3 FLOPs, and 2 * 65536 * 4096^3; each context's kernels belong to its calls."""
        session = self.session()
        run = session.record([SUBJECT, "large"])
        self.assertEqual(run.status, 8, run.err)
        flops = {row["name"]: row["flops"] / row["calls"] for row in session.report["operators"] if row["cublas"]}
        self.assertEqual(flops, {"cublasGemmEx": 686000000000000, "cublasSgemmStridedBatched": 2 * 65536 * 4096 ** 3})


if __name__ == "__main__":
    main()
