#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kernels that Triton and torch.compile make at run time, under `rooftap record` on the simulated GPU: each launch, which both
# fetch by name, has to be in the trace as it is in the ledger. Without --download only where the environment is there already.
# Usage: compiled.sh BUILD_FOLDER [--download] [compiled.py's arguments...]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: compiled.sh BUILD_FOLDER [--download] [arguments...]}" && pwd)
shift
download=
if [ "${1-}" = --download ]; then
    download=yes
    shift
fi
[ -e "$build/lib/rooftap/sim/libcudart.so.13" ] || { echo "SKIP: this build has no simulated GPU for CUDA 13"; exit 77; }
python=$("$here/triton.sh" ${download:+--download}) || { status=$?; echo "$python"; exit "$status"; }
python=$(echo "$python" | tail -n 1)
[ -n "$python" ]
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Caches of its own: all is compiled anew, by children that inherit the preload.
export SIMGPU_LEDGER="$scratch/ledger-%p" TRITON_CACHE_DIR="$scratch/triton" TORCHINDUCTOR_CACHE_DIR="$scratch/inductor"
"$build/bin/rooftap" record -o "$scratch/session" --simulate h100-sxm -- "$python" "$here/compiled.py" "$@" >"$scratch/out"
cat "$scratch/out"
launches=$(sed -n 's/^add_kernel: \([0-9]*\) launches$/\1/p' "$scratch/out")
"$build/bin/rooftap" report --json "$scratch/session" >"$scratch/report.json"
"$build/bin/rooftap" report --by kernel "$scratch/session"
"$build/tests/preload/preload_trace_dump" "$scratch/session" >"$scratch/dump"
python3 "$here/compare.py" "$scratch"/ledger-* "$scratch/report.json"
python3 "$here/check_launches.py" "$scratch/dump" add_kernel "$launches" "$scratch"/ledger-*
