#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions that a program looks up by name: what it gets is recorded where it should be, and is else what it would get
without the shim. Against fake libraries that tell which of them was called."""
import os
import re
import shutil
import unittest

from running import BUILD, FAKES, LOST_SHIM, ROOFTAP, SHIM, Case, library, program

HOOK_LEVEL, ESCAPED = 3, 9
BLAS = {12: FAKES / "libcublas.so.12", 13: FAKES / "libcublas.so.13"}


class Transcript(Case):  # I02: RTLD_NEXT, RTLD_DEFAULT and handles, three times each, in two threads
    def lines(self, run):
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout.splitlines()

    def compare(self, plain, shimmed, ours):
        """Every line the same, but that a hooked name of cuBLAS is in the shim where it was in cuBLAS."""
        self.assertEqual(len(plain), len(shimmed))
        replaced = 0
        for before, after in zip(plain, shimmed):
            if " dlsym: in librooftap.so" in after: # as any function that a preload stands in front of
                self.assertRegex(before, r" dlsym: in lib(c\.so\.6|dl\.so\.2|dl-2\.\d+\.so|c-2\.\d+\.so);")
                after = re.sub(": in [^;]*", re.search(": in lib[^;]*", before).group(), after, count=1)
            if "in librooftap.so" in after:
                self.assertTrue(ours, after)
                self.assertRegex(before, r"^\S+ \S+ (cublasGemmEx(@libcublas\.so\.13)?): in libcublas\.so\.13;")
                after = after.replace("in librooftap.so", "in libcublas.so.13")
                replaced += 1
            self.assertEqual(before, after)
        return replaced

    def test_every_kind_of_lookup(self):
        command = [program("transcript"), BLAS[13], library("plugin")]
        plain = self.lines(self.plain(command))
        self.assertIn("program default cublasGemmEx: NULL; error: " + command[0] +
                      ": undefined symbol: cublasGemmEx; then: none; errno kept", plain)
        shimmed = self.lines(self.shimmed(command))
        self.assertGreater(self.compare(plain, shimmed, True), 20)
        # Not one left out: what a program gets of cuBLAS that is hooked is the shim's, but through RTLD_NEXT in a library
        # that was opened, which no preload comes before.
        for line in shimmed:
            if re.match(r"^\S+ \S+ cublasGemmEx(@libcublas\.so\.13)?: in libcublas", line):
                self.assertIn("plugin next", line)

    def test_c_library_is_not_known(self):  # I03
        """Then the program's look-ups are passed on as they are, and one note says that they are not seen."""
        command = [program("transcript"), BLAS[13], library("plugin")]
        plain, shimmed = self.lines(self.plain(command)), self.lines(self.shimmed(command, shim=LOST_SHIM))
        # What a look-up in the order of the libraries comes upon is the shim's own export, as with any other preload.
        self.assertEqual(len(plain), len(shimmed))
        for before, after in zip(plain, shimmed):
            if "in libways_lost_shim.so" in after:
                self.assertRegex(after, "^(program|plugin) (default|next|itself) ")
            else:
                self.assertEqual(before, after)
        command = [program("copies"), BLAS[12], BLAS[13]]
        plain, run = self.plain(command), self.shimmed(command, shim=LOST_SHIM)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (plain.returncode, plain.stdout, plain.stderr))
        self.assertEqual(self.records("call"), [])
        plain, run = self.plain([program("solver_host")]), self.shimmed([program("solver_host")], shim=LOST_SHIM)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (plain.returncode, plain.stdout, plain.stderr))
        self.assertEqual([call["m"] for call in self.records("call")], [13])  # it is linked to cuBLAS
        self.assertEqual(self.notes(HOOK_LEVEL), ["preload"])
        self.assertEqual(self.notes(ESCAPED),
                         ["look-ups by name are not seen: the C library's own dlsym is not where it is known to be"])

    def test_switched_off(self):
        command = [program("transcript"), BLAS[13], library("plugin")]
        for variables in ({"ROOFTAP_LOOKUP": "off"}, {"ROOFTAP_DISABLE": "1"}):
            with self.subTest(variables):
                self.assertFalse([line for line in self.lines(self.shimmed(command, **variables))
                                  if "cublas cublasGemmEx: in librooftap" in line])


class Copies(Case):
    def test_two_majors_each_call_to_its_own(self):
        for order in ((12, 13), (13, 12)):
            with self.subTest(order):
                run = self.assert_same([program("copies"), *(BLAS[major] for major in order)])
                self.assertIn("status 0", run.stdout)
                calls = self.records("call")
                self.assertEqual(len(calls), 2 * 7)
                # The fake's math mode is its major: the getters asked were those of the library called.
                asked = {(call["m"], call["math_mode"]) for call in calls}
                self.assertEqual(asked, {(7, order[0]), (11, order[1])})

    def test_closed_and_opened_again(self):
        run = self.assert_same([program("copies"), BLAS[12], BLAS[13], "close"])
        self.assertIn("status 0", run.stdout)
        self.assertEqual(len(self.records("call")), 2 * 14)

    def test_one_copy_twice(self):
        run = self.assert_same([program("copies"), BLAS[13], BLAS[13]])
        self.assertIn("status 0", run.stdout)
        self.assertEqual(len(self.records("call")), 2 * 7)


class Driver(Case):  # I02: the fake driver looks its own functions up; I05: by version, flags, with NULLs
    def check(self, escaped, **variables):
        run = self.assert_same([program("driver_host"), FAKES / "libcuda.so.1"], LD_LIBRARY_PATH=FAKES, **variables)
        self.assertEqual(run.returncode, 0)
        self.assertIn("cuInit: 0", run.stdout)
        sizes = [launch["grid"][0] for launch in self.records("launch")]
        self.assertEqual(sorted(sizes), list(range(101, 109)))
        self.assertEqual(self.notes(ESCAPED)[-1:], escaped)
        self.assertEqual(self.notes(HOOK_LEVEL), ["preload, dlsym"])
        self.assertIn(escaped[0], self.report())

    def test_given_what_it_exports(self):
        self.check(["2 entry points escaped: cuLaunchKernelEx, cuLaunchGrid"])

    def test_given_what_no_table_has(self):
        self.check(["2 entry points escaped: cuLaunchKernelEx, cuLaunchGrid"], FAKE_PRIVATE="1")

    def test_switched_off(self):
        self.assert_same([program("driver_host"), FAKES / "libcuda.so.1"], LD_LIBRARY_PATH=FAKES, ROOFTAP_LOOKUP="off")
        self.assertEqual(self.records("launch"), [])


class Hosts(Case):
    def test_constructor_that_probes(self):  # I04
        for late in ([], [library("probing")]):
            run = self.assert_same([program("probing_host"), *late])
            self.assertRegex(run.stdout, "^[0-9a-f]{8}\n$")

    def test_front_library_is_not_led_to_itself(self):  # I01
        """From an install folder with a blank in its name, by the command and by a preload through a link."""
        elsewhere = self.folder / "r t" / "v1.2"
        for file in (ROOFTAP, SHIM):
            (elsewhere / file.relative_to(BUILD)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, elsewhere / file.relative_to(BUILD))
        link = self.folder / "elsewhere"  # LD_PRELOAD takes no blank
        os.symlink(elsewhere, link)
        command = [program("trampoline_host")]
        plain = self.plain(command)
        self.assertEqual(plain.stdout, "cudnnCreate: 0, 0x5e5e\n")
        by_preload = self.run_program(command, [link / SHIM.relative_to(BUILD)], ROOFTAP_DIR=self.folder)
        self.assertEqual((by_preload.returncode, by_preload.stdout, by_preload.stderr), (0, plain.stdout, ""))
        by_command = self.run_program([elsewhere / ROOFTAP.relative_to(BUILD), "record", "-q", "-o", self.folder / "session",
                                       "--", *command])
        self.assertEqual((by_command.returncode, by_command.stdout), (0, plain.stdout))
        self.assertRegex(by_command.stderr, r"^rooftap record: LD_PRELOAD can't carry the path [^\n]*\n$")

    def test_sibling_that_imports_by_version(self):  # I17
        run = self.assert_same([program("solver_host")])
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual([call["m"] for call in self.records("call")], [13])

    def test_other_preloads_in_front_of_dlsym(self):
        command = [program("copies"), BLAS[12], BLAS[13]]
        plain = self.plain(command, [library("counting")])
        for where in ("before", "after"):
            with self.subTest(where):
                run = self.shimmed(command, **{where: [library("counting")]})
                self.assertEqual((run.returncode, run.stdout, run.stderr), (plain.returncode, plain.stdout, plain.stderr))
                # One before us that asks the C library past all others has its look-ups to itself.
                self.assertEqual(len(self.records("call")), 2 * 7 if where == "after" else 0)
        command = [program("solver_host")]
        plain = self.plain(command, [library("counting")])
        self.assertEqual((plain.returncode, plain.stdout), (0, "cublasGemmEx of 12, m = 13\n1 calls\n"))
        for where in ("before", "after"):
            with self.subTest(where):
                run = self.shimmed(command, **{where: [library("counting")]})
                self.assertEqual((run.returncode, run.stdout, run.stderr), (plain.returncode, plain.stdout, plain.stderr))
                self.assertEqual([call["m"] for call in self.records("call")], [13])


if __name__ == "__main__":
    unittest.main(verbosity=1)
