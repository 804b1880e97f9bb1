#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every name that cuBLAS exports and that by its name multiplies matrices is in the shim's table: what a later library adds
comes here as a failure, not as a call that nobody sees.    check_coverage.py NAMES-OF-TABLE EXPORTED-NAMES"""
import re
import sys

PRODUCT = re.compile(r"gemm|gemv|symm|hemm|spmm|trmm|trsm|syrk|herk|syr2k|her2k", re.I)


def main(table_path, exported_path):
    table = set(open(table_path).read().split())
    exported = {line.strip() for line in open(exported_path) if line.strip() and not line.startswith("#")}
    products = {name for name in exported if PRODUCT.search(name)}
    missing = sorted(products - table)
    if missing:
        sys.exit(f"{len(missing)} products have no line in preload/cublas_calls.def: {' '.join(missing)}")
    unknown = sorted(name for name in table if name.startswith("cublas") and not name.startswith("cublasLt") and name not in exported)
    if unknown:
        sys.exit(f"in the table, but no library exports them: {' '.join(unknown)}")
    if len(products) < 200:
        sys.exit(f"{exported_path} holds {len(products)} products: expected all of libcublas")
    print(f"{len(products)} of {len(exported)} exported names multiply matrices, each is in the table")


if __name__ == "__main__":
    main(*sys.argv[1:])
