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
# shellcheck source=tests/gpu/environment.sh
. "$here/environment.sh"

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
headers=$(find_headers) || say_skip "no cuda.h and cupti.h found, and none could be fetched"
# shellcheck disable=SC2086 # HEADERS may hold two folders
${CC:-cc} -std=gnu11 -O2 -D_GNU_SOURCE -I"$root" -isystem $headers "$here"/*.c -o "$scratch/probe" -ldl -lpthread ||
    say_skip "the probe does not build"

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
