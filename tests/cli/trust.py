#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What SECURITY.md says of files: rights, whatever the umask; what others may have put into a folder, or in the place of one, is
neither followed nor written to nor waited for. Owners other than oneself need root; without it those tests are skipped."""
import json
import os
import pathlib
import shutil
import stat
import subprocess
import time
import unittest

from recording import BUILD, Case, clean_environment, main, program, Run

TREE = str(BUILD / "tests" / "trees" / "tree")
CALL = [program("calls"), "one", "ex", "64", "32", "16", "10"]
NOBODY = 65534
SECRET = "what a victim keeps here\n"
FILES = ("session.json.new", "unrecorded", "gpu.clocks", "simulated-gpu.conf")


def rights(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


class Trust(Case):
    def victim(self):
        path = self.scratch / "victim"
        path.write_text(SECRET)
        return path

    def plant(self, kind, path, victim):
        if kind == "link":
            path.symlink_to(victim)
        elif kind == "link to nothing":
            path.symlink_to(self.scratch / "nothing")
        elif kind == "hard link":
            os.link(victim, path)
        else:
            os.mkfifo(path)

    def check_victim(self, victim, what):
        self.assertEqual(victim.read_text(), SECRET, what)
        self.assertFalse((self.scratch / "nothing").exists(), f"{what}: something was made at the end of a link")

    # ---- rights ----

    def test_rights(self):
        session = self.session()
        run = session.record(CALL, umask=0)
        self.assertEqual((run.status, run.err), (0, ""))
        self.assertEqual(oct(rights(session.folder)), oct(0o700))
        self.assertEqual({path.name: oct(rights(path)) for path in session.folder.iterdir()},
                         {path.name: oct(0o600) for path in session.folder.iterdir()})
        self.assertTrue(session.traces)

    def test_rights_without_the_command(self):
        """A trace that a preloaded program makes in a folder by itself, and the page by which its timing is switched."""
        folder = self.scratch / "own"
        folder.mkdir(mode=0o755)
        run = Run(CALL, clean_environment({"ROOFTAP_DIR": str(folder), "LD_PRELOAD": str(BUILD / "lib/rooftap/librooftap.so"),
                                           "LD_LIBRARY_PATH": str(BUILD / "lib/rooftap/sim")}), umask=0)
        self.assertEqual((run.status, run.err), (0, ""))
        made = list(folder.iterdir())
        self.assertEqual(sorted(path.suffix for path in made), ["", ".trace"])
        self.assertEqual({path.name: oct(rights(path)) for path in made}, {path.name: oct(0o600) for path in made})

    # ---- planted files ----

    def test_planted_files(self):
        for name in FILES:
            for kind in ("link", "link to nothing", "hard link", "pipe"):
                with self.subTest(f"{kind} for {name}"):
                    victim, session = self.victim(), self.session()
                    session.folder.mkdir()
                    self.plant(kind, session.folder / name, victim)
                    run = session.record(CALL)  # a bound for what hangs is in there
                    self.check_victim(victim, f"{kind} for {name}")
                    if run.status:
                        self.assertEqual((run.status, len(run.err.splitlines())), (2, 1), run.err)
                    else:
                        self.assertEqual(session.report["coverage"]["calls"], 10)

    def test_planted_session(self):
        for kind in ("link", "link to nothing", "hard link", "pipe"):
            with self.subTest(kind):
                victim, session = self.victim(), self.session()
                session.folder.mkdir()
                self.plant(kind, session.folder / "session.json", victim)
                run = session.record(CALL)
                self.check_victim(victim, kind)
                self.assertEqual(run.status, 2)
                self.assertIn("already holds a session", run.err)

    # ---- folders of others ----

    @unittest.skipIf(os.geteuid(), "needs root")
    def test_folders_of_others(self):
        """(whose, rights, a link by whom) and whether it is taken."""
        for owner, mode, link_owner, taken in ((NOBODY, 0o777, None, False), (NOBODY, 0o1777, None, True),
                                               (NOBODY, 0o755, None, True), (0, 0o777, None, True),
                                               (0, 0o755, NOBODY, False), (0, 0o755, 0, True)):
            with self.subTest(f"{owner} {mode:o} {link_owner}"):
                session = self.session()
                folder = self.scratch / f"folder{self.sessions}" if link_owner is not None else session.folder
                folder.mkdir()
                folder.chmod(mode)
                os.chown(folder, owner, owner)
                if link_owner is not None:
                    session.folder.symlink_to(folder)
                    os.chown(session.folder, link_owner, link_owner, follow_symlinks=False)
                run = session.record(CALL)
                if taken:
                    self.assertEqual((run.status, run.err), (0, ""))
                    continue
                self.assertEqual((run.status, len(run.err.splitlines())), (2, 1), run.err)
                self.assertIn("belongs to another user", run.err)
                self.assertEqual(list(folder.iterdir()), [])

    def test_folder_that_is_replaced(self):
        """Who may write in its parent moves the folder away and puts a link to another session in its place."""
        other = self.scratch / "other"
        other.mkdir()
        (other / "session.json").write_text(SECRET)
        session = self.session()
        script = f"mv '{session.folder}' '{session.folder}.moved' && ln -s '{other}' '{session.folder}'"
        run = session.record(["sh", "-c", script])
        self.assertEqual((run.status, run.err), (0, ""))
        self.assertEqual([path.name for path in other.iterdir()], ["session.json"])
        self.assertEqual((other / "session.json").read_text(), SECRET)
        ended = json.loads(pathlib.Path(f"{session.folder}.moved/session.json").read_text())
        self.assertEqual(ended["exit"], {"kind": "exit", "value": 0})

    def test_trace_that_is_replaced(self):
        """While it grows something else comes in its place: the program goes on, and that is left alone."""
        for kind in ("link", "hard link", "pipe"):
            with self.subTest(kind):
                victim, folder = self.victim(), self.scratch / f"traces {kind}"
                folder.mkdir()
                environment = clean_environment({
                    "ROOFTAP_DIR": str(folder), "LD_PRELOAD": str(BUILD / "lib/rooftap/librooftap.so"), "ROOFTAP_TIMING": "off",
                    "LD_LIBRARY_PATH": str(BUILD / "lib/rooftap/sim"), "TREE_TALLY": str(self.scratch / "tally")})
                process = subprocess.Popen([TREE, "calls", "150000", "40"], env=environment, stderr=subprocess.PIPE)
                while not list(folder.glob("*.trace")) and process.poll() is None:
                    time.sleep(0.001)
                trace, = folder.glob("*.trace")
                trace.rename(self.scratch / f"moved {kind}")
                self.plant(kind, trace, victim)
                _, err = process.communicate(timeout=60)
                self.assertEqual((process.returncode, err), (40, b""))
                self.check_victim(victim, kind)
                self.assertLess((self.scratch / f"moved {kind}").stat().st_size, 150_000 * 48, "it grew on: nothing is shown")

    # ---- rings in /dev/shm, which is open to everybody ----

    def test_rights_of_a_ring(self):
        session = self.session()
        rings = f"/dev/shm/rooftap-{os.geteuid()}-*"
        process = session.start(["sh", "-c", f"umask 0; {TREE} calls 100000 0 & sleep 0.3; stat -c '%a %U %n' {rings} {rings}/*; wait"],
                                environment={"SIMGPU_LEDGER": "", "TREE_TALLY": str(self.scratch / "tally")}, umask=0)
        out, err = process.communicate(timeout=60)
        self.assertEqual(err, "")
        found = [line.split() for line in out.splitlines()]
        self.assertTrue([name for _, _, name in found if name.endswith(".trace")], out)
        for mode, _, name in found:
            self.assertEqual(mode, "700" if os.path.dirname(name) == "/dev/shm" else "600", name)

    def ring_session(self, ring):
        """A session that says its ring is RING, where a trace of another process lies; the calls that a report finds."""
        session = self.session()
        self.assertEqual(session.record(CALL).status, 0)
        told = json.loads((session.folder / "session.json").read_text())
        (session.folder / "session.json").write_text(json.dumps({**told, "ring": str(ring)}))
        return session.report["coverage"]["calls"]

    def make_ring(self, folder):
        other = self.session()
        self.assertEqual(other.record(CALL).status, 0)
        trace, = other.traces
        folder.mkdir(mode=0o700)
        self.addCleanup(shutil.rmtree, folder, True)
        shutil.copy(trace, folder / trace.name)

    def test_planted_rings(self):
        """A folder under such a name that is not private to oneself, or is somewhere else, is not looked into."""
        shm = pathlib.Path("/dev/shm")
        own = shm / f"rooftap-{os.geteuid()}-{os.getpid():016x}"
        elsewhere = self.scratch / own.name
        self.make_ring(own)
        self.assertEqual(self.ring_session(own), 20, "not even one's own is looked into: nothing is shown")
        own.chmod(0o755)
        self.assertEqual(self.ring_session(own), 10, "one that others may read")
        shutil.move(own, elsewhere)
        elsewhere.chmod(0o700)
        self.addCleanup(shutil.rmtree, elsewhere, True)
        self.assertEqual(self.ring_session(elsewhere), 10, "one that is elsewhere")
        self.assertEqual(self.ring_session(f"/dev/shm/..{elsewhere}"), 10, "one that is elsewhere, by a detour")
        own.symlink_to(elsewhere)
        calls = self.ring_session(own)
        own.unlink()
        self.assertEqual(calls, 10, "a link")
        if os.geteuid() == 0:
            shutil.move(elsewhere, own)
            os.chown(own, NOBODY, NOBODY)
            self.assertEqual(self.ring_session(own), 10, "another user's")


if __name__ == "__main__":
    main()
