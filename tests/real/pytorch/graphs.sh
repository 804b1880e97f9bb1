#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Decoding by graph replay: test_graphs.py with the environment that setup.sh makes.    usage: graphs.sh BUILD_FOLDER [REPLAYS]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: graphs.sh BUILD_FOLDER [REPLAYS]}" && pwd)
[ -e "$build/lib/rooftap/sim/libcudart.so.13" ] || { echo "SKIP: this build has no simulated GPU for CUDA 13"; exit 77; }
python=$("$here/setup.sh" | tail -n 1)
[ -n "$python" ]
exec python3 -B "$here/test_graphs.py" "$build" "$python" "${2:-60}"
