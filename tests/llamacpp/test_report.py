#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the report says of llama.cpp, in text: rows of products and attention with their shapes, what serves them, what of the time
is explained; the rows that README.md shows are those of this run; and why nothing was launched where all stayed on the CPU."""
import pathlib
import re
import subprocess
import sys

import harness
import recording

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"
# As README.md says: d 128, 16 query and 4 KV heads, N of k and v 512, the gate in one launch with up.
SHOWN = {"embedding": 2048, "heads": 16, "heads_kv": 4, "feed_forward": 8192}
ROW = re.compile(r"^ *[\d.]+ +[\d.]+ [a-z]+ +[\d,]+ ((?:mul_mat|flash_attn)\w+(?: \d+/\d+)?(?: x\d+)?) +"
                 r"(\S+) +(\S+) +(\S+) +(\S+) +([\d.]+) +\w+ .*?(params|at_most)$", re.M)
# Without what a simulator made up.
SHOWN_ROW = re.compile(r"^    ((?:mul_mat|flash_attn)\w+(?: \d+/\d+)?) +(\S+) +(\S+) +(\S+) +(\S+) +([\d.]+) +(params|at_most)$", re.M)


def rows_of(text, pattern=ROW):
    """Kernel, M, N, K, types, FLOP/B, where the shape is from."""
    return {match.groups() for match in pattern.finditer(text)}


def on_one_line(text):
    return " ".join(text.split())


class Text(harness.Case):
    def test_decode(self):
        model = harness.model("q4_K", **SHOWN)
        session = self.run_model(model, "--prompt", "40", "--generate", "8", device="rtx4090")
        rows, text = rows_of(session.text), on_one_line(session.text)
        # By the model: q and o, k and v, gate and up with one activation, down; q4_K is 4.5 bits, so 3.5 FLOP/B at M 1.
        weights = {(n, k) for kernel, m, n, k, types, _, source in rows
                   if (kernel, m, types, source) == ("mul_mat_vec_q", "1", "q4_K/dp4a", "params")}
        matrices = [matrix for matrix in model.matrices if matrix["multiplied"]]
        self.assertEqual(weights, {(str(matrix["n"]), str(matrix["k"])) for matrix in matrices})
        self.assertIn(("flash_attn_ext_vec 16/4", "1", "<=256", "128", "kv16/fp32"), {row[:5] for row in rows})
        self.assertIn("N 8192 K 2048 q4_K/dp4a; a gate is fused: 2 weights in one launch; incl. quantize_q8_1 ", text)
        self.assertIn("incl. flash_attn_combine_results<128> ", text)
        self.assertRegex(text, r"BLAS calls explain 0.0 % of kernel time, matmuls and attention read off their launches [\d.]+ %")
        self.assertRegex(text, r"launches of known kernels: [\d,]+ read \(100.0 % of kernel time\)")
        self.assertIn("by dp4a: not published; at least 82.6 TFLOP/s", text)
        self.assertNotIn("looks static", text)
        self.assertNotIn("calls past rooftap", text)
        shown = rows_of(README.read_text(encoding="utf-8"), SHOWN_ROW)
        self.assertGreater(len(shown), 4)
        self.assertEqual(shown - rows, set(), "README.md shows other rows than this run has")

    def test_without_parameters(self):
        """One reason for all kernels, said once."""
        session = self.run_model(harness.model("q4_K"), "--prompt", "40", "--generate", "8", device="rtx4090",
                                 options=["--parameters=off"])
        text = on_one_line(session.text)
        self.assertRegex(text, r"launches of known kernels: [\d,]+ without their parameters \(100.0 % of kernel time\) of those "
                               r"without, nothing was kept: recorded with --parameters=off")
        self.assertNotIn("is not known, as", text)
        self.assertIn("mul_mat_vec_q<q4_K, 1, false, true, false> (no parameters)", text)

    def test_roofs_of_one_type(self):
        """Without flash attention, fp16 is multiplied on tensor cores for the prompt, and on FMA units for a token."""
        session = self.run_model(harness.model("q4_K"), "--prompt", "301", "--generate", "8", "--flash-attention", "off",
                                 device="rtx4090")
        roofs = re.findall(r"^ +roof ([^:\n]+):", session.text, re.M)
        self.assertEqual(len(roofs), len(set(roofs)), roofs)
        self.assertLessEqual({"fp16", "fp16 by FMA units"}, set(roofs))

    def test_invariants(self):
        """Figures of a report fit each other: with attention in one kernel and in several, and where times are missing."""
        check = pathlib.Path(__file__).resolve().parents[1] / "report" / "check_invariants.py"
        sessions = [self.run_model(harness.model("q4_K"), "--prompt", "301", "--generate", "8", *words, options=options)
                    for words, options in (((), ()), (("--flash-attention", "off"), ()), ((), ("--timing", "graph")))]
        done = subprocess.run([sys.executable, "-B", str(check), "--session", str(recording.ROOFTAP),
                               *(str(session.folder) for session in sessions)], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "3 reports, 0 broken\n"), done.stderr)

    def test_nothing_offloaded(self):
        session = self.session()
        run = session.record([*harness.driver(), str(harness.model("q4_K").path), "--prompt", "8", "--generate", "2", "--gpu-layers", "0"],
                             device="rtx4090", environment={"SIMGPU_STRUCT_SIZES": harness.STRUCTS})
        self.assertEqual(run.status, 0, run.err)
        report = session.report_run()
        self.assertEqual(report.status, 1)
        self.assertIn("no CUDA launch seen in 1 process", report.err)
        self.assertIn("all layers may have stayed on the CPU (llama.cpp: -ngl, n_gpu_layers)", report.err)


if __name__ == "__main__":
    harness.main()
