#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The witness has to be held to account too: builds the stand-in libcublas from a list with one line changed, puts it in the
# place of the right one, and expects that the generated test complains with PATTERN.
# usage: run_sim_mutation.sh SED-EXPRESSION PATTERN CC SOURCE CUDA-INCLUDE STAND-INS FOLDER SHIM CALLS-SOURCE DUMP COMPARE
#                            [compare options]
set -eu
expression=$1 pattern=$2 cc=$3 source=$4 cuda=$5 stand_ins=$6 folder=$7 shim=$8 calls=$9
shift 9
dump=$1 compare=$2
shift 2
tests=$(dirname "$compare")
. "$(dirname "$0")/../own_folder.sh"
own_folder "$folder"
mkdir -p "$folder/blas" "$folder/lib"

# ---- the stand-in from the changed list; its hand-written part is the tree's ----
cp "$source"/sim/blas/generate.py "$source"/sim/blas/*.list "$source"/sim/blas/*.names "$source"/sim/blas/majors.tsv "$folder/blas"
sed -i "$expression" "$folder/blas/cublas.list"
! cmp -s "$source/sim/blas/cublas.list" "$folder/blas/cublas.list" || { echo "nothing was changed" >&2; exit 1; }
generate() { python3 -B "$folder/blas/generate.py" "$@"; }
generate headers "$folder/include"
generate helpers cublas >"$folder/blas_helpers.h"
generate wrappers cublas >"$folder/cublas_wrappers.c"
generate stubs cublas >"$folder/cublas_stubs.c"
cp -s "$stand_ins"/lib* "$folder/lib"
soname=$(readlink "$stand_ins/libcublas.so") # of the newest CUDA
rm "$folder/lib/libcublas.so" "$folder/lib/$soname"
major=${soname##*.}
echo "$soname { global: cublas*; local: *; };" >"$folder/cublas.map"
"$cc" -std=gnu11 -O1 -w -shared -fPIC -D_GNU_SOURCE -DSIM_CUDA_MAJOR="$major" -DSIM_CUDA_VERSION="${major}000" \
    -I"$folder/include" -I"$folder" \
    -I"$source/sim/blas" -I"$source" -isystem "$cuda" "$source/sim/blas/blas_handle.c" "$source/sim/blas/blas_xt.c" "$source/sim/blas/blas_gemm.c" \
    "$source/sim/blas/blas_call.c" "$folder/cublas_wrappers.c" "$folder/cublas_stubs.c" -Wl,-soname,"$soname" \
    -Wl,--version-script="$folder/cublas.map" -L"$folder/lib" -lcublasLt -lsimgpu -lpthread -ldl -o "$folder/lib/$soname"
ln -s "$soname" "$folder/lib/libcublas.so"

# ---- the generated test on it, as it stands ----
"$cc" -std=gnu11 -w -D_GNU_SOURCE -I"$source" "$tests/calls_host.c" "$tests/calls_sim.c" "$calls" -L"$folder/lib" \
    -Wl,-rpath,"$folder/lib" -Wl,--no-as-needed -lcublas -lcublasLt -lcudart -lcuda -lsimgpu -ldl -lm -o "$folder/calls"
if sh "$tests/run_calls.sh" "$shim" "$folder/calls" "$dump" "$compare" "$folder/run" "$@" >"$folder/out" 2>&1; then
    echo "the generated test did not notice" >&2
    exit 1
fi
grep -qE "$pattern" "$folder/out" || { echo "it failed for another reason:" >&2; cat "$folder/out" >&2; exit 1; }
echo "noticed: $(grep -E "$pattern" "$folder/out" | head -1)"
