#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""llama.cpp with `record --aggregate` and `--max-size`: sums tell what the records tell, and what a size leaves of a long run
is read off its launches still."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "collect"))
import harness  # noqa: E402
import replays  # noqa: E402

RUNS = {
    "graphs": ("q4_K", ["--prompt", "40", "--generate", "300"], {}),
    "no graphs": ("q8_0", ["--prompt", "40", "--generate", "12"], {"GGML_CUDA_DISABLE_GRAPHS": "1"}),
    "cuBLAS": ("f16", ["--prompt", "40", "--generate", "12"], {}),
}


def differences(a, b, where=""):
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return [line for key in a for line in differences(a[key], b[key], f"{where}.{key}")]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [line for i, pair in enumerate(zip(a, b)) for line in differences(*pair, f"{where}[{i}]")]
    return [] if a == b else [f"{where}: {str(a)[:200]} of the records, {str(b)[:200]} of their sums"]


class Sums(harness.Case, replays.Case):
    def test_same_report_as_from_the_records(self):
        for name, (kind, options, environment) in RUNS.items():
            with self.subTest(name):
                session = self.run_model(harness.model(kind), *options, environment=environment)
                sums = self.replay(session, "aggregate", "--ticks=1")
                whole, part = (replays.comparable(one.report, ["sums", "clocks"]) for one in (session, sums))
                self.assertEqual(differences(whole, part), [])
                self.assertTrue(any(row["helpers"] for row in whole["operators"]))

    def test_recorded_live(self):
        session = self.run_model(harness.model("q4_K"), "--prompt", "16", "--generate", "300", options=["--aggregate"])
        self.assertTrue(session.report["processes"][0]["sums"]["final"])
        self.check_read(session.report)

    def test_what_a_size_leaves_is_read(self):
        session = self.run_model(harness.model("q4_K"), "--prompt", "16", "--generate", "2000")
        self.assertGreater(replays.folder_bytes(session.folder), 8 << 20)
        rotated = self.replay(session, 4 << 20, "--ticks=7")
        self.assertGreater(rotated.report["coverage"]["rotated"]["launches"], 0)
        self.check_read(rotated.report)
        model = harness.model("q4_K")
        text = " ".join(rotated.report_run("--model", str(model.path)).out.split())
        self.assertIn("books: not closed, since records were rotated out (--max-size), parts of steps among them; what is left read",
                      text)
        self.assertNotIn("decode differs", text)
        self.assertIn("kernels timed one by one: the others' times were rotated out", text)

    def check_read(self, report):
        """All products and attention by their parameters, all helpers part of what they serve, no time lost."""
        share = report["coverage"]["launch_share"]
        self.assertAlmostEqual(share["params"] + share["at_most"] + share["exact"], 1)
        helpers = ("quantize", "combine", "fixup")
        self.assertEqual([row["name"] for row in report["operators"] if any(word in row["name"] for word in helpers)], [])
        self.assertEqual(sum(row["time_ns"] or 0 for row in report["operators"]), sum(d["kernel_ns"] for d in report["devices"]))


if __name__ == "__main__":
    harness.main()
