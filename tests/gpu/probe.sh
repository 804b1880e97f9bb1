#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# probe.sh [--simulate] [BUILD_FOLDER]: asks a GPU, or the simulated one, what rooftap has to know about CUPTI on it, a line of
# JSON for each answer; then runs decode_loop and a PyTorch loop under rooftap as far as they are there. At most 8 minutes.
# Exit 0: all answered and what must hold holds; 1: something does not; 77: no GPU here, or nothing to build the probe with.
set -u
simulate='' quick=''
if [ "${1:-}" = --simulate ]; then
    simulate=1 quick=--quick
    shift
fi
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${1:-$root/build}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
faults=0

skip() {
    echo "probe.sh: $1" >&2
    exit 77
}

headers_in() { # FOLDER: has the driver's and CUPTI's
    [ -f "$1/cuda.h" ] && [ -f "$1/cupti.h" ]
}

find_headers() {
    for folder in "$root/.deps/cuda-headers-13" "$root/.deps/cuda-headers-12" "${CUDA_HOME:-/usr/local/cuda}/include"; do
        headers_in "$folder" && echo "$folder" && return
    done
    extras=${CUDA_HOME:-/usr/local/cuda}/extras/CUPTI/include
    if [ -f "$extras/cupti.h" ]; then
        echo "$extras -isystem ${CUDA_HOME:-/usr/local/cuda}/include"
        return
    fi
    "$root/sim/tools/fetch_cuda_headers.sh" 13 "$root/.deps/cuda-headers-13" >&2 && echo "$root/.deps/cuda-headers-13"
}

# CUDA's libraries where the loader does not look: a toolkit's, a Python wheel's.
cuda_folders() {
    for folder in /usr/local/cuda/lib64 /usr/local/cuda/extras/CUPTI/lib64; do
        [ -d "$folder" ] && printf ':%s' "$folder"
    done
    "$python" - 2>/dev/null <<'PYTHON'
import glob, sysconfig
for folder in sorted(glob.glob(sysconfig.get_paths()["purelib"] + "/nvidia/*/lib"), reverse=True):
    print(":" + folder, end="")
PYTHON
}

ask() { # QUESTION
    LD_LIBRARY_PATH=$libraries timeout 150 "$scratch/probe" $quick "$1" >"$scratch/answer" 2>"$scratch/said"
    status=$?
    cat "$scratch/said" >&2
    if [ "$status" -ne 0 ] && ! grep -q '"holds": false' "$scratch/answer"; then
        printf '{"question": "%s", "exit_status": %d, "until_then": "%s"}\n' "$1" "$status" \
            "$(tr -d '"{}\n' <"$scratch/answer")"
    else
        cat "$scratch/answer"
    fi
    if [ "$status" -ne 0 ]; then
        faults=$((faults + 1))
    fi
}

# Runs a program under rooftap and says in a line what its report holds.
under_rooftap() { # NAME COMMAND...
    name=$1
    shift
    LD_LIBRARY_PATH=$program_libraries timeout 120 "$build/bin/rooftap" record -o "$scratch/$name" ${simulate:+--simulate h100-sxm} -- "$@" >"$scratch/out" 2>&1
    status=$?
    [ "$status" -eq 0 ] || tail -5 "$scratch/out" >&2
    "$build/bin/rooftap" report --json "$scratch/$name" >"$scratch/json" 2>"$scratch/said" || cat "$scratch/said" >&2
    "$python" "$here/summary.py" "$name" "$status" "$scratch/json" || faults=$((faults + 1))
}

# What calibrate measures, and whether a recording of the same GPU finds it, and the GPU's clocks.
calibration() {
    LD_LIBRARY_PATH=$program_libraries timeout 100 "$build/bin/rooftap" calibrate $quick --json ${simulate:+--simulate h100-sxm} \
        >"$scratch/calibration" 2>"$scratch/said"
    status=$?
    cat "$scratch/said" >&2
    LD_LIBRARY_PATH=$program_libraries timeout 120 "$build/bin/rooftap" record -q -o "$scratch/calibrated" \
        ${simulate:+--simulate h100-sxm} -- "$build/examples/decode_loop/decode_loop" --steps 200 --layers 4 >"$scratch/out" 2>&1 ||
        tail -5 "$scratch/out" >&2
    "$build/bin/rooftap" report --json "$scratch/calibrated" >"$scratch/json" 2>"$scratch/said" || cat "$scratch/said" >&2
    "$python" "$here/calibration.py" calibrate "$status" "$scratch/calibration" "$scratch/json" || faults=$((faults + 1))
}

XDG_DATA_HOME=$scratch/data # what is calibrated here is kept for nobody
export XDG_DATA_HOME
python=python3
[ -x "$root/.deps/venv-torch/bin/python" ] && python=$root/.deps/venv-torch/bin/python
if [ -n "$simulate" ]; then
    libraries=$build/lib/rooftap/sim program_libraries=${LD_LIBRARY_PATH:-} # rooftap puts the stand-ins before these
    [ -e "$libraries/libcuda.so.1" ] || skip "no simulated GPU in $libraries; build the project first"
else
    libraries=${LD_LIBRARY_PATH:-}$(cuda_folders)
    program_libraries=$libraries
fi
headers=$(find_headers) || skip "no cuda.h and cupti.h found, and none could be fetched"
# shellcheck disable=SC2086 # HEADERS may hold two folders
${CC:-cc} -std=gnu11 -O2 -D_GNU_SOURCE -I"$root" -isystem $headers "$here"/*.c -o "$scratch/probe" -ldl -lpthread ||
    skip "the probe does not build"

LD_LIBRARY_PATH=$libraries timeout 60 "$scratch/probe" device >/dev/null
[ $? -eq 77 ] && exit 77
for question in $("$scratch/probe" | cut -f1); do
    ask "$question"
done
if [ -x "$build/bin/rooftap" ]; then
    if [ -x "$build/examples/decode_loop/decode_loop" ]; then
        under_rooftap decode_loop "$build/examples/decode_loop/decode_loop"
        calibration
    fi
    LD_LIBRARY_PATH=$libraries "$python" -c "import torch" 2>/dev/null &&
        under_rooftap torch_loop "$python" "$here/torch_loop.py"
fi
[ "$faults" -eq 0 ] || echo "probe.sh: $faults of the answers are not as rooftap needs them" >&2
exit "$((faults > 0))"
