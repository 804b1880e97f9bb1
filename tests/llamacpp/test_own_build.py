#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""llama.cpp built with CUDA 13 (build_cuda13.sh), whose kernels are launched by __cudaLaunchKernel and, where they may overlap
the one before (programmatic dependent launch), by cudaLaunchKernelExC. With either, and with graphs or without, the same
kernels run, the report equals the ledger, and so do the matrices that it found.

The build's own llama-bench and the driver run it, on devices of compute capability 9.0 and 12.0: the build is for 9.0 on."""
import collections
import json
import os

os.environ.setdefault("LLAMACPP_FOLDER", "cuda13")
import harness  # noqa: E402

PLAIN, CONFIGURED = "__cudaLaunchKernel", "cudaLaunchKernelExC"
NO_OVERLAP, NO_GRAPHS = {"GGML_CUDA_PDL": "0"}, {"GGML_CUDA_DISABLE_GRAPHS": "1"}
WAYS = ({}, NO_OVERLAP, NO_GRAPHS, {**NO_OVERLAP, **NO_GRAPHS})


def launches(session):
    """Of the traces: launches by the function that made them."""
    names = {record["id"]: record["text"] for record in session.records("entry")}
    return collections.Counter(names[record["entry"]] for record in session.records("launch") if not record["parent"])


FORMATS = {"fp32": "f32", "fp16": "f16"}  # of a report, as llama.cpp names them; others are the same


def matrices_of_model(model, prompt, generate):
    """Matrices by (M, N, K, type): how often each is multiplied. One token of a prompt has an output, so of the last layer only
    what comes after its attention takes that one alone."""
    counts, last = collections.Counter(), max(matrix["layer"] or 0 for matrix in model.matrices)
    for matrix in model.matrices:
        if matrix["multiplied"]:
            late = matrix["layer"] is None or (matrix["layer"] == last and ".ffn_" in matrix["name"])
            shape = matrix["n"], matrix["k"], matrix["type"]
            counts[(1 if late else prompt, *shape)] += 1
            counts[(1, *shape)] += generate
    return counts


def matrices_of_report(report):
    counts = collections.Counter()
    for row in report["operators"]:
        launch = row["launch"]
        if row["cublas"]:
            counts[row["m"], row["n"], row["k"], FORMATS.get(row["type_b"], row["type_b"])] += row["executions"] * row["batch"]
        elif launch and launch["kind"] == "matmul":
            shape, kind = launch["matmul"], FORMATS.get(launch["weight_format"], launch["weight_format"])
            counts[shape["m"], shape["n"], shape["k"], kind] += row["executions"] * shape["matrices_most"]
    return counts


def kernels(session):
    return collections.Counter((line["name"], *line["grid"], *line["block"]) for line in session.ledger("kernel"))


class OwnBuild(harness.Case):
    def check(self, session):
        self.assert_ledger_equal(session)
        self.assertEqual([line for line in session.ledger() if line["type"] in ("not_supported", "fault")], [])
        return session

    def run_ways(self, model, *options, device):
        return [self.check(self.run_model(model, *options, device=device, environment=way)) for way in WAYS]

    def test_same_kernels_either_way(self):
        for device in harness.DEVICES:
            for kind in ("q4_K", "f16"):
                sessions = self.run_ways(harness.model(kind), "--prompt", "40", "--generate", "12", device=device)
                with self.subTest(device=device, kind=kind):
                    self.check_ways(*sessions)

    def check_ways(self, overlapping, plain, no_graphs, plain_no_graphs):
        ran = kernels(overlapping)
        for other in (plain, no_graphs, plain_no_graphs):
            self.assertEqual(kernels(other), ran)
        for session in (overlapping, no_graphs):
            self.assertEqual(set(launches(session)), {PLAIN, CONFIGURED})
        for session in (plain, plain_no_graphs):
            self.assertEqual(set(launches(session)), {PLAIN})
            self.assertFalse([line for line in session.ledger("kernel") if "programmatic" in line])
        for session in (overlapping, plain):
            self.assertTrue([line for line in session.ledger("kernel") if line["graph"]])
        for session in (no_graphs, plain_no_graphs):
            own = [line for line in session.ledger("kernel") if not line["call"]]
            self.assertEqual({line["graph"] for line in own}, {0})
            self.assertEqual(sum(launches(session).values()), len(own))
        programmatic = [line for line in no_graphs.ledger("kernel") if "programmatic" in line]
        self.assertEqual(launches(no_graphs)[CONFIGURED], len(programmatic))

    def check_read(self, session):
        """Every launch is read, and whatever multiplies or attends tells where its shape is from."""
        readings = {reading: each["launches"] for reading, each in session.report["coverage"]["launches_by_reading"].items()}
        self.assertGreater(readings["read"], 0)
        self.assertEqual([reading for reading, launches in readings.items() if launches], ["read"])
        share = session.report["coverage"]["launch_share"]
        self.assertAlmostEqual(sum(share[source] for source in ("exact", "params", "at_most")), 1)

    def test_matrices(self):
        for device in harness.DEVICES:
            for kind in harness.TYPES:
                model = harness.model(kind)
                for way in WAYS if kind == "q4_K" else ({},):
                    session = self.run_model(model, "--prompt", "40", "--generate", "6", device=device, environment=way)
                    with self.subTest(device=device, kind=kind, way=way):
                        self.check_read(session)
                        self.assertEqual(matrices_of_report(session.report), matrices_of_model(model, 40, 6))

    def books(self, session, model):
        done = session.report_run("--json", "--model", str(model.path))
        self.assertEqual((done.status, done.err), (0, ""))
        return json.loads(done.out)["model_books"]

    def test_books(self):
        """To the byte: a prompt of 301 tokens, and a token of generation; with every way of launching."""
        for device in harness.DEVICES:
            for kind in harness.TYPES:
                model = harness.model(kind)
                for way in WAYS if kind == "q4_K" else ({},):
                    session = self.run_model(model, "--prompt", "301", "--generate", "5", device=device, environment=way)
                    books, own = self.books(session, model), model.multiplied_bytes
                    with self.subTest(device=device, kind=kind, way=way):
                        for phase, steps in (("prefill", 1), ("decode", 5)):
                            found = {key: books[phase][key] for key in ("steps", "verdict", "model_bytes", "measured_bytes")}
                            self.assertEqual(found, {"steps": steps, "verdict": "equal", "model_bytes": [own, own],
                                                     "measured_bytes": [own, own]}, phase)
                        self.assertEqual(books["extra_operators"], [])

    def test_books_of_experts(self):
        """A token reads two of eight experts in each of a layer's three products, the rest whole."""
        model = harness.model("q4_K", experts=8, experts_used=2)
        routed = sum(matrix["bytes"] for matrix in model.matrices if matrix["experts"] > 1)
        others = sum(matrix["bytes"] for matrix in model.matrices if matrix["experts"] == 1 and matrix["multiplied"])
        for device in harness.DEVICES:
            session = self.run_model(model, "--prompt", "40", "--generate", "5", device=device)
            decode = self.books(session, model)["decode"]
            with self.subTest(device=device):
                self.assertEqual((decode["steps"], decode["measured_bytes"]), (5, [others + 2 * routed] * 2))
                self.assertIn(decode["verdict"], ("equal", "within"))

    def test_long_generation(self):
        """600 tokens: nearly all by replay of a few graphs, which hold launches of both ways."""
        model, options = harness.model("q4_K"), ("--prompt", "16", "--generate", "600")
        for device in harness.DEVICES:
            overlapping, _, no_graphs, _ = sessions = self.run_ways(model, *options, device=device)
            with self.subTest(device=device):
                self.check_ways(*sessions)
                lines = overlapping.ledger("kernel")
                self.assertGreater(sum(line["graph"] != 0 for line in lines), 0.98 * len(lines))
                self.assertGreater(len(no_graphs.ledger("kernel")), 600 * len(model.matrices))

    def test_overlap_in_replays(self):
        """Kernels that begin before the one before ends, within graphs: the report's sums are the ledger's all the same."""
        session = self.check(self.run_model(harness.model("q4_K"), "--prompt", "16", "--generate", "40",
                                            sim_options=["programmatic_overlap_ns=1500"]))
        lines = [line for line in session.ledger("kernel") if line["graph"]]
        following = [(a, b) for a, b in zip(lines, lines[1:]) if a["correlation"] == b["correlation"]]
        overlapping = [b for a, b in following if b["start"] < a["end"]]
        self.assertTrue(overlapping)
        self.assertEqual({line.get("programmatic") for line in overlapping}, {1})
        device = session.report["devices"][0]
        self.assertLess(1.05 * device["time"]["compute_ns"], device["kernel_ns"])
        self.assertIn("overlapped", [caveat["id"] for caveat in session.report["caveats"]])

    def bench(self, model, *options, device):
        """A session of the build's own llama-bench; `tests` is its table."""
        program = harness.libraries(harness.engine()) / "llama-bench"
        command = [str(program), "-m", str(model.path), "-o", "json", "-r", "1", "-t", "1", *options]
        session = self.session()
        session.run = session.record(command, device=device)  # it speaks of its devices on standard error
        self.assertEqual(session.run.status, 0, session.run.err)
        self.assertNotIn("rooftap", session.run.err)
        session.tests = json.loads(session.run.out)
        return session

    def test_llama_bench(self):
        for device in harness.DEVICES:
            for kind in ("q4_K", "f16"):
                session = self.check(self.bench(harness.model(kind), "-p", "512", "-n", "64", device=device))
                with self.subTest(device=device, kind=kind):
                    self.assertEqual([(test["n_prompt"], test["n_gen"]) for test in session.tests], [(512, 0), (0, 64)])
                    self.assertEqual({test["backends"] for test in session.tests}, {"CUDA"})
                    self.assertEqual(set(launches(session)), {PLAIN, CONFIGURED})


if __name__ == "__main__":
    harness.main()
