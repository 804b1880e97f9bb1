#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""vLLM on the simulated GPU, alone and under `rooftap record`: what both said and how they ended is the same, every process
that used the GPU is in the report under its parent, and each has exactly the calls, launches and kernels of its ledger.

    test_vllm.py BUILD_FOLDER eager|worker|graphs

The first run makes the environment (../pytorch/setup.sh): requirements.txt tells how large it is. Prints how long each run
took to end, which nothing depends on."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parents[1]
CACHE = pathlib.Path(os.environ.get("ROOFTAP_CACHE", TESTS.parent / ".deps"))
DEVICE = TESTS / "real" / "pytorch" / "h100-sxm.device"
# Arguments of serve.py, and the processes below the command, each with its parent: None is the command.
CASES = {"eager": ([], {"VLLM::EngineCore": None}),
         "worker": (["--worker"], {"VLLM::Worker": "VLLM::EngineCore"}),
         "graphs": (["--graphs"], {"VLLM::EngineCore": None})}
PROMPTS, LAYERS = 4, 4
HANG_S = 1500

build, case = sys.argv[1:3] if len(sys.argv) == 3 else sys.exit(__doc__)
NEW_TOKENS = 200 if case == "graphs" else 16  # serve.py has room for 256 of a prompt and its answer
os.environ["E2E_BUILD"] = build
sys.path.insert(0, str(TESTS / "e2e"))
import ledger  # noqa: E402
import recording  # noqa: E402


def settings(scratch):
    """What vLLM is told by its environment. The runner: the newer one waits for a count that a kernel would compute. The
    sampler: FlashInfer's would be compiled by nvcc first. The patience: on a busy machine the engine needs longer for its
    shutdown than the 5 s after which it is killed. The rest keeps it from the network and in the scratch folder, and lets each run
    compile by itself."""
    folders = {"VLLM_CACHE_ROOT": "vllm", "TORCHINDUCTOR_CACHE_DIR": "inductor", "TRITON_CACHE_DIR": "triton",
               "FLASHINFER_WORKSPACE_BASE": "flashinfer", "XDG_CACHE_HOME": "cache", "TMPDIR": "tmp"}
    (scratch / "tmp").mkdir(parents=True, exist_ok=True)
    return {"VLLM_USE_V2_MODEL_RUNNER": "0", "VLLM_USE_FLASHINFER_SAMPLER": "0", "VLLM_WORKER_SHUTDOWN_TIMEOUT_SECONDS": "120",
            "VLLM_LOGGING_STREAM": "ext://sys.stderr", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1",
            **{name: str(scratch / folder) for name, folder in folders.items()}}


class Run:
    """A run of serve.py that has ended: status, out, err, how long it took, and from its answer to its end."""

    def __init__(self, command, environment, scratch):
        errors = open(scratch / "stderr", "w+")
        start = time.monotonic()
        with subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=errors, cwd=scratch) as process:
            lines = []
            self.answered = start
            for line in process.stdout:
                lines.append(line)
                self.answered = time.monotonic()
            self.status = process.wait(HANG_S)
        self.ending_s = time.monotonic() - self.answered
        self.seconds = time.monotonic() - start
        errors.seek(0)
        self.out, self.err = "".join(lines), errors.read()


def launches_of_ledger(lines):
    """Kernels by name that the program launched itself, outside of graphs: each was one launch."""
    kernels = [line for line in lines if line["type"] == "kernel"]
    return collections.Counter(line["name"] for line in kernels if not line["call"] and not line["graph"])


class Vllm(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        setup = subprocess.run([TESTS / "real" / "pytorch" / "setup.sh", CACHE / "venv-vllm", HERE / "requirements.txt"],
                               check=True, stdout=subprocess.PIPE, text=True)
        folder = tempfile.TemporaryDirectory(prefix="rooftap-vllm-")
        cls.addClassCleanup(folder.cleanup)
        scratch = pathlib.Path(folder.name)
        model = scratch / "model"
        subprocess.run([sys.executable, HERE / "model_config.py", model], check=True)
        arguments, cls.wanted = CASES[case]
        command = [setup.stdout.splitlines()[-1], str(HERE / "serve.py"), str(model), *arguments, "--prompts", str(PROMPTS),
                   "--new-tokens", str(NEW_TOKENS)]
        alone = {"LD_LIBRARY_PATH": str(recording.STAND_INS), "SIMGPU_DEVICE": str(DEVICE)}
        cls.alone = Run(command, recording.clean_environment({**settings(scratch / "alone"), **alone}), scratch)
        cls.session = recording.Session(scratch / "session")
        # Triton asks the driver for its launch function by name.
        environment = cls.session.environment({**settings(scratch / "recorded"), "ROOFTAP_LOOKUP": "on"})
        cls.recorded = Run(cls.session.record_command(command, "h100-sxm"), environment, scratch)
        for name, run in (("alone", cls.alone), ("recorded", cls.recorded)):
            print(f"{case} {name}: {run.seconds:.1f} s, {run.ending_s:.2f} s of them from the answer to the end", flush=True)
        if cls.alone.status or cls.recorded.status:
            sys.exit("\n".join(f"{run.status}: {run.err[-4000:]}" for run in (cls.alone, cls.recorded)))

    def test_same_answers_and_end(self):
        self.assertEqual(json.loads(self.alone.out), {"answers": [NEW_TOKENS] * PROMPTS})
        self.assertEqual((self.recorded.status, self.recorded.out), (self.alone.status, self.alone.out))

    def test_shutdown_unharmed(self):
        """The engine ended by itself: nobody had to lose patience with it."""
        for run in (self.alone, self.recorded):
            self.assertIn("[shutdown] EngineCore: exiting busy loop", run.err)
            self.assertNotIn("force killing", run.err)
        self.assertNotIn("rooftap", self.recorded.err.replace(str(self.session.folder.parent), "")
                         .replace(str(TESTS.parent), ""))

    def test_every_process(self):
        """Each that has a ledger is in the report, and so is who started it."""
        processes = self.session.processes()
        used = {int(path.rsplit("-", 1)[1]) for path in self.session.ledgers
                if any(line["type"] in ("kernel", "call") for line in recording.read_lines(path))}
        self.assertEqual(sorted(pid for pid, process in processes.items() if process["kernels"]), sorted(used))
        command = self.session.report["session"]["target_pid"]
        self.assertEqual(self.session.report["session"]["end"], "exit 0")
        self.assertEqual({processes[pid]["command"] for pid in used}, set(self.wanted))
        for pid in used:
            if self.wanted[processes[pid]["command"]] is None:
                self.assertEqual(processes[pid]["parent"], command)

    def test_each_process_equals_its_ledger(self):
        for pid, process in self.session.processes().items():
            lines = self.session.ledger_of(pid)
            calls = [line for line in lines if line["type"] == "call" and not line["nested"]]
            found = {key: process[key] for key in ("calls", "failed_calls", "kernels", "calls_missing", "launches_missing",
                                                   "records_dropped", "in_flight", "calls_unseen", "timing_cut")}
            self.assertEqual(found, {"calls": sum(call["status"] == 0 for call in calls),
                                     "failed_calls": sum(call["status"] != 0 for call in calls),
                                     "kernels": sum(line["type"] == "kernel" for line in lines), "calls_missing": 0,
                                     "launches_missing": 0, "records_dropped": 0, "in_flight": [], "calls_unseen": False,
                                     "timing_cut": False})
            self.assertIn("dlsym", process["hook_level"])

    def test_report_equals_ledger(self):
        """By shape and types, by kernel name, times to the nanosecond; every layer has its four products in each step."""
        ledger.assert_equal(self, self.session)
        decoding = [row for row in self.session.report["operators"] if row["kind"] == "gemm" and row["m"] == PROMPTS]
        for n, k in ((512, 256), (256, 256), (1024, 256), (256, 512)):
            rows = [row for row in decoding if (row["n"], row["k"]) == (n, k)]
            self.assertGreaterEqual(sum(row["executions"] for row in rows), LAYERS * (NEW_TOKENS - 2), f"N {n}, K {k}")

    def test_every_replay(self):
        """Each kernel of each launch of a graph is in the report, under the call or launch that was captured, and executed as often."""
        kernels = [line for line in self.session.ledger("kernel") if line["graph"]]
        launches = {(line["pid"], line["correlation"]) for line in kernels}
        replays = [process["graph_replays"] for process in self.session.report["processes"] if process["graph_replays"]]
        found = [sum(each[key] for each in replays) for key in ("launches", "kernels_launched", "kernels_timed", "graphs_unknown")]
        self.assertEqual(found, [len(launches), len(kernels), len(kernels), 0])
        self.assertGreaterEqual(len(launches), NEW_TOKENS - 2 if case == "graphs" else 0)
        self.assertEqual(bool(kernels), case == "graphs")
        coverage = self.session.report["coverage"]
        self.assertEqual([coverage[key] for key in ("graph_kernels_unjoined", "kernels_unjoined", "executions_without_time")], [0, 0, 0])
        entries = ledger.compare.read_ledger(self.session.ledgers)
        self.assertEqual(ledger.compare.executions_of_report(self.session.report), ledger.compare.executions_of_ledger(entries))

    def test_every_launch(self):
        """By kernel name, Triton's as well: as many launches as kernels, where no graph runs one launch often."""
        launched = launches_of_ledger(self.session.ledger())
        reported = {row["name"]: row["calls"] for row in self.session.report["operators"] if not row["cublas"] and row["calls"]}
        captured = {line["name"] for line in self.session.ledger("kernel") if line["graph"]}
        self.assertEqual(bool(captured), case == "graphs")
        self.assertNotIn(None, reported)
        for name in sorted(set(launched) | set(reported)):
            if name in captured:
                self.assertGreater(reported[name], 0, name)
                self.assertGreaterEqual(reported[name], launched[name], name)
            else:
                self.assertEqual(reported.get(name), launched.get(name), name)
        self.assertIn("_topk_topp_kernel", launched)  # Triton's

    def test_text(self):
        """What a user reads of it: where the time went, and no word of anything lost."""
        text = self.session.text
        print(text)
        self.assertNotIn("INCOMPLETE", text)
        if case == "graphs":
            self.assertRegex(" ".join(text.split()), r"graphs: \d+, launched \d+ times; ([\d,]+) of their \1 kernels timed one by one; "
                             r"nodes are told by CUPTI's callbacks")
        self.assertNotIn("(name not known)", text)
        for name in self.wanted:
            self.assertRegex(text, rf"process +\d+ {name}: ")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2, warnings="ignore")
