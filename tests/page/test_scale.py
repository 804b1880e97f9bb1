# SPDX-License-Identifier: Apache-2.0
"""Runs of any size: the page stays under 1 MB, what it shows and what it leaves out is all there is, and a report's memory is that of
the different things in the run, not of its length. PAGE_LONG=ON: 50 million calls, 3.7 GB of trace for a while."""
import os
import pathlib
import resource
import subprocess
import tempfile
import unittest

import reading
import sessions

LONG = os.environ.get("PAGE_LONG", "0") not in ("", "0", "OFF")
LIMIT = 2 * 1000**3  # bytes of address space that a report may take
RECORDS = 5_000_000
CALLS = 50_000_000 if LONG else 5_000_000
OPERATORS = int(os.environ.get("PAGE_LARGE", "200000"))
PROCESSES = 3000
SHAPES = 7 * 512  # of make_large's model: products of a layer, by rows of a step
KINDS = 3         # of its kernels that no library call owns


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))


def report(folder, *options):
    """(stdout, most KiB that were resident) of a report that gets 2 GB."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen([sessions.ROOFTAP, "report", *options, folder], stdout=out, stderr=err, preexec_fn=limited,
                                 env=sessions.recording.clean_environment())
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        assert child.returncode == 0, (child.returncode, err.read()[-1000:])
        return out.read(), usage.ru_maxrss


class Scale(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.place = tempfile.TemporaryDirectory(prefix="rooftap-scale-")
        self.addCleanup(self.place.cleanup)

    def made(self, kind, count):
        folder = pathlib.Path(self.place.name) / f"{kind}-{count}"
        folder.mkdir()
        subprocess.run([sessions.MADE / "make_large", kind, folder, str(count)], check=True)
        return folder

    def page(self, folder):
        """(the embedded JSON, KiB) of a page, whose tables hold as many rows."""
        path = pathlib.Path(self.place.name) / "page.html"
        kilobytes = report(folder, "--html", path)[1]
        self.assertLess(path.stat().st_size, sessions.MOST_BYTES)
        tables, text = reading.still(path)
        embedded = sessions.strict(text)
        for by, key in (("shape", "operators"), ("weight", "weights"), ("kernel", "kernels")):
            self.assertEqual(len(tables[by]["rows"]), len(embedded[key]), by)
        print(f"{folder.name}: {path.stat().st_size} bytes, {len(embedded['operators'])} operators shown, {kilobytes} KiB")
        return embedded, kilobytes

    def check_sums(self, embedded, count, calls, time_ns):
        """Shown and left out are together COUNT operators of so many calls and so much time."""
        rest, shown = embedded["cut"]["operators"], embedded["operators"]
        self.assertGreater(len(shown), 50)
        self.assertEqual(len(shown) + rest["count"], count)
        self.assertEqual(sum(op["calls"] for op in shown) + rest["calls"], calls)
        if time_ns is not None:
            self.assertEqual(sum(op["time_ns"] for op in shown) + rest["time_ns"], time_ns)
            self.assertEqual(embedded["coverage"]["gpu_time_ns"], time_ns)
            self.assertEqual(sum(rest["by_bound"][bound]["time_ns"] for bound in rest["by_bound"]), rest["time_ns"])
            self.assertEqual(sum(embedded["time_by_bound"].values()), time_ns)
        self.assertEqual(sum(rest["by_bound"][bound]["count"] for bound in rest["by_bound"]), rest["count"])

    def test_records(self):
        """A layer is 7 calls and 3 launches, each with its kernel; a product takes 20 us and 10 ns for each size."""
        embedded, most = self.page(self.made("records", RECORDS))
        layers, left = divmod(RECORDS, 20)
        self.assertEqual(left, 0)
        steps, over = divmod(layers, 32)
        products = sum(7 * (32 if step < steps else over) * (20_000 + 10 * (step * 61 % 512)) for step in range(steps + 1))
        self.check_sums(embedded, SHAPES + KINDS, 10 * layers, products + 3 * layers * 3_000)
        self.assertEqual(embedded["coverage"]["kernels"], 10 * layers)
        least = self.page(self.made("records", RECORDS // 5))[1]
        self.assertLess(most, 1.1 * least + 4096)

    def test_calls(self):
        """Without times nothing but the calls are known; the memory is that of as many shapes."""
        folder = self.made("calls", CALLS)
        embedded, most = self.page(folder)
        self.check_sums(embedded, SHAPES, CALLS, None)
        self.assertIsNone(embedded["coverage"]["gpu_time_ns"])
        self.assertEqual(sessions.strict(report(folder, "--json")[0])["coverage"]["calls"], CALLS)
        report(folder)
        for trace in folder.iterdir():
            trace.unlink()
        least = self.page(self.made("calls", CALLS // 5))[1]
        self.assertLess(most, 1.1 * least + 4096)

    def test_operators(self):
        folder = self.made("operators", OPERATORS)
        embedded, _ = self.page(folder)
        time_ns = sum(1000 + i % 5000 if i % 2 else 5000 + i % 7000 for i in range(OPERATORS))
        self.check_sums(embedded, OPERATORS, OPERATORS, time_ns)
        rest = embedded["cut"]
        weights = len({i // 8192 for i in range(0, OPERATORS, 2)})
        self.assertEqual(len(embedded["weights"]) + (rest["weights"] or {"count": 0})["count"], weights)
        # All products are one function of the library, or one kernel of it.
        self.assertIn(len(embedded["kernels"]) + rest["kernels"]["count"] - OPERATORS // 2, (1,))
        report(folder)

    def test_processes(self):
        folder = self.made("processes", PROCESSES)
        embedded, _ = self.page(folder)
        self.check_sums(embedded, PROCESSES, PROCESSES, sum(20_000 + i for i in range(PROCESSES)))
        lists = embedded["cut"]["lists"]
        for key in ("processes", "devices"):
            self.assertEqual((lists[key]["shown"], lists[key]["of"]), (len(embedded[key]), PROCESSES), key)
        self.assertLessEqual(max(len(process["command"].encode()) for process in embedded["processes"]), embedded["cut"]["text_bytes"] + len("…".encode()))
        report(folder)
        self.assertEqual(len(sessions.strict(report(folder, "--json")[0])["processes"]), PROCESSES)


if __name__ == "__main__":
    unittest.main(verbosity=1)
