#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Decoding by graph replay: test_graphs.py with the environment that setup.sh makes, for reduced.py with compiled.sh's.
# Usage: graphs.sh BUILD_FOLDER [REPLAYS [graphs|decoded|reduced [--download]]]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: graphs.sh BUILD_FOLDER [REPLAYS [graphs|decoded|reduced [--download]]]}" && pwd)
program=${3:-graphs}
[ -e "$build/lib/rooftap/sim/libcudart.so.13" ] || { echo "SKIP: this build has no simulated GPU for CUDA 13"; exit 77; }
if [ "$program" = reduced ]; then
    python=$("$here/triton.sh" ${4:+"$4"}) || { status=$?; echo "$python"; exit "$status"; }
    python=$(echo "$python" | tail -n 1)
else
    python=$("$here/setup.sh" | tail -n 1)
fi
[ -n "$python" ]
exec python3 -B "$here/test_graphs.py" "$build" "$python" "${2:-60}" "$program"
