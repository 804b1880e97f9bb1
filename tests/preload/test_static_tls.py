#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""P13: "cannot allocate memory in static TLS block". The loader keeps a few hundred bytes for the thread-local variables of
libraries that come late, whoever they are. test_static_tls.py SHIM STUB64 STUB160

The shim takes 64 of them at most, and so it loads as long as any library does that takes 64."""
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

SHIM, STUB64, STUB160 = (os.path.abspath(path) for path in sys.argv[1:4])
MOST = 64
LIKELY = ["libgomp.so.1", "libjemalloc.so.2", "libtcmalloc.so.4", "libstdc++.so.6"]  # as far as they are there
COPIES = 100

# Opens what its arguments name, in order; says how many it could, and what the loader said of the next.
OPEN = """
import ctypes, sys
for library in %r:
    try: ctypes.CDLL(library, ctypes.RTLD_GLOBAL)
    except OSError: pass
opened = 0
for library in sys.argv[1:]:
    try: ctypes.CDLL(library)
    except OSError as error:
        print(opened, error)
        break
    opened += 1
else:
    print(opened, "all")
if opened == len(sys.argv) - 1 and sys.argv[-1].endswith("librooftap.so"):
    print(ctypes.CDLL(sys.argv[-1]).InitializeInjection())
""" % LIKELY


def tls_bytes(path):
    """Size of the segment PT_TLS, 0 without one."""
    data = pathlib.Path(path).read_bytes()
    offset, size, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    for i in range(count):
        kind, _, _, _, _, _, memory, _ = struct.unpack_from("<IIQQQQQQ", data, offset + i * size)
        if kind == 7:
            return memory
    return 0


class StaticTls(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.stubs = []
        for i in range(COPIES):  # the same file twice would be the same library
            self.stubs.append(str(shutil.copy(STUB64, self.folder / f"stub{i}.so")))

    def open(self, libraries, **environment):
        traces = self.folder / "traces"
        traces.mkdir(exist_ok=True)
        clean = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "GLIBC_TUNABLES")}
        run = subprocess.run([sys.executable, "-c", OPEN, *libraries], capture_output=True, text=True,
                             env={**clean, "ROOFTAP_DIR": str(traces), **environment})
        self.assertEqual((run.returncode, run.stderr), (0, ""), libraries)
        first, *rest = run.stdout.splitlines()
        opened, why = first.split(" ", 1)
        return int(opened), why, rest, sorted(p.suffix for p in traces.iterdir() if p.suffix)

    def fill(self):
        """As many stubs as leave room for one more, and no more."""
        fit, why, *_ = self.open(self.stubs)
        self.assertLess(fit, COPIES, "there is no end to static TLS here")
        self.assertIn("static TLS", why)
        self.assertGreater(fit, 1)
        return self.stubs[:fit - 1]

    def test_segment(self):
        self.assertEqual((tls_bytes(STUB64), tls_bytes(STUB160)), (64, 160))
        self.assertGreater(tls_bytes(SHIM), 0, "what is known of a thread is somewhere else: is this the library?")
        self.assertLessEqual(tls_bytes(SHIM), MOST)

    def test_late(self):
        full = self.fill()
        opened, why, rest, traces = self.open([*full, SHIM])
        self.assertEqual((opened, why), (len(full) + 1, "all"))
        self.assertEqual((rest, traces), (["1"], [".trace"]), "it is there, but does not record")

    def test_one_that_takes_more_has_no_room(self):
        """What 160 bytes, as many as the shim once took, come to in the same place."""
        full = self.fill()
        opened, why, *_ = self.open([*full, STUB160])
        self.assertEqual(opened, len(full))
        self.assertIn("static TLS", why)

    def test_early(self):
        """Before everything; then it costs the late ones no more than one of 64 bytes does."""
        fit = self.open(self.stubs)[0]
        opened, _, _, traces = self.open(self.stubs, LD_PRELOAD=SHIM)
        self.assertGreaterEqual(opened, fit - 1)
        self.assertEqual(traces, [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
