#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The programs of this folder are what it says: they need libraries of CUDA 12, and of no other major.
# usage: check_linked.sh PROGRAM...
set -eu
for program in "$@"; do
    needed=$(readelf -dW "$program" | sed -n 's/.*(NEEDED).*\[\(libcud.*\|libcub.*\)\]/\1/p')
    echo "$needed" | grep -q '^libcudart\.so\.12$' || { echo "$program does not need libcudart.so.12: $needed" >&2; exit 1; }
    if echo "$needed" | grep -E '^lib(cudart|cublas|cublasLt)\.so\.' | grep -qv '\.12$'; then
        echo "$program needs another major's library: $needed" >&2
        exit 1
    fi
    # Symbols are bound by version node: 12's.
    readelf --dyn-syms -W "$program" | grep -q '@libcudart\.so\.12' || { echo "$program: no symbol of libcudart.so.12" >&2; exit 1; }
done
echo "$# programs of CUDA 12"
