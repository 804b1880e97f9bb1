#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The main job on a bare Debian 12: installs what is missing, builds, records one decode step's matrix multiplies and shows
# each on the roofline. On the GPU if there is one, else on a simulated RTX 4090. Arguments go to decode_loop.
set -eu
cd "$(dirname "$0")/.."
build=build/quickstart

. cmake/need_packages.sh
need_packages build-essential cmake ninja-build pkg-config libjansson-dev python3 python3-pip unzip ca-certificates

if [ ! -f $build/build.ninja ]; then
    cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release -DROOFTAP_TESTS=OFF
fi
cmake --build $build

has_gpu() {
    { nvidia-smi -L >/dev/null 2>&1 || [ -e /dev/nvidia0 ]; } &&
        { ldconfig -p 2>/dev/null || /sbin/ldconfig -p; } | grep -q 'libcublas\.so\.'
}
if has_gpu; then
    simulate=
else
    simulate="--simulate rtx4090"
    echo "no GPU with cuBLAS found: recording on a simulated RTX 4090"
fi
# shellcheck disable=SC2086 # two words or none
$build/bin/rooftap record $simulate -- $build/examples/decode_loop/decode_loop "$@"
$build/bin/rooftap report
echo "the same for a browser or a mail: $build/bin/rooftap report --html report.html"
