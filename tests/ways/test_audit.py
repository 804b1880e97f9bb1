#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is bound past every preload, taken by the library that the loader asks (LD_AUDIT): recorded where it should be, and
else as without. Against fake libraries that tell which of them was called."""
import re
import unittest

from running import FAKES, SHIM, Case, library, program

AUDIT = SHIM.parent / "librooftap-audit.so"
HOOK_LEVEL, COPIES_OF_BLAS = 3, 11
BLAS_13 = FAKES / "libcublas.so.13"


class Audit(Case):
    def audited(self, command, **variables):
        """The program with shim and audit; status and output are those without both."""
        plain = self.plain(command)
        variables.setdefault("ROOFTAP_LOOKUP", "off")
        run = self.shimmed(command, LD_AUDIT=AUDIT, **variables)
        self.assertEqual((plain.returncode, plain.stdout, plain.stderr), (run.returncode, run.stdout, run.stderr))
        return run

    def test_bound_deep(self):
        """Two majors, one bound at once, one call by call: each call is recorded and reaches its own."""
        for majors in ((12, 13), (13, 12)):
            with self.subTest(majors):
                command = [program("deep_host"), "deep", *(library(f"deep_{major}") for major in majors)]
                self.assertEqual(self.shimmed(command).stdout, self.plain(command).stdout)
                self.assertEqual(self.records("call"), [], "not missed without the audit library, so this proves nothing")
                run = self.audited(command)
                self.assertIn("status 0", run.stdout)
                calls = self.records("call")
                self.assertEqual(len(calls), 2 * 2 * 3)
                # The fake's math mode is its major: the getters asked were those of the library called.
                asked = {(call["m"], call["math_mode"]) for call in calls}
                self.assertEqual(asked, {(7, majors[0]), (8, majors[1])})
                self.assertEqual(self.notes(HOOK_LEVEL), ["preload, audit"])

    def test_looked_up(self):
        for lookup, level in (("off", "preload, audit"), ("on", "preload, dlsym, audit")):
            with self.subTest(lookup):
                self.audited([program("copies"), FAKES / "libcublas.so.12", BLAS_13], ROOFTAP_LOOKUP=lookup)
                calls = self.records("call")
                self.assertEqual({(call["m"], call["math_mode"]) for call in calls}, {(7, 12), (11, 13)})
                self.assertEqual(len(calls), 2 * 7)
                self.assertEqual(self.notes(HOOK_LEVEL), [level])

    def test_closed_and_opened_again(self):
        self.audited([program("copies"), FAKES / "libcublas.so.12", BLAS_13, "close"])
        self.assertEqual(len(self.records("call")), 2 * 14)

    def test_every_kind_of_lookup(self):
        """Only the exact names, only where the answer is NVIDIA's, whoever asks and however; errors and all else the same."""
        command = [program("transcript"), BLAS_13, library("plugin")]
        plain = self.plain(command).stdout.splitlines()
        run = self.shimmed(command, LD_AUDIT=AUDIT, ROOFTAP_LOOKUP="off")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        audited = run.stdout.splitlines()
        self.assertEqual(len(plain), len(audited))
        unaudited = self.shimmed(command, ROOFTAP_LOOKUP="off").stdout.splitlines()
        replaced = 0
        for before, without, after in zip(plain, unaudited, audited):
            if after != without:
                replaced += 1
                self.assertRegex(before, r"^\S+ \S+ cublasGemmEx(@libcublas\.so\.13)?: in libcublas\.so\.13;")
                self.assertEqual(after.replace("in librooftap.so", "in libcublas.so.13"), before)
        self.assertGreater(replaced, 5)
        for line in audited:
            self.assertIsNone(re.match(r"^\S+ \S+ cublasGemmEx(@\S+)?: in libcublas", line), line)

    def test_other_namespace_is_left_alone(self):
        run = self.audited([program("deep_host"), "apart", library("deep_12"), library("deep_13")])
        self.assertIn("status 0", run.stdout)
        self.assertEqual(self.records("call"), [])

    def test_switched_off(self):
        self.audited([program("deep_host"), "deep", library("deep_12")], ROOFTAP_DISABLE="1")
        self.assertEqual(self.records("call"), [])
        command = [program("transcript"), BLAS_13, library("plugin")]
        audited = self.shimmed(command, LD_AUDIT=AUDIT, ROOFTAP_LOOKUP="off", ROOFTAP_DISABLE="1")
        self.assertEqual(audited.stdout, self.shimmed(command, ROOFTAP_LOOKUP="off", ROOFTAP_DISABLE="1").stdout)

    def test_without_the_shim(self):
        """What lost its preload and kept this."""
        command = [program("deep_host"), "deep", library("deep_12")]
        plain, alone = self.plain(command), self.plain(command, LD_AUDIT=AUDIT)
        self.assertEqual((plain.returncode, plain.stdout, plain.stderr), (alone.returncode, alone.stdout, alone.stderr))

    def test_which_copies_were_reached(self):
        self.shimmed([program("solver_host")])  # linked
        self.assertEqual(self.notes(COPIES_OF_BLAS), [""])
        self.shimmed([program("copies"), FAKES / "libcublas.so.12", BLAS_13])  # looked up
        self.assertEqual(self.notes(COPIES_OF_BLAS)[-1], "")

    def test_hosts_of_other_rows(self):
        self.audited([program("probing_host"), library("probing")], ROOFTAP_LOOKUP="on")  # I04
        self.audited([program("trampoline_host")], ROOFTAP_LOOKUP="on")  # I01
        self.audited([program("solver_host")])  # I17
        self.assertEqual([call["m"] for call in self.records("call")], [13])


if __name__ == "__main__":
    unittest.main(verbosity=1)
