#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Parameter names of the stand-in's list against the vendor's headers, place by place: types alone would not tell an
exchanged m and n. Names that the headers spell otherwise are not compared, the ones in NAMES must be the same.

    check_names.py CC INCLUDE OWN_HEADER..."""
import pathlib
import re
import subprocess
import sys

NAMES = {"m", "n", "k", "kl", "ku", "lda", "ldb", "ldc", "A", "B", "C", "x", "y", "incx", "incy", "alpha", "beta",
         "transa", "transb", "side", "uplo", "diag", "Atype", "Btype", "Ctype", "strideA", "strideB", "strideC", "stridex",
         "stridey", "batchCount", "computeType", "algo", "D", "Adesc", "Bdesc", "Cdesc", "Ddesc", "Aarray", "Barray",
         "Carray", "m_array", "n_array", "k_array", "lda_array", "ldb_array", "ldc_array", "group_count", "group_size",
         "transa_array", "transb_array", "alpha_array", "beta_array", "rows", "cols", "ld"}


def prototypes(text):
    """name -> parameter names"""
    found = {}
    for match in re.finditer(r"\b(cublas\w+)\s*\(([^()]*)\)\s*;", text):
        params = [re.search(r"(\w+)\s*(\[\])?\s*$", p) for p in match.group(2).split(",")]
        found[match.group(1)] = [p.group(1) if p else "" for p in params]
    return found


def differences(ours, theirs):
    """How many names were compared, and a line for each that differs."""
    compared, lines = 0, []
    for name, params in ours.items():
        for place, (mine, real) in enumerate(zip(params, theirs.get(name, []))):
            if mine in NAMES and real in NAMES:
                compared += 1
                if mine != real:
                    lines.append(f"{name}, parameter {place + 1}: the header says {real}, the list {mine}")
    return compared, lines


def main(cc, include, *own_headers):
    if not (pathlib.Path(include) / "cublasLt.h").exists():
        print(f"skipped: no cublasLt.h in {include}")
        return 77
    theirs = {}
    for header in ("cublas.h", "cublas_v2.h", "cublasXt.h", "cublasLt.h"):
        text = subprocess.run([cc, "-E", "-P", "-I", include, "-"], input=f"#include <{header}>\n", text=True,
                              capture_output=True, check=True).stdout
        theirs.update(prototypes(text))
    ours = {}
    for own in own_headers:
        ours.update(prototypes(pathlib.Path(own).read_text()))
    compared, lines = differences(ours, theirs)
    print("\n".join(lines), file=sys.stderr)
    print(f"{compared} parameter names of {len(ours)} entries compared, {len(lines)} differ")
    # The check itself must see an exchanged m and n.
    swapped = {name: [{"m": "n", "n": "m"}.get(p, p) for p in params] for name, params in ours.items()}
    if len(differences(swapped, theirs)[1]) < 300:
        print("an exchanged m and n goes unseen", file=sys.stderr)
        return 1
    return 1 if lines or compared < 4000 else 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
