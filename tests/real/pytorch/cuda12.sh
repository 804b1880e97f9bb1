#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PyTorch built for CUDA 12 under `rooftap record` on the simulated GPU of that CUDA; the report must equal the ledger. Torch
# 2.8.0 is the last that the index's own wheel has with CUDA 12 (12.8), 890 MB; everything else is setup.sh's environment.
# Usage: cuda12.sh BUILD_FOLDER [DEVICE_KEY [model.py's arguments...]]   (default device: h100-sxm)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: cuda12.sh BUILD_FOLDER [DEVICE_KEY [arguments...]]}" && pwd)
device=${2:-h100-sxm}
shift
[ $# -eq 0 ] || shift
torch=torch==2.8.0

if [ ! -e "$build/lib/rooftap/sim/libcudart.so.12" ]; then
    echo "SKIP: this build has no simulated GPU for CUDA 12"
    exit 77
fi
others=$("$here/setup.sh" | tail -n 1)
[ -n "$others" ]
. "$here/../../own_folder.sh"
folder=$(dirname "$(dirname "$others")")-cuda12
if [ "$(cat "$folder/rooftap-requirements.txt" 2>/dev/null)" != "$torch" ]; then
    echo "cuda12.sh: installing $torch into $folder (890 MB to download)" >&2
    own_folder "$folder"
    "$others" -m venv "$folder"
    "$folder/bin/python" -m pip --disable-pip-version-check --no-input install --quiet --no-deps --no-cache-dir "$torch" >&2
    # Its own torch comes first, then the other environment's packages.
    packages() { "$1" -c 'import site; print(site.getsitepackages()[0])'; }
    packages "$others" >"$(packages "$folder/bin/python")/others.pth"
    echo "$torch" >"$folder/rooftap-requirements.txt"
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

export HF_HUB_OFFLINE=1 TRANSFORMERS_VERBOSITY=error SIMGPU_LEDGER="$scratch/ledger-%p"
LD_LIBRARY_PATH=$build/lib/rooftap/sim "$folder/bin/python" -c \
    'import torch; assert torch.version.cuda.startswith("12."), torch.version.cuda'
# Python says nothing of the CUDA that its packages are linked with, so the option does.
"$build/bin/rooftap" record -o "$scratch/session" --simulate "$device" --simulate-cuda 12 -- "$folder/bin/python" "$here/model.py" "$@"
"$build/bin/rooftap" report --json "$scratch/session" >"$scratch/report.json"
"$build/bin/rooftap" report "$scratch/session"
grep -q 'CUDA 12\.8, [^"]*libcupti\.so\.12' "$scratch/report.json" || { echo "cuda12.sh: another CUPTI than 12.8's timed" >&2; exit 1; }
python3 "$here/compare.py" "$scratch"/ledger-* "$scratch/report.json"
