# SPDX-License-Identifier: Apache-2.0
"""A session recorded whole, and made once more by handing its blocks to another sink; both reports, to be compared."""
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "e2e"))
import recording  # noqa: E402

REPLAY = recording.BUILD / "tests" / "collect" / "replay"
BESIDE = ("session.json", "gpu.clocks")

# A workload a line: what to run, and on which simulated GPU.
WORKLOADS = {
    "decode loop": ([str(recording.DECODE_LOOP), "--steps", "6", "--layers", "4", "--batch", "8"], {"device": "rtx4090"}),
    "long": ([recording.program("calls"), "one", "ex", "64", "32", "16", "20000"], {}),
    "threads": ([recording.program("calls"), "threads", "4", "300", "2"], {}),
    "graph replays": ([recording.program("calls"), "graph", "50"], {}),
    "captured": ([recording.program("calls"), "captured", "3", "10"], {}),
    "failing": ([recording.program("calls"), "failing", "40"], {"sim_options": ["gemm_fail_every=3"]}),
    "several kernels a call": ([recording.program("calls"), "one", "lt", "64", "32", "16", "500"],
                               {"sim_options": ["gemm_kernels=2"]}),
    "untimed": ([recording.program("calls"), "one", "ex", "64", "32", "16", "50"], {"options": ["--timing", "off"]}),
}


class Case(recording.Case):
    def replay(self, session, kind, *options, expected=0):
        """SESSION's blocks through the sink of KIND, in a session of their own."""
        again = self.session()
        again.folder.mkdir()
        for name in BESIDE:
            if (session.folder / name).exists():
                shutil.copy(session.folder / name, again.folder)
        run = recording.Run([str(REPLAY), str(kind), str(again.folder), *options, *map(str, session.traces)],
                            recording.clean_environment())
        self.assertEqual((run.status, run.err if not expected else ""), (expected, ""), run.err)
        return again


def comparable(report, without=()):
    """The report less what tells the two sessions apart, and the keys WITHOUT of each process and of the coverage."""
    report = {key: value for key, value in report.items() if key != "session"}
    report["processes"] = [{k: v for k, v in process.items() if k not in without} for process in report["processes"]]
    report["coverage"] = {k: v for k, v in report["coverage"].items() if k not in without}
    return report


def folder_bytes(folder):
    return sum(entry.stat().st_size for entry in os.scandir(folder))
