#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The stand-in's list against the vendor's own headers: a prototype that differs, a name that they lack or an enum of
# another value does not compile. Skipped (77) where no toolkit is found.
# Usage: check_prototypes.sh PYTHON GENERATOR CC INCLUDE...
set -eu
python=$1 generator=$2 cc=$3
shift 3
include=
for folder in "$@"; do
    if [ -e "$folder/cublas_v2.h" ] && [ -e "$folder/cublasLt.h" ]; then
        include=$folder
        break
    fi
done
if [ -z "$include" ]; then
    echo "skipped: no cublas_v2.h and cublasLt.h in: $*"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
compile() {
    "$cc" "$@" -w -fsyntax-only -I"$include"
}
for what in cublas cublasLt legacy; do
    "$python" "$generator" check $what >"$scratch/$what.c"
    compile "$scratch/$what.c"
done
languages=C
if command -v g++ >/dev/null; then
    # Half-precision entry points are declared for C++ only.
    for what in cublas cublasLt; do
        g++ -x c++ -w -fsyntax-only -I"$include" "$scratch/$what.c"
    done
    languages="C and C++"
fi
# The check itself: it must refuse a swapped type, an unknown name and a wrong number.
refused() {
    if compile "$scratch/wrong.c" 2>/dev/null; then
        echo "the check accepts $1" >&2
        exit 1
    fi
}
sed 's/extern cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m/&_, void */' \
    "$scratch/cublas.c" >"$scratch/wrong.c"
cmp -s "$scratch/cublas.c" "$scratch/wrong.c" && { echo "no cublasGemmEx to change" >&2; exit 1; }
refused "a wrong parameter"
sed 's/)cublasGemmEx,/)cublasGemmExx,/' "$scratch/cublas.c" >"$scratch/wrong.c"
refused "a name that the header lacks"
sed 's/== 68,/== 67,/' "$scratch/cublas.c" >"$scratch/wrong.c"
refused "a wrong number"
echo "$(grep -c '^extern cublas' "$scratch/cublas.c") + $(grep -c '^extern' "$scratch/cublasLt.c") + $(grep -c '^extern' "$scratch/legacy.c") prototypes agree with $include ($languages)"
