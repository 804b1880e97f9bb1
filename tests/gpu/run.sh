#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh [--simulate] [-o RESULTS.json] [BUILD_FOLDER]: everything that only a GPU can prove, in at most 8 minutes: the questions of
# probe.sh with `rooftap calibrate`, decode_loop and PyTorch with and without graphs, PyTorch again under torch.profiler to compare
# with, what rooftap adds to a call and to a step, and compute-sanitizer where it is. A table on standard output, all of it in
# RESULTS.json. Exit 0: all that must hold holds; 1: something does not; 77: no GPU here.
set -u
simulate='' results=gpu-results.json
while [ $# -gt 0 ]; do
    case $1 in
    --simulate) simulate=1 ;;
    -o)
        results=${2:?run.sh: -o needs a file}
        shift
        ;;
    -*)
        sed -n '3,6s/^# //p' "$0" >&2
        exit 2
        ;;
    *) break ;;
    esac
    shift
done
start_s=$(date +%s)
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "${1:-$root/build}" && pwd) || exit 2
# shellcheck source=tests/gpu/environment.sh
. "$here/environment.sh"
[ -x "$build/bin/rooftap" ] || say_skip "no $build/bin/rooftap; build the project first"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$here/probe.sh" ${simulate:+--simulate} "$build" >"$scratch/answers"
status=$?
[ "$status" -eq 77 ] && exit 77
LD_LIBRARY_PATH=$program_libraries "$python" -B "$here/run.py" --build "$build" --python "$python" --answers "$scratch/answers" \
    --probe-status "$status" --scratch "$scratch" --started "$start_s" --results "$results" ${simulate:+--simulate "$libraries"}
