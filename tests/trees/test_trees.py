#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every process that makes calls has a trace of its own with all of them, however it came to be; the parent's calls are
counted once, and what a child of vfork() does is in no trace."""
import collections
import os
import sys
import time

from recording import BUILD, Case, clean_environment, Run, main

TREE = str(BUILD / "tests" / "trees" / "tree")
BEFORE, BY_CHILD, AFTER = 3, 5, 4
HOWS = ("exit", "_exit", "quick_exit", "exit_group")


class Tally:
    """Calls of each process as the program itself counted them: {pid: [returned, failed]}."""

    def __init__(self, path):
        self.path, self.of = path, collections.defaultdict(lambda: [0, 0])
        if not path.exists():
            return
        for line in path.read_text().splitlines():
            pid, returned, failed = map(int, line.split())
            self.of[pid][0] += returned
            self.of[pid][1] += failed


class Trees(Case):
    def run_tree(self, *arguments, environment=None, wrap=(), status=0, options=()):
        session = self.session()
        session.tally_path = self.scratch / f"tally{self.sessions}"
        session.run = session.record([*wrap, TREE, *arguments],
                                     {"TREE_TALLY": str(session.tally_path), **(environment or {})}, options=options)
        self.assertEqual((session.run.status, session.run.out, session.run.err), (status, "", ""), arguments)
        return session

    def check(self, session, processes, extra_ledger_calls=0):
        """PROCESSES: (returned, failed) expected of each, in any order. The program's own count, the traces and the
        ledger have to agree."""
        told = Tally(session.tally_path).of
        report = session.report
        reported = collections.defaultdict(lambda: [0, 0])
        for process in report["processes"]:
            reported[process["pid"]][0] += process["calls"]
            reported[process["pid"]][1] += process["failed_calls"]
        self.assertEqual(dict(reported), dict(told))
        self.assertEqual(sorted(map(tuple, told.values())), sorted(processes))
        made = [line for line in session.ledger("call") if not line["nested"]]
        self.assertEqual(len(made), sum(returned for returned, _ in processes) + extra_ledger_calls, "calls in the ledger")
        coverage = report["coverage"]
        self.assertEqual({key: coverage[key] for key in ("records_dropped", "records_damaged", "blocks_damaged",
                                                         "calls_missing")},
                         {"records_dropped": 0, "records_damaged": 0, "blocks_damaged": 0, "calls_missing": 0})
        return report

    def test_fork_before_cuda(self):
        for how in HOWS:
            with self.subTest(how):
                session = self.run_tree("fork_first", how)
                report = self.check(session, [(BY_CHILD, 0)] * 4 + [(AFTER, 0)])
                parent = [p["pid"] for p in report["processes"] if p["calls"] == AFTER]
                self.assertEqual({p["parent"] for p in report["processes"] if p["calls"] == BY_CHILD}, set(parent))

    def test_fork_after_cuda(self):
        """CUDA is of no use in these children: their calls are refused, and are theirs."""
        for how in HOWS:
            with self.subTest(how):
                session = self.run_tree("fork_later", how)
                self.check(session, [(0, BY_CHILD)] * 4 + [(BEFORE + AFTER, 0)])

    def test_exec(self):
        for how in ("fork", "vfork", "clone", "spawn"):
            with self.subTest(how):
                self.check(self.run_tree("exec", how), [(BEFORE + AFTER, 0), (BY_CHILD, 0)])

    def test_system(self):
        self.check(self.run_tree("system"), [(BEFORE + AFTER, 0), (BY_CHILD, 0)])

    def test_exec_of_itself(self):
        """One process, two programs, two traces: the first one's calls are not lost."""
        session = self.run_tree("exec_self", status=40)
        report = self.check(session, [(BEFORE + BY_CHILD, 0)])
        self.assertEqual(sorted(p["calls"] for p in report["processes"]), [BEFORE, BY_CHILD])
        self.assertEqual(len({p["pid"] for p in report["processes"]}), 1)
        self.assertEqual(len(session.traces), 2)

    def test_calls_after_vfork(self):
        """P02: after vfork nothing is written."""
        for first, own in (("first", AFTER), ("later", BEFORE + AFTER)):
            with self.subTest(first):
                # A ledger that the child opens is closed with it, and the parent writes none.
                session = self.run_tree("vfork_calls", first, environment={"SIMGPU_LEDGER": ""} if first == "first" else {})
                self.check(session, [(own, 0)], extra_ledger_calls=-own if first == "first" else 3 * BY_CHILD)
                self.assertEqual(len(session.traces), 1)

    def test_bare_clone(self):
        """No fork handler runs: the child finds out by itself. It leaves by exit(), and waits for no thread of its parent."""
        for first, own in (("first", AFTER), ("later", BEFORE + AFTER)):
            with self.subTest(first):
                session = self.run_tree("clone", first)
                child = (BY_CHILD, 0) if first == "first" else (0, BY_CHILD)
                # No fork handler of the simulator's runs either: it writes the child's calls down as the parent's.
                self.check(session, [(own, 0), child], extra_ledger_calls=child[1])
                self.assertEqual(len(session.traces), 2)

    def test_daemon(self):
        session = self.run_tree("daemon", environment={"SIMGPU_LEDGER": ""})
        for _ in range(600):  # it outlives `record`
            if session.tally_path.exists() and session.tally_path.read_text().endswith("\n"):
                break
            time.sleep(0.1)
        calls = BY_CHILD + 200 * 200
        self.check(session, [(calls, 0)], extra_ledger_calls=-calls)

    def test_all_descriptors_closed(self):
        session = self.run_tree("close_all", environment={"SIMGPU_LEDGER": ""})
        calls = BEFORE + 200 * 200
        self.check(session, [(calls, 0)], extra_ledger_calls=-calls)

    def test_empty_environment(self):
        """What `env -i` starts knows nothing of us and runs as ever; its parent goes on."""
        session = self.run_tree("calls", "5", "40", status=40, wrap=self.env_i())
        self.assertEqual(session.traces, [])

    def test_launcher_that_hands_on_a_list(self):
        """V08: LD_PRELOAD is handed on, the ROOFTAP_ variables are not: the session is that of the nearest parent."""
        session = self.run_tree("calls", "5", "40", status=40, wrap=self.env_i("LD_PRELOAD"))
        self.check(session, [(BY_CHILD, 0)])
        session = self.run_tree("calls", "5", "40", status=40,
                                wrap=[*self.env_i("LD_PRELOAD"), "sh", "-c", '"$@"; exit $?', "sh"])
        self.check(session, [(BY_CHILD, 0)])

    def test_switched_off(self):
        """ROOFTAP_DISABLE=1 in some part of the tree is enough."""
        session = self.run_tree("calls", "5", "40", status=40, wrap=["env", "ROOFTAP_DISABLE=1"])
        self.assertEqual(session.traces, [])
        session = self.run_tree("calls", "5", "40", status=40, wrap=self.env_i("LD_PRELOAD", extra=["ROOFTAP_DISABLE=1"]))
        self.assertEqual(session.traces, [])

    def test_redacted_arguments(self):
        """In every process of the tree; the programs themselves get them all."""
        session = self.run_tree("exec", "spawn", options=["--redact-args"])
        report = self.check(session, [(BEFORE + AFTER, 0), (BY_CHILD, 0)])
        self.assertEqual([p["command"] for p in report["processes"]], [f"{TREE} [redacted]"] * 2)
        for path in session.traces:
            self.assertNotIn(b"spawn", path.read_bytes())
            self.assertNotIn(b"calls\0005", path.read_bytes())
        plain = self.run_tree("exec", "spawn")
        self.assertEqual(sorted(p["command"] for p in plain.report["processes"]), [f"{TREE} calls 5 40", f"{TREE} exec spawn"])

    @staticmethod
    def env_i(*names, extra=()):
        names = ("LD_LIBRARY_PATH", "SIMGPU_DEVICE", "SIMGPU_LEDGER", "TREE_TALLY", "PATH", *names)
        values = " ".join(f'{name}="${name}"' for name in names)
        return ["sh", "-c", f'env -i {values} {" ".join(extra)} "$@"', "sh"]

    def test_two_pid_namespaces(self):
        """P01: equal pids on a shared volume. The name of a trace has the start of its process and a random number."""
        unshare = ["unshare", "--pid", "--fork", "--kill-child"]
        if Run([*unshare, "true"], clean_environment()).status:
            self.skipTest("no right to make a PID namespace")
        tree = f'{" ".join(unshare)} "$@"'
        both = f"{tree} & one=$!; {tree}; a=$?; wait $one && exit $a"
        session = self.run_tree("fork_first", "_exit", wrap=["sh", "-c", both, "sh"])
        processes = session.report["processes"]
        self.assertEqual(sorted(p["calls"] for p in processes), [AFTER] * 2 + [BY_CHILD] * 8)
        self.assertLess(len({p["pid"] for p in processes}), 10, "the pids differ: nothing is shown")


if __name__ == "__main__":
    main()
