#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PyTorch on one and on two GPUs: test_devices.py with the environment that setup.sh makes.    usage: devices.sh BUILD_FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: devices.sh BUILD_FOLDER}" && pwd)
[ -e "$build/lib/rooftap/sim/libcudart.so.13" ] || { echo "SKIP: this build has no simulated GPU for CUDA 13"; exit 77; }
python=$("$here/setup.sh" | tail -n 1)
[ -n "$python" ]
exec python3 -B "$here/test_devices.py" "$build" "$python"
