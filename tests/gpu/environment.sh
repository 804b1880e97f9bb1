# SPDX-License-Identifier: Apache-2.0
# Where the GPU's libraries, headers and Python are; sourced by what runs here, with $root, $build and $simulate set.
# shellcheck shell=sh disable=SC2034,SC2154
say_skip() {
    echo "$(basename "$0"): $1" >&2
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

python=python3
[ -x "$root/.deps/venv-torch/bin/python" ] && python=$root/.deps/venv-torch/bin/python
if [ -n "$simulate" ]; then
    libraries=$build/lib/rooftap/sim program_libraries=${LD_LIBRARY_PATH:-} # rooftap puts the stand-ins before these
    [ -e "$libraries/libcuda.so.1" ] || say_skip "no simulated GPU in $libraries; build the project first"
else
    libraries=${LD_LIBRARY_PATH:-}$(cuda_folders)
    program_libraries=$libraries
fi
