#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PyTorch on the simulated GPU, first alone, then under `rooftap record`, whose report must equal the ledger exactly.
# Usage: run.sh BUILD_FOLDER [DEVICE_KEY [model.py's arguments...]]   (default device: h100-sxm)
# The first run makes the environment (setup.sh): a download of 700 MB.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: run.sh BUILD_FOLDER [DEVICE_KEY [arguments...]]}" && pwd)
device=${2:-h100-sxm}
shift
[ $# -eq 0 ] || shift
sim=$build/lib/rooftap/sim

if [ ! -e "$sim/libcudart.so.13" ]; then
    echo "SKIP: this build has no simulated GPU for CUDA 13"
    exit 77
fi
python=$("$here/setup.sh" | tail -n 1)
[ -n "$python" ]
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

export HF_HUB_OFFLINE=1 TRANSFORMERS_VERBOSITY=error SIMGPU_LEDGER="$scratch/ledger-%p"
echo "== alone"
LD_LIBRARY_PATH=$sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} SIMGPU_DEVICE="$here/$device.device" \
    "$python" "$here/model.py" "$@"
if ! grep -q '"type":"kernel"' "$scratch"/ledger-*; then
    echo "run.sh: the ledger holds no kernel" >&2
    exit 1
fi
rm -f "$scratch"/ledger-*

echo "== under rooftap"
case $device in
*-nested) # no row of the GPU table: the stand-ins by LD_LIBRARY_PATH, which is a way of loading of its own
    LD_LIBRARY_PATH=$sim${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} SIMGPU_DEVICE="$here/$device.device" \
        "$build/bin/rooftap" record -o "$scratch/session" -- "$python" "$here/model.py" "$@"
    ;;
*) "$build/bin/rooftap" record -o "$scratch/session" --simulate "$device" -- "$python" "$here/model.py" "$@" ;;
esac
"$build/bin/rooftap" report --json "$scratch/session" >"$scratch/report.json"
"$build/bin/rooftap" report "$scratch/session"
python3 "$here/compare.py" "$scratch"/ledger-* "$scratch/report.json"
case " $* " in
*" --layers "* | *" --model none "*) ;; # another model than check_books.py's
*" --model llama "*) python3 -B "$here/check_books.py" "$build/bin/rooftap" "$scratch/session" llama ;;
*) python3 -B "$here/check_books.py" "$build/bin/rooftap" "$scratch/session" qwen2 ;;
esac
