#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that are linked to no CUDA library, on the simulated GPU: what they reach by name is recorded, exactly as the
ledger has it."""
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import ledger
from recording import BUILD, STAND_INS, Case, main

HOST = str(BUILD / "tests" / "ways" / "ways_sim_host")
DEEP_HOST, DEEP_PLUGIN = (str(BUILD / "tests" / "ways" / name) for name in ("ways_deep_host", "libways_deep_sim.so"))


class Simulated(Case):
    def session_of(self, *arguments, **options):
        return self.recorded([HOST, *map(str, arguments)], **options)

    def assert_gemms(self, session):
        ledger.assert_equal(self, session, calls=4)
        self.assertEqual([(call["m"], call["n"], call["k"]) for call in session.records("call")], 3 * [(7, 9, 11)] + [(5, 3, 2)])
        self.assertEqual({row["name"]: row["calls"] for row in session.report["operators"]},
                         {"cublasGemmEx": 3, "cublasSgemm_v2": 1})

    def test_opened_local(self):
        session = self.session_of("gemms", "libcublas.so.13", "local", sim_options=["gemm_nested=1"])
        self.assert_gemms(session)
        self.assertEqual({p["hook_level"] for p in session.processes().values()}, {"preload, dlsym"})

    def test_asked_by_version(self):
        self.assert_gemms(self.session_of("gemms", "libcublas.so.13", "local", "dlvsym"))

    def copy_elsewhere(self):
        copy = self.scratch / "else where" / "libcublas.so.13"
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(STAND_INS / "libcublas.so.13", copy)
        return str(copy)

    def test_copy_elsewhere_opened_deep(self):  # I06
        for lookup, options, level in (("on", [], "preload, dlsym"), ("off", ["--audit"], "preload, audit"),
                                       ("on", ["--audit"], "preload, dlsym, audit")):
            with self.subTest(lookup=lookup, options=options):
                session = self.session()
                run = session.record([HOST, "gemms", self.copy_elsewhere(), "deepbind"], options=options,
                                     environment={"ROOFTAP_LOOKUP": lookup})
                self.assertEqual(run.status, 0, run.err)  # the command may warn of a library that was opened by its path
                self.assert_gemms(session)
                self.assertEqual({p["hook_level"] for p in session.processes().values()}, {level})

    def test_plugin_bound_deep(self):
        session = self.recorded([DEEP_HOST, "deep", DEEP_PLUGIN], options=["--audit"])
        ledger.assert_equal(self, session, calls=6)

    def test_launches_by_driver(self):
        session = self.session_of("launches")
        kernels = session.ledger("kernel")
        self.assertEqual([kernel["grid"][0] for kernel in kernels], list(range(1, 8)))
        launches = session.records("launch")
        self.assertEqual([launch["grid"][0] for launch in launches], list(range(1, 8)))
        report = session.report
        self.assertEqual(report["coverage"]["kernels_unjoined"], 0)

    def test_switched_off(self):
        session = self.session_of("gemms", "libcublas.so.13", "local", environment={"ROOFTAP_LOOKUP": "off"})
        self.assertEqual(session.records("call"), [])
        self.assertEqual({p["hook_level"] for p in session.processes().values()} - {None}, {"preload"})


if __name__ == "__main__":
    main()
