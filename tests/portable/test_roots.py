#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shim as it was built here, run with other releases' C libraries (row I03): for each folder in $ROOFTAP_GLIBC_ROOTS the
programs of tests/ways and a tree of processes are compiled against that root and run by its own loader, nothing of
this system's C library in them. Skipped (77) where no folder is named."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
WAYS = HERE.parent / "ways"
BUILD = pathlib.Path(os.environ.get("WAYS_BUILD", "")).resolve()
ROOTS = os.environ.get("ROOFTAP_GLIBC_ROOTS", "")
CC = os.environ.get("CC", "cc")
LOADER = "ld-linux-x86-64.so.2"
TIMES = (1, 2, 3, 4, 5, 6)  # family.c


class Root:
    def __init__(self, folder):
        self.folder = folder
        self.name = folder.name
        loaders = sorted(folder.glob(f"lib64/{LOADER}")) + sorted(folder.glob(f"lib/*/{LOADER}"))
        libraries = sorted({path.parent for pattern in ("lib/*/libc.so.6", "lib64/libc.so.6", "usr/lib64/libc.so.6")
                            for path in folder.glob(pattern)})
        if not loaders or not libraries:
            raise SystemExit(f"{folder}: expected a root folder with lib64/{LOADER} and a libc.so.6; "
                             "tests/portable/fill_roots.sh makes one")
        self.loader, self.libraries = loaders[0], [str(path) for path in libraries]
        # glibc's libc.so.6 is a program, too: it prints its version.
        text = subprocess.run([str(self.loader), str(libraries[0] / "libc.so.6")], capture_output=True, text=True, check=True).stdout
        self.version = re.search(r"version (\d+\.\d+)", text).group(1)

    def compile(self, output, sources, *options):
        output.parent.mkdir(parents=True, exist_ok=True)
        starts = [f"{option}{path}" for path in sorted({path.parent for path in self.folder.glob("usr/lib64/crt1.o")}) for option in ("-B", "-L")]
        command = [CC, f"--sysroot={self.folder}", *starts, "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-w", "-fvisibility=hidden",
                   *(f"-L{path}" for path in self.libraries), *map(str, sources), "-o", str(output), *options,
                   f"-Wl,--dynamic-linker={self.loader}", "-Wl,--disable-new-dtags",
                   f"-Wl,-rpath,{':'.join(['$ORIGIN', '$ORIGIN/fakes', *self.libraries])}",
                   f"-Wl,-rpath-link,{':'.join([str(output.parent / 'fakes'), *self.libraries])}", "-ldl", "-lpthread"]
        subprocess.run(command, check=True)

    def build_ways(self, folder):
        """What tests/ways/CMakeLists.txt makes, in the places where running.py looks for it."""
        def library(name, *options, sources=None):
            self.compile(folder / f"libways_{name}.so", sources or [WAYS / f"{name}.c"], "-shared", "-fPIC", *options)

        # NVIDIA's libraries have libpthread and libdl among what they need: a program may get both with them alone.
        def fake(name, source, *options):
            version = folder / f"{name}.map"
            version.parent.mkdir(parents=True, exist_ok=True)
            version.write_text(f"{name} {{ global: cu*; local: *; }};\n")
            self.compile(folder / "fakes" / name, [WAYS / source], "-shared", "-fPIC", "-fvisibility=default",
                         f"-Wl,-soname,{name}", f"-Wl,--version-script={version}", "-Wl,--no-as-needed", *options)

        fakes = folder / "fakes"
        for major in (12, 13):
            fake(f"libcublasLt.so.{major}", "fake_lt.c", f"-DCOPY={major}")
            fake(f"libcublas.so.{major}", "fake_blas.c", f"-DCOPY={major}", str(fakes / f"libcublasLt.so.{major}"))
        fake("libcuda.so.1", "fake_driver.c", "-Wl,-Bsymbolic")
        library("plugin", str(fakes / "libcublas.so.13"))
        library("probing")
        library("solver", str(fakes / "libcublas.so.12"))
        library("behind", "-fvisibility=default", sources=[WAYS / "trampoline_behind.c"])
        library("trampoline", "-fvisibility=default", f'-DBEHIND="{folder}/libways_behind.so"')
        library("counting")
        needs = {"probing_host": "probing", "solver_host": "solver", "trampoline_host": "trampoline"}
        for host in ("transcript", "copies", "driver_host", *needs):
            more = [f"-L{folder}", f"-lways_{needs[host]}"] if host in needs else []
            self.compile(folder / f"ways_{host}", [WAYS / f"{host}.c"], *more)
        self.compile(folder / "family", [HERE / "family.c"])


class Roots(unittest.TestCase):
    maxDiff = None

    def check_ways(self, folder):
        environment = dict(os.environ, WAYS_BUILD=str(BUILD), WAYS_PROGRAMS=str(folder))
        run = subprocess.run([sys.executable, "-B", str(WAYS / "test_lookups.py")], env=environment, capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stderr, r"Ran (\d\d|[1-9]) tests[^\n]*\n\nOK\n")
        return re.search(r"Ran (\d+) tests", run.stderr).group(1)

    def check_family(self, root, folder):
        sys.path.insert(0, str(WAYS))
        os.environ["WAYS_BUILD"], os.environ["WAYS_PROGRAMS"] = str(BUILD), str(folder)
        import running
        case = running.Case()
        case.setUp()
        self.addCleanup(case.doCleanups)
        command = [folder / "family", folder / "fakes" / "libcublas.so.13"]
        plain, shimmed = case.plain(command), case.shimmed(command)
        self.assertEqual((plain.returncode, plain.stdout.splitlines()[-1:], plain.stderr), (0, [f"{root.version}, status 0"], ""))
        self.assertEqual((shimmed.returncode, shimmed.stdout, shimmed.stderr), (plain.returncode, plain.stdout, plain.stderr))
        # The fake prints what it was called for; a child has its parent's text in its buffer, too.
        self.assertEqual(set(plain.stdout.splitlines()[:-1]), {f"cublasGemmEx of 13, m = {m}" for m in TIMES})
        made = {times: [] for times in TIMES}
        for call in case.records("call"):
            made[call["m"]].append(call)
        self.assertEqual({times: len(calls) for times, calls in made.items()}, {times: times for times in TIMES})
        self.assertEqual(len(case.records("process")), len(TIMES))

    def test_each(self):  # I03
        folders = sorted(path for path in pathlib.Path(ROOTS).resolve().iterdir() if path.is_dir())
        self.assertTrue(folders, f"{ROOTS} holds no root folder; tests/portable/fill_roots.sh makes some")
        for path in folders:
            with self.subTest(path.name), tempfile.TemporaryDirectory(prefix="rooftap-root-") as scratch:
                root, programs = Root(path), pathlib.Path(scratch)
                root.build_ways(programs)
                self.check_family(root, programs)
                print(f"{root.name}: glibc {root.version}, a tree of {len(TIMES)} processes, {self.check_ways(programs)} tests of look-ups",
                      flush=True)


if __name__ == "__main__":
    if not ROOTS or not pathlib.Path(ROOTS).is_dir():
        print("skipped: ROOFTAP_GLIBC_ROOTS names no folder (tests/portable/README.md)")
        sys.exit(77)
    unittest.main(verbosity=1)
