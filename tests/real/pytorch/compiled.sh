#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kernels that Triton and torch.compile make at run time, under `rooftap record` on the simulated GPU: each launch, which both
# fetch by name, has to be in the trace as it is in the ledger. Triton brings its own assembler; a C compiler and Python's headers
# are needed besides. Without --download only where the environment is there already.
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
triton=triton==3.8.0 # the one that requirements.txt's torch asks for

skip() { echo "SKIP: $1"; exit 77; }
[ -e "$build/lib/rooftap/sim/libcudart.so.13" ] || skip "this build has no simulated GPU for CUDA 13"
command -v cc >/dev/null || command -v gcc >/dev/null || skip "Triton needs a C compiler"
others=$("$here/setup.sh" | tail -n 1)
[ -n "$others" ]
"$others" -c 'import os, sysconfig; assert os.path.exists(sysconfig.get_paths()["include"] + "/Python.h")' 2>/dev/null ||
    skip "Triton needs Python.h: install python3-dev"
folder=$(dirname "$(dirname "$others")")-triton
if [ "$(cat "$folder/rooftap-requirements.txt" 2>/dev/null)" != "$triton" ]; then
    [ -n "$download" ] || skip "$triton isn't there (190 MB; -DROOFTAP_REAL_TRITON=ON)"
    echo "compiled.sh: installing $triton into $folder (190 MB to download)" >&2
    rm -rf "$folder"
    "$others" -m venv "$folder"
    "$folder/bin/python" -m pip --disable-pip-version-check --no-input install --quiet --no-deps --no-cache-dir "$triton" >&2
    packages() { "$1" -c 'import site; print(site.getsitepackages()[0])'; }
    packages "$others" >"$(packages "$folder/bin/python")/others.pth"
    echo "$triton" >"$folder/rooftap-requirements.txt"
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Caches of its own: all is compiled anew, by children that inherit the preload.
export SIMGPU_LEDGER="$scratch/ledger-%p" TRITON_CACHE_DIR="$scratch/triton" TORCHINDUCTOR_CACHE_DIR="$scratch/inductor"
"$build/bin/rooftap" record -o "$scratch/session" --simulate h100-sxm -- "$folder/bin/python" "$here/compiled.py" "$@" >"$scratch/out"
cat "$scratch/out"
launches=$(sed -n 's/^add_kernel: \([0-9]*\) launches$/\1/p' "$scratch/out")
"$build/bin/rooftap" report --json "$scratch/session" >"$scratch/report.json"
"$build/bin/rooftap" report --by kernel "$scratch/session"
"$build/tests/preload/preload_trace_dump" "$scratch/session" >"$scratch/dump"
python3 "$here/compare.py" "$scratch"/ledger-* "$scratch/report.json"
python3 "$here/check_launches.py" "$scratch/dump" add_kernel "$launches" "$scratch"/ledger-*
