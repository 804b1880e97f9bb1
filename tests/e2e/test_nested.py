#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A library call that makes other library calls counts once, as what the program asked for (I15)."""
import ledger
from recording import Case, main, program


class Nested(Case):
    def test_each_entry_point(self):
        # entry point, its name, calls inside one another for each call of the program
        for entry, name, layers in (("sgemm", "cublasSgemm_v2", 3), ("ex", "cublasGemmEx", 2), ("lt", "cublasLtMatmul", 1)):
            with self.subTest(entry):
                session = self.recorded([program("calls"), "one", entry, "640", "320", "64", "5"],
                                        sim_options=["gemm_nested=1"])
                lines = session.ledger("call")
                self.assertEqual(len(lines), 5 * layers, "the simulator did not nest as the test expects")
                self.assertEqual(sum(line["nested"] for line in lines), 5 * (layers - 1))
                ledger.assert_equal(self, session, calls=5, kernels=5)
                report = session.report
                self.assertEqual([(row["name"], row["calls"], row["kernels"], row["flops"]) for row in report["operators"]],
                                 [(name, 5, 5, 5 * 2.0 * 640 * 320 * 64)])
                self.assertEqual((report["coverage"]["calls"], report["coverage"]["kernels_unjoined"]), (5, 0))
                self.assertLessEqual(max(row["roof_fraction"] for row in report["operators"]), 1)

    def test_from_many_threads(self):
        session = self.recorded([program("calls"), "threads", "4", "50", "2"], sim_options=["gemm_nested=1", "gemm_kernels=2"])
        ledger.assert_equal(self, session, calls=4 * (50 + 50 + 10))


if __name__ == "__main__":
    main()
