#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""P16: where no trace can be made or grow, programs run as ever and the report says which processes are missing, and why.
Mounts of their own need rights; without these such tests are skipped."""
import resource
import subprocess

from recording import BUILD, Case, main, Run
from test_trees import BY_CHILD, TREE

MANY = 100_000  # calls: some 7 MB of trace
# By the collector, and by the processes themselves.
WAYS = ((), ("--ring", "off"))
QUOTA = str(BUILD / "tests" / "trees" / "libtree_edquot.so")


class Trouble(Case):
    def run_here(self, script, status=40, mount=None, err="", calls=BY_CHILD, environment=None, options=(),
                 limit_bytes=None):
        """SCRIPT under `record`, with $S the session and "$@" so many calls; if MOUNT, on a tmpfs with these options."""
        session = self.session()
        disk, kept = self.scratch / f"disk{self.sessions}", self.scratch / f"kept{self.sessions}"
        extra = {"TREE_TALLY": str(self.scratch / f"tally{self.sessions}"), "SIMGPU_LEDGER": "", **(environment or {})}
        if not mount:
            extra["S"] = str(session.folder)
            limit = limit_bytes and (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes,) * 2))
            run = session.record(["sh", "-c", script, "sh", TREE, "calls", str(calls), "40"], extra, options=options,
                                 preexec_fn=limit)
        else:
            if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
                self.skipTest("no right to mount")
            disk.mkdir()
            session.folder = disk / "session"
            extra["S"] = str(session.folder)
            record = session.record_command(["sh", "-c", script, "sh", TREE, "calls", str(calls), "40"],
                                            options=["--no-clocks", *options])
            outer = f"mount -t tmpfs -o {mount} none '{disk}' && \"$@\"; status=$?; cp -a '{session.folder}' '{kept}'; exit $status"
            run = Run(["unshare", "-m", "sh", "-c", outer, "sh", *record], session.environment(extra))
            session.folder = kept
        self.assertEqual((run.status, run.out), (status, ""), run.err)
        self.assertEqual(run.err, err)
        return session

    def check_refused(self, session, why, recorded=()):
        run = session.report_run("--json")
        self.assertEqual(run.status, 2)
        lines = [line for line in run.err.splitlines() if "was not recorded" in line]
        self.assertEqual(len(lines), 1, run.err)
        self.assertRegex(lines[0], rf"process \d+ was not recorded: it could make no trace here at 20\S+Z: {why}$")
        self.assertEqual(len(session.traces), len(recorded))
        if recorded:
            self.assertIn("was not recorded", session.report_run().out)

    def test_file_size_limit_of_one_process(self):
        session = self.run_here('ulimit -f 64; "$@"')
        self.check_refused(session, "File too large")

    def test_others_are_recorded(self):
        session = self.run_here('"$@"; (ulimit -f 64; exec "$@")')
        self.check_refused(session, "File too large", recorded=[BY_CHILD])

    def not_written(self, why):
        return (f"rooftap record: '{self.scratch}/disk{self.sessions + 1}/session/session.json' can't be written: {why}; "
                "choose another folder with -o DIR\n")

    def test_full_disk(self):
        """The end is in session.json nevertheless: what was kept free for a list of losses is free for it."""
        session = self.run_here('cat /dev/zero >"$S/../filler" 2>/dev/null; "$@"', mount="size=5m")
        self.check_refused(session, "No space left on device")

    def test_no_inodes(self):
        session = self.run_here('i=0; while touch "$S/../f$i" 2>/dev/null; do i=$((i + 1)); done; "$@"',
                                mount="size=50m,nr_inodes=30")
        self.check_refused(session, "No space left on device")

    def test_read_only(self):
        """Nothing can be written there any more, the word about it neither; the program runs, and `record` says it."""
        self.run_here('mount -o remount,ro "$S/.."; "$@"', mount="size=50m", err=self.not_written("Read-only file system"))

    def test_tiny_shared_memory(self):
        session = self.run_here('mount -t tmpfs -o size=16k none /dev/shm && "$@"', mount="size=50m")
        self.assertEqual([p["calls"] for p in session.report["processes"]], [BY_CHILD])

    # ---- trouble that begins while the program calls ----

    def check_cut(self, session, why):
        """What there was room for is there, the others are counted, and the report says why, and when."""
        report = session.report
        calls, dropped = report["coverage"]["calls"], report["coverage"]["records_dropped"]
        self.assertGreater(calls, 0)
        self.assertGreater(dropped, 0, "there was room for all: nothing is shown")
        self.assertGreaterEqual(calls + dropped, MANY)
        self.assertLess(calls + dropped, MANY + 1000)  # clocks are related in records too
        self.assertLessEqual(report["coverage"]["calls_missing"], dropped)
        text = " ".join(session.text.partition("coverage")[0].split())
        self.assertRegex(text, rf"INCOMPLETE.* 20\d\d-\d\d-\d\dT[\d:]+Z: .*{why}")
        for count in ("records_damaged", "blocks_damaged"):
            self.assertEqual(report["coverage"][count], 0, count)

    def many(self, script='"$@"', options=(), **others):
        return self.run_here(script, calls=MANY, options=["--timing", "off", *options], **others)

    def for_each_way(self, make, why):
        for options in WAYS:
            with self.subTest(options):
                self.check_cut(make(options), why)

    def test_disk_that_fills_up(self):
        self.for_each_way(lambda options: self.many(mount="size=5m", options=options), "No space left on device")

    def test_disk_that_others_fill(self):
        """Some hundred milliseconds after the start, whatever is free."""
        fill = '(sleep 0.2; cat /dev/zero >"$S/../filler" 2>/dev/null) & "$@"; status=$?; wait; rm "$S/../filler"; exit $status'
        self.for_each_way(lambda options: self.many(fill, mount="size=16m", options=options), "No space left on device")

    def test_command_tells(self):
        """One line, and the status is the program's own."""
        session = self.session()
        command = session.record_command([TREE, "calls", str(MANY), "40"], options=["--timing", "off"])
        run = Run([word for word in command if word != "-q"], session.environment({
            "TREE_TALLY": str(self.scratch / "tally"), "SIMGPU_LEDGER": "", "LD_PRELOAD": QUOTA,
            "QUOTA_UNDER": str(self.scratch), "QUOTA_BYTES": str(4 << 20)}))
        self.assertEqual(run.status, 40)
        told = [line for line in run.err.splitlines() if "could not be written" in line]
        self.assertEqual(len(told), 1, run.err)
        self.assertIn("Disk quota exceeded", told[0])

    def test_limit_that_is_reached(self):
        """No SIGXFSZ: the program's own status shows that it lived. A ring goes round within the limit."""
        self.check_cut(self.many('ulimit -f 8192; "$@"', options=WAYS[-1]), "File too large")

    def test_limit_of_the_command(self):
        self.for_each_way(lambda options: self.many(options=options, limit_bytes=5 << 20), "File too large")

    def test_quota_that_is_reached(self):
        """By a seam in the C library's functions: few kernels have quotas."""
        quota = {"LD_PRELOAD": QUOTA, "QUOTA_UNDER": str(self.scratch), "QUOTA_BYTES": str(4 << 20)}
        self.for_each_way(lambda options: self.many(environment=quota, options=options), "Disk quota exceeded")

    def test_quota_that_leaves_nothing(self):
        for options in WAYS:
            with self.subTest(options):
                session = self.run_here('"$@"', options=options, environment={
                    "LD_PRELOAD": QUOTA, "QUOTA_UNDER": str(self.scratch), "QUOTA_BYTES": "40000"})
                self.check_refused(session, "Disk quota exceeded")

    def test_read_only_later(self):
        """A disk that is mounted read-only under a program that records, and writable again before it ends."""
        later = ('(sleep 0.2; mount -o remount,ro "$S/.." 2>/dev/null) & "$@"; status=$?; wait; mount -o remount,rw "$S/.."; '
                 'exit $status')
        for options in WAYS:
            with self.subTest(options):
                coverage = self.many(later, mount="size=64m", options=options).report["coverage"]
                self.assertGreaterEqual(coverage["calls"] + coverage["records_dropped"], MANY)

    def test_nothing_is_left_without_trouble(self):
        session = self.run_here('"$@"')
        self.assertFalse((session.folder / "unrecorded").exists())
        self.assertEqual(session.report["problems"], [])


if __name__ == "__main__":
    main()
