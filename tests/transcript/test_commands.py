#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shells, git, Python and other preloads with the shim and without it. P14: what commands print. P13: the shim comes late,
when most of the room for static TLS is taken. P15: an allocator that is preloaded too, in both orders."""
import glob
import pathlib
import shutil
import sys

from recording import BUILD, library, main
from test_programs import MODULE, SHIM, SUBJECT
from transcript import Row, Transcripts

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
FILLER = str(BUILD / "tests" / "transcript" / "libtranscript_filler.so")
FILLERS_LEFT = 1  # 64 bytes of static TLS, of some 1600 that glibc keeps for what is loaded late
LIBRARY = library("gemms")
CALLS = f"import ctypes, sys; print(ctypes.CDLL({LIBRARY!r}).gemms_run(9, 8, 8, 8))"
PYTHON = sys.executable

SUBSTITUTION = 'x=$(echo 5; expr 2 + 3); echo "<$x>"; y=`printf "%s" "$x" | tr "\\n" ,`; echo "$y"; echo err >&2; exit 3'
PIPES = 'seq 20000 | sort -r | head -n 3 | sed s/9/x/ | { read a; cat; echo "$a"; }; cat <<END | wc -c\n$(seq 100)\nEND\nls /nonexistent'
ERRORS = "set -e; trap 'echo bye $?' EXIT; trap 'echo usr' USR1; kill -USR1 $$; (exit 4) || echo four; false; echo never"
JOBS = 'sleep 0.05 & p=$!; (trap "" INT; echo sub) & wait $!; kill $p; wait $p; echo $?; ulimit -n 64; echo $(ulimit -n); umask 027; umask'
# Commands that compute, between those that do not.
CAPTURING = f'set -e; x=$({PYTHON} -c "{CALLS}"); test "$x" = 0; {PYTHON} -c "{CALLS}" | cat; y=$(ls /proc/self/fd | wc -l); echo "$x $y"'
GIT = """set -e; git init -q -b main .; echo one >file; git add file; git commit -q -m first; echo two >>file; git commit -qam second
git log --format='%H %an %s'; git status --short; git diff HEAD~1 | cat; git stash list; git gc -q; git fsck 2>&1; git no-such-command"""
GIT_NAMES = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
             for what, value in (("NAME", "name"), ("EMAIL", "e@mail"), ("DATE", "2026-01-02T03:04:05Z"))}
GIT_NAMES.update(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null")


def installed(pattern):
    found = sorted(path for folder in ("/usr/lib/*", "/usr/lib64", "/usr/lib", "/usr/local/lib")
                   for path in glob.glob(f"{folder}/{pattern}"))
    return found[0] if found else None


def beside(first, second):
    """Both preloaded, in this order."""
    def inject(session):
        return {"LD_PRELOAD": f"{first}:{second}", "CUDA_INJECTION64_PATH": str(SHIM), "ROOFTAP_DIR": str(session)}
    return inject


class Commands(Transcripts):
    def test_shells(self):
        shells = [shell for shell in ("sh", "bash") if shutil.which(shell)]
        rows = [Row(f"{shell}: {name}", [shell, "-c", script], status, uses_cuda=traced, ledger="order" if traced else None)
                for shell in shells
                for name, script, status, traced in (
                    ("substitution", SUBSTITUTION, 3, False), ("pipes", PIPES, 2, False), ("errors", ERRORS, 1, False),
                    ("jobs", JOBS, 0, False), ("capturing", CAPTURING, 0, True))]
        rows.append(Row("killed", ["sh", "-c", "echo out; kill -TERM $$"], -15, None, uses_cuda=False))
        self.assertEqual(self.compare_rows(rows), [])

    def test_git(self):
        if not shutil.which("git"):
            self.skipTest("no git")
        # In the index stand times and inodes.
        row = Row("git", ["sh", "-c", GIT], 1, None, environment=GIT_NAMES, uses_cuda=False, files_of_run=r"\.git/(index|COMMIT)")
        self.assertEqual(self.compare_rows([row]), [])

    def test_python(self):
        look = "import os, signal; print(sorted(os.listdir('/proc/self/fd')), signal.pthread_sigmask(0, []), os._exit(4))"
        rows = [Row(f"multiprocessing: {method}", [PYTHON, str(PROGRAMS / "workers.py"), LIBRARY, method])
                for method in ("fork", "spawn", "forkserver")]
        rows += [Row("python: calls", [PYTHON, "-c", CALLS + "; sys.exit(9)"], 9),
                 Row("python: raises", [PYTHON, "-c", CALLS + "; raise SystemError('x')"], 1),
                 Row("python: no CUDA", [PYTHON, "-c", look.replace("print", "x = print", 1)], 4, None, uses_cuda=False)]
        self.assertEqual(self.compare_rows(rows), [])

    def late_rows(self):
        before = [path for path in (installed("libgomp.so.1"), installed("libjemalloc.so.2")) if path]
        for name, libraries in (("filled", []), ("filled, libgomp and jemalloc", before)):
            yield Row(f"late: {name}", [PYTHON, str(PROGRAMS / "late.py"), LIBRARY, str(self.scratch), str(FILLERS_LEFT), *libraries],
                      environment={"SUBJECT_FILLER": FILLER}, alone={"SUBJECT_LATE": str(MODULE)},
                      shimmed={"SUBJECT_LATE": str(SHIM)}, inject=lambda session: {"ROOFTAP_DIR": str(session)}, traced=False)

    def test_late(self):
        """Where CUDA's own libraries come after it, it is in front of them and records."""
        self.assertEqual(self.compare_rows(list(self.late_rows())), [])
        alone = self.alone(next(self.late_rows()))
        self.assertEqual(alone.text["stdout"], ["room for some True filled True", "late True", "failed 0"])

    def test_allocators(self):
        jemalloc = installed("libjemalloc.so.2")
        if not jemalloc:
            self.skipTest("no libjemalloc.so.2: install libjemalloc2")
        rows = []
        for order, pair in (("before", (jemalloc, SHIM)), ("after", (SHIM, jemalloc))):
            for options in ("", "prof:true,prof_active:true"):
                for name, command, status in (("ending", [SUBJECT, "ending", "return"], 8), ("threads", [SUBJECT, "threads"], 8),
                                              ("loading", [SUBJECT, "loading", str(MODULE)], 8), ("python", [PYTHON, "-c", CALLS], 0)):
                    rows.append(Row(f"jemalloc {order}{', profiling' if options else ''}: {name}", command, status,
                                    "order" if name in ("ending", "python") else "threads",
                                    environment={"MALLOC_CONF": options}, alone={"LD_PRELOAD": jemalloc}, inject=beside(*pair),
                                    long=bool(options) != (name == "ending")))
        self.assertEqual(self.compare_rows(rows), [])


if __name__ == "__main__":
    main()
