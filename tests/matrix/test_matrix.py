#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One shim with every CUDA major in front and every release of CUPTI behind: a call's kernels, executions and shapes are the
ledger's in each cell. MATRIX_PROGRAMS and MATRIX_RELEASES (names with commas) leave others out."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import ledger  # noqa: E402
import test_devices  # noqa: E402
from recording import BUILD, Case, main  # noqa: E402

# Where each major's build of the same sources lies.
FRONT_ENDS = {"12": BUILD / "tests" / "cuda12", "13": BUILD / "tests" / "e2e"}
# What cuptiGetVersion of each release answers, from NVIDIA's packages.
RELEASES = {"11.8": 18, "12.4": 22, "12.9": 28, "13.0": 130001, "13.2": 130202, "13.4": 130401}
REPLAYS = 5
TRIES = 8
# Mode of e2e_graphs: kernels in the ledger, from the program's own loops.
PROGRAMS = {
    "eager": 2 * REPLAYS,
    "captured": 4 * REPLAYS,
    "updated": 4 * (4 * REPLAYS + 6),
    "child": 8 * REPLAYS,
    "forked": 5 * REPLAYS,
    "twice": 4 * 4 * REPLAYS,
    "nested": 5 * REPLAYS,
    "explicit": 2 * REPLAYS + 1,
    "threads": 4 * 20 * REPLAYS,
    "conditional": (1 + 3 * 2) * REPLAYS,
}


def chosen(variable, all_of_them):
    named = os.environ.get(variable)
    return {name: all_of_them[name] for name in named.split(",")} if named else all_of_them


class Matrix(Case):
    def cell(self, folder, release, mode):
        for _ in range(TRIES):  # threads that do nothing else but call outrun the helper where it gets no time: that run says nothing
            session = self.recorded([str(folder / "e2e_graphs"), mode, str(REPLAYS)], environment={"SIMGPU_CUPTI": release})
            coverage = session.report["coverage"]
            if not coverage["records_dropped"]:
                break
        ledger.assert_equal(self, session, kernels=PROGRAMS[mode])
        self.assertEqual((coverage["graph_kernels_unjoined"], coverage["kernels_unjoined"]), (0, 0))
        for row in session.report["operators"]:
            if row["cublas"]:  # the unit device runs one kernel for each
                self.assertEqual(row["executions"], row["kernels"], row["cublas"])
                self.assertIn(row["executions_all"], (row["kernels"], None), row["cublas"])
        versions = {note["value"] for process in session.report["processes"] for note in process["notes"]
                    if note["code"] == "timing_on"}
        self.assertEqual(versions, {RELEASES[release]}, "the release that was behind")

    def test_cells(self):
        for major, folder in chosen("MATRIX_MAJORS", FRONT_ENDS).items():
            for release in chosen("MATRIX_RELEASES", RELEASES):
                for mode in chosen("MATRIX_PROGRAMS", PROGRAMS):
                    with self.subTest(cuda=major, cupti=release, program=mode):
                        self.cell(folder, release, mode)

    def test_devices(self):
        """On two GPUs: kernels, copies and where each one's time went, as tests/e2e/test_devices.py works them out."""
        for major, folder in chosen("MATRIX_MAJORS", FRONT_ENDS).items():
            for release in chosen("MATRIX_RELEASES", RELEASES):
                for mode in ("eager", "graphs"):
                    with self.subTest(cuda=major, cupti=release, program=f"devices {mode}"):
                        session = self.recorded([str(folder / "e2e_devices"), mode, str(REPLAYS)],
                                                sim_options=["devices=2", "other_kernel_ns=300000"],
                                                environment={"SIMGPU_CUPTI": release})
                        test_devices.Devices.compare(self, session, 2)
                        self.assertEqual(session.report["coverage"]["graph_kernels_unjoined"], 0)


if __name__ == "__main__":
    main()
