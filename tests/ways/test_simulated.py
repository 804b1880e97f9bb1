#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that are linked to no CUDA library, on the simulated GPU: what they reach by name is recorded, exactly as the
ledger has it."""
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import ledger
from recording import BUILD, STAND_INS, Case, Run, main

HOST = str(BUILD / "tests" / "ways" / "ways_sim_host")
DEEP_HOST, DEEP_PLUGIN = (str(BUILD / "tests" / "ways" / name) for name in ("ways_deep_host", "libways_deep_sim.so"))
STATIC_HOSTS = [str(BUILD / "tests" / "ways" / f"ways_static_blas_{runtime}") for runtime in ("static", "shared")]


class Simulated(Case):
    def session_of(self, *arguments, **options):
        return self.recorded([HOST, *map(str, arguments)], **options)

    def assert_gemms(self, session):
        ledger.assert_equal(self, session, calls=4)
        self.assertEqual([(call["m"], call["n"], call["k"]) for call in session.records("call")], 3 * [(7, 9, 11)] + [(5, 3, 2)])
        self.assertEqual({row["name"]: row["calls"] for row in session.report["operators"]},
                         {"cublasGemmEx": 3, "cublasSgemm_v2": 1})
        process, = session.report["processes"]
        self.assertEqual((process["blas_unreached"], process["calls_unseen_reason"]), ([], None))

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

    def assert_hidden(self, session, reason, unreached, kernels):
        """The report has as hidden what the ledger has as GEMMs, names the reason, and repeats it on top."""
        ran = session.ledger("kernel")
        time_ns = sum(kernel["end"] - kernel["start"] for kernel in ran)
        self.assertEqual(len(ran), kernels)
        process, = session.report["processes"]
        self.assertEqual((process["calls"], process["calls_unseen"], process["calls_unseen_reason"]), (0, True, reason))
        self.assertEqual((process["shapeless_gemms"], process["shapeless_gemm_time_ns"]), (kernels, time_ns))
        self.assertEqual(process["blas_unreached"], unreached)
        self.assertEqual([(row["kind"], row["m"]) for row in session.report["operators"]], 2 * [("gemm", None)])
        caveats = {caveat["id"]: caveat["text"] for caveat in session.report["caveats"]}
        self.assertIn(f"{kernels} kernels of class gemm, shape unknown, 100.0 % of GPU time", caveats["hidden_shapes"])
        return " ".join(session.text.split("%TIME")[0].split())  # what stands above the rows

    def test_escaped_copy_is_named(self):  # I06
        copy = self.copy_elsewhere()
        session = self.session()
        run = session.record([HOST, "gemms", copy, "deepbind"], environment={"ROOFTAP_LOOKUP": "off"})
        self.assertEqual(run.status, 0, run.err)
        top = self.assert_hidden(session, "bound_past", [copy], 4)
        self.assertIn(f"calls past rooftap: none was seen of {copy}, though 4 kernels", top)

    def test_escaped_stand_in_is_named(self):
        session = self.recorded([DEEP_HOST, "deep", DEEP_PLUGIN])
        top = self.assert_hidden(session, "bound_past", [str(STAND_INS / "libcublas.so.13")], 6)
        self.assertIn("calls past rooftap: none was seen of", top)

    def test_built_in(self):  # I13
        for host in STATIC_HOSTS:
            with self.subTest(host):
                session = self.recorded([host], environment={"ROOFTAP_LOOKUP": "on"})
                top = self.assert_hidden(session, "built_in", [], 6)
                self.assertIn("BLAS looks static: no library call was seen and no cuBLAS is loaded, though 6 kernels", top)
                # By the functions that the driver gave out.
                self.assertEqual(session.report["coverage"]["kernels_unjoined"], 0)
                self.assertEqual([launch["grid"] for launch in session.records("launch")],
                                 [kernel["grid"] for kernel in session.ledger("kernel")])
                self.assertEqual(session.report_run().status, 0)

    def test_built_in_and_look_ups_off(self):
        """The simulator's own cuBLAS is there, and may have been asked for by name: nothing is claimed."""
        for host in STATIC_HOSTS:
            with self.subTest(host):
                session = self.recorded([host], environment={"ROOFTAP_LOOKUP": "off"})
                self.assert_hidden(session, "not_known", [], 6)
                self.assertEqual(session.report["coverage"]["kernels_unjoined"], 6)

    def test_built_in_and_none_preloaded(self):
        """By the environment alone, as where there is a GPU: no cuBLAS in the process, so that is certain."""
        session = self.session()
        session.folder.mkdir()
        shim = str(STAND_INS.parent / "librooftap.so")
        run = Run([STATIC_HOSTS[0]], session.environment({
            "LD_PRELOAD": shim, "CUDA_INJECTION64_PATH": shim, "ROOFTAP_DIR": str(session.folder), "ROOFTAP_LOOKUP": "off",
            "LD_LIBRARY_PATH": str(STAND_INS)}))
        self.assertEqual((run.status, run.err), (0, ""))
        self.assertIn("BLAS looks static", self.assert_hidden(session, "built_in", [], 6))
        self.assertEqual(session.report["processes"][0]["blas_files"], 0)

    def test_launches_by_driver(self):  # I06
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
