#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rings under `rooftap record`: launcher, collector and programs stopped and killed; trees, daemons, namespaces. Nothing that
was recorded is lost, nothing is left in shared memory, and the collector's memory does not grow."""
import glob
import json
import os
import pathlib
import signal
import subprocess
import time

from recording import Case, Run, main, program, ROOFTAP
from test_trees import TREE, Tally
from witness import Witness

FORKS = int(os.environ.get("TREE_FORKS", 300))
PATIENCE_S = 60  # a bound for what hangs


def wait_until(condition, what):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"still not so after {PATIENCE_S} s: {what}")
        time.sleep(0.005)


def collector_of(ring):
    """Its pid, from the control page: magic, version, then the pid."""
    return int.from_bytes(pathlib.Path(ring, "control").read_bytes()[12:16], "little")


class Record(Case):
    def ring_of(self, session):
        return json.loads((session.folder / "session.json").read_text())["ring"]

    def start_loop(self, pace_us=50, options=("--ring", "1M", "--no-clocks", "--timing", "off"), threads=2):
        session, witness = self.session(), Witness(self.scratch / f"witness{self.sessions}")
        command = session.record_command([program("loop"), witness.path, str(threads), str(pace_us)], options=options)
        launcher = subprocess.Popen(command, env=session.environment({"SIMGPU_LEDGER": ""}), stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
        wait_until(lambda: witness.calls > 500, "the program calls")
        ring = self.ring_of(session)
        wait_until(lambda: collector_of(ring) != 0, "the collector is at work")
        return session, witness, launcher, ring

    def check_calls(self, session, witness, most_more=2):
        """All that returned; a call a thread may have been recorded that it had no time to tell of."""
        session._report = None
        process, = session.report["processes"]
        coverage = session.report["coverage"]
        self.assertEqual((coverage["records_damaged"], coverage["blocks_damaged"]), (0, 0))
        recorded = process["calls"] + coverage["records_dropped"]
        self.assertGreaterEqual(recorded, witness.calls)
        self.assertLessEqual(recorded, witness.calls + most_more + coverage["records_dropped"])
        return process

    def test_nothing_is_left(self):
        session = self.recorded([program("calls"), "one", "ex", "64", "32", "16", "5000"])
        ring = self.ring_of(session)
        self.assertTrue(ring.startswith(f"/dev/shm/rooftap-{os.geteuid()}-"))
        wait_until(lambda: not os.path.exists(ring), "the folder of rings is removed")
        self.assertEqual(session.report["coverage"]["calls"], 5000)
        self.assertFalse((session.folder / "uncollected").exists())
        for path in session.traces:
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)

    def test_target_killed(self):
        session, witness, launcher, ring = self.start_loop()
        os.kill(witness.pid, signal.SIGKILL)
        self.assertEqual(launcher.wait(PATIENCE_S), -signal.SIGKILL)
        wait_until(lambda: not os.path.exists(ring), "the folder of rings is removed")
        self.check_calls(session, witness)

    def test_launcher_killed(self):
        """The program and the collector go on; a report reads both; when the program ends all is in the folder."""
        session, witness, launcher, ring = self.start_loop()
        launcher.kill()
        launcher.wait()
        before = witness.calls
        wait_until(lambda: witness.calls > before + 1000, "the program goes on")
        told = witness.calls
        process, = session.report["processes"]
        self.assertGreaterEqual(process["calls"] + session.report["coverage"]["records_dropped"], told)
        os.kill(witness.pid, signal.SIGKILL)
        wait_until(lambda: not os.path.exists(ring), "the collector takes the rest and ends")
        self.check_calls(session, witness)

    def test_collector_killed(self):
        """The program goes on in a second file; `rooftap collect` takes what is left."""
        session, witness, launcher, ring = self.start_loop()
        os.kill(collector_of(ring), signal.SIGKILL)
        before = witness.calls
        wait_until(lambda: glob.glob(f"{session.folder}/*.more.trace"), "the program begins a second file")
        wait_until(lambda: witness.calls > before + 20000, "the program goes on")
        os.kill(witness.pid, signal.SIGKILL)
        self.assertEqual(launcher.wait(PATIENCE_S), -signal.SIGKILL)
        process = self.check_calls(session, witness)
        self.assertIn("ring", [note["code"] for note in process["notes"]])
        self.assertTrue(glob.glob(f"{ring}/*.trace"))
        in_memory = session.report["session"]["in_memory"]
        self.assertEqual((in_memory["traces"], in_memory["collector"]), (1, False))
        self.assertRegex(" ".join(session.text.split()), r"note \S+ .B of 1 process are still in shared memory, and their "
                         "collector is gone: 'rooftap collect DIR' moves them")
        run = Run([str(ROOFTAP), "collect", str(session.folder)], session.environment())
        self.assertEqual((run.status, run.err), (0, ""))
        self.assertRegex(run.out, r"^\d+ blocks of records collected\n$")
        self.assertFalse(os.path.exists(ring))
        again = self.check_calls(session, witness)
        self.assertEqual(session.report["session"]["in_memory"], {"traces": 0, "bytes": 0, "collector": False})
        self.assertEqual(again["calls"], process["calls"])
        run = Run([str(ROOFTAP), "collect", str(session.folder)], session.environment())
        self.assertEqual((run.status, run.err), (0, ""))
        self.assertIn("nothing to collect", run.out)

    def test_collector_stopped(self):
        """Shorter than a sign of life may be missing: a full ring drops, nothing waits."""
        session, witness, launcher, ring = self.start_loop(pace_us=0)
        collector = collector_of(ring)
        os.kill(collector, signal.SIGSTOP)
        before = witness.calls
        wait_until(lambda: witness.calls > before + 40000, "the program goes on beside a collector that stands still")
        os.kill(collector, signal.SIGCONT)
        os.kill(witness.pid, signal.SIGKILL)
        self.assertEqual(launcher.wait(PATIENCE_S), -signal.SIGKILL)
        wait_until(lambda: not os.path.exists(ring), "the collector ends")
        self.check_calls(session, witness)
        self.assertEqual(session.report["coverage"]["calls_missing"], 0)

    def test_sums_of_what_went_aside(self):
        """A collector that stood still for seconds sums up, at the end, what the program wrote itself meanwhile."""
        session, witness, launcher, ring = self.start_loop(options=("--aggregate", "--ring", "1M", "--no-clocks", "--timing", "off"))
        collector, more = collector_of(ring), f"{session.folder}/*.more.trace"
        os.kill(collector, signal.SIGSTOP)
        wait_until(lambda: glob.glob(more), "the program begins a second file")
        before = witness.calls
        wait_until(lambda: witness.calls > before + 20000, "the program goes on")
        os.kill(collector, signal.SIGCONT)
        before = witness.calls
        wait_until(lambda: witness.calls > before + 1000, "the program goes on")
        os.kill(witness.pid, signal.SIGKILL)
        self.assertEqual(launcher.wait(PATIENCE_S), -signal.SIGKILL)
        wait_until(lambda: not os.path.exists(ring), "the collector ends")
        process = self.check_calls(session, witness)
        self.assertTrue(process["sums"]["final"])
        self.assertEqual(glob.glob(more), [])
        self.assertLess(sum(os.path.getsize(path) for path in session.traces), 1 << 20)

    def test_what_goes_aside_is_bounded(self):
        """Where a session keeps to a size, what has no room in the ring and in a sixteenth of the size is dropped and counted."""
        session, witness, launcher, ring = self.start_loop(pace_us=0, options=("--max-size", "16M", "--ring", "1M", "--no-clocks", "--timing", "off"))
        collector, more = collector_of(ring), f"{session.folder}/*.more.trace"
        os.kill(collector, signal.SIGSTOP)
        wait_until(lambda: glob.glob(more), "the program begins a second file")
        before = witness.calls
        wait_until(lambda: witness.calls > before + 100000, "the program goes on")
        self.assertEqual([os.path.getsize(path) for path in glob.glob(more)], [1 << 20])
        os.kill(collector, signal.SIGCONT)
        before = witness.calls
        wait_until(lambda: witness.calls > before + 1000, "the program goes on")
        os.kill(witness.pid, signal.SIGKILL)
        launcher.wait(PATIENCE_S)
        wait_until(lambda: not os.path.exists(ring), "the collector ends")
        coverage = session.report["coverage"]
        rotated = coverage["rotated"]["calls"] if coverage["rotated"] else 0
        self.assertGreater(coverage["records_dropped"], 50000)
        self.assertGreaterEqual(coverage["calls"] + rotated + coverage["records_dropped"], witness.calls)
        self.assertLessEqual(sum(entry.stat().st_size for entry in os.scandir(session.folder)), 16 << 20)

    def test_collect_beside_a_collector(self):
        session, witness, launcher, _ = self.start_loop()
        run = Run([str(ROOFTAP), "collect", str(session.folder)], session.environment())
        self.assertEqual(run.status, 2)
        self.assertIn("collector is at work", run.err)
        os.kill(witness.pid, signal.SIGKILL)
        launcher.wait(PATIENCE_S)

    def test_collect_believes_nobody(self):
        """A session.json that names a folder of somebody's choice."""
        session = self.recorded([program("calls"), "one", "ex", "64", "32", "16", "5"])
        document = json.loads((session.folder / "session.json").read_text())
        for ring, status in (("/etc", 0), ("/dev/shm/rooftap-../../etc", 2), ("/dev/shm/rooftap-1-0123456789abcdef", 2)):
            document["ring"] = ring
            (session.folder / "session.json").write_text(json.dumps(document))
            self.assertEqual(Run([str(ROOFTAP), "collect", str(session.folder)], session.environment()).status, status, ring)
            session._report = None
            self.assertEqual(session.report["coverage"]["calls"], 5)

    def test_forks_give_the_memory_back(self):
        """Hundreds of processes, each with a ring for a moment: never more than some of them at a time."""
        session, tally = self.session(), self.scratch / "tally"
        command = session.record_command([TREE, "load", "fork", "4", str(FORKS)], options=["--no-clocks"])
        launcher = subprocess.Popen(command, env=session.environment({"TREE_TALLY": str(tally), "SIMGPU_LEDGER": ""}))
        most, rss = 0, []
        wait_until(lambda: (session.folder / "session.json").exists(), "the session begins")
        ring = self.ring_of(session)
        while launcher.poll() is None:
            most = max(most, len(glob.glob(f"{ring}/*.trace")))
            try:
                status = pathlib.Path(f"/proc/{collector_of(ring)}/status").read_text()
                rss.append(int(status.split("VmRSS:")[1].split()[0]))
            except (OSError, IndexError):
                pass
            time.sleep(0.02)
        self.assertEqual(launcher.returncode, 0)
        told = Tally(tally).of
        self.assertEqual({p["pid"]: [p["calls"], p["failed_calls"]] for p in session.report["processes"]}, told)
        self.assertEqual(len(told), FORKS + 1)
        self.assertLess(most, FORKS, "no ring was given back before the end")
        self.assertLess(max(rss), 16384, "KiB of the collector")
        self.assertEqual(session.report["coverage"]["records_dropped"], 0)
        wait_until(lambda: not os.path.exists(ring), "the folder of rings is removed")

    def test_exec_of_itself(self):
        """The memory of the first program is gone, its ring is not: both are taken, while the process lives on."""
        session, witness = self.session(), Witness(self.scratch / "witness")
        loop = f"exec '{program('loop')}' '{witness.path}' 1 200"
        script = f"import os, ctypes\nlib = ctypes.CDLL(os.environ['GEMMS'])\nassert lib.gemms_run(7, 64, 32, 16) == 0\nos.execlp('sh', 'sh', '-c', {loop!r})"
        command = session.record_command(["python3", "-c", script], options=["--no-clocks", "--timing", "off"])
        gemms = str(pathlib.Path(program("loop")).parent / "libe2e_gemms.so")
        launcher = subprocess.Popen(command, env=session.environment({"SIMGPU_LEDGER": "", "GEMMS": gemms}),
                                    stdout=subprocess.DEVNULL)
        wait_until(lambda: witness.calls > 100, "the second program calls")
        ring = self.ring_of(session)
        wait_until(lambda: len(glob.glob(f"{ring}/*.trace")) == 1, "the first program's ring is taken")
        os.kill(witness.pid, signal.SIGKILL)
        self.assertEqual(launcher.wait(PATIENCE_S), -signal.SIGKILL)
        first, second = sorted(session.report["processes"], key=lambda p: p["calls"])
        self.assertEqual((first["calls"], first["pid"]), (7, second["pid"]))
        self.assertGreaterEqual(second["calls"], witness.calls)

    def test_daemon_that_outlives(self):
        session, witness = self.session(), Witness(self.scratch / "witness")
        script = f"setsid '{program('loop')}' '{witness.path}' 1 200 >/dev/null 2>&1 & while ! [ -s '{self.scratch}/go' ]; do sleep 0.05; done"
        command = session.record_command(["sh", "-c", script], options=["--no-clocks", "--timing", "off"])
        launcher = subprocess.Popen(command, env=session.environment({"SIMGPU_LEDGER": ""}), stdout=subprocess.PIPE, text=True)
        wait_until(lambda: witness.calls > 100, "the daemon calls")
        (self.scratch / "go").write_text("1")
        out, _ = launcher.communicate(timeout=PATIENCE_S)  # nobody keeps the pipe open
        self.assertEqual((launcher.returncode, out), (0, ""))
        ring = self.ring_of(session)
        self.assertTrue(os.path.exists(ring))
        before = witness.calls
        wait_until(lambda: witness.calls > before + 1000, "the daemon goes on")
        told = witness.calls
        process, = session.report["processes"]
        self.assertGreaterEqual(process["calls"], told)
        os.kill(witness.pid, signal.SIGTERM)
        wait_until(lambda: not os.path.exists(ring), "the collector takes the rest and ends")
        self.check_calls(session, witness)

    def test_another_pid_namespace(self):
        """Pids in it mean other processes out here: the ring of one that lives must not be taken for a dead one's."""
        if subprocess.run(["unshare", "-p", "-f", "true"], capture_output=True).returncode:
            self.skipTest("no right to make a pid namespace")
        session, witness = self.session(), Witness(self.scratch / "witness")
        script = f"unshare -p -f '{program('loop')}' '{witness.path}' 1 200"
        command = session.record_command(["sh", "-c", script], options=["--no-clocks", "--timing", "off"])
        launcher = subprocess.Popen(command, env=session.environment({"SIMGPU_LEDGER": ""}), stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
        wait_until(lambda: witness.calls > 100, "the program calls")
        ring = self.ring_of(session)
        time.sleep(2.5)  # longer than two looks
        self.assertEqual(len(glob.glob(f"{ring}/*.trace")), 1)
        children = subprocess.run(["pgrep", "-f", witness.path], capture_output=True, text=True).stdout.split()
        for pid in map(int, children):
            if "e2e_loop" in os.path.realpath(f"/proc/{pid}/exe"):
                os.kill(pid, signal.SIGKILL)
        launcher.wait(PATIENCE_S)
        wait_until(lambda: not os.path.exists(ring), "the collector takes the rest and ends")
        self.check_calls(session, witness)

    def test_another_time_namespace(self):
        """A process is started at another time in there, by so little that its ring is used: it must not be taken for an earlier one's."""
        unshare = ["unshare", "--time", "--boottime", "-1", "--fork"]
        if subprocess.run([*unshare, "true"], capture_output=True).returncode:
            self.skipTest("no right to make a time namespace")
        session, witness = self.session(), Witness(self.scratch / "witness")
        script = f"{' '.join(unshare)} '{program('loop')}' '{witness.path}' 1 200"
        command = session.record_command(["sh", "-c", script], options=["--no-clocks", "--timing", "off"])
        launcher = subprocess.Popen(command, env=session.environment({"SIMGPU_LEDGER": ""}), stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
        wait_until(lambda: witness.calls > 100, "the program calls")
        ring = self.ring_of(session)
        time.sleep(1)  # many looks
        self.assertEqual(len(glob.glob(f"{ring}/*.trace")), 1)
        os.kill(witness.pid, signal.SIGKILL)
        launcher.wait(PATIENCE_S)
        wait_until(lambda: not os.path.exists(ring), "the collector takes the rest and ends")
        self.check_calls(session, witness)


if __name__ == "__main__":
    main()
