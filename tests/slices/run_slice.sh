#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run_slice.sh asan|tsan|fuzz: configures and builds that preset, then runs its tests.
set -eu
slice=${1:?asan, tsan or fuzz}
cd "$(dirname "$0")/../.."
if [ "$slice" = fuzz ] && ! command -v clang >/dev/null; then
    echo "no clang: libFuzzer is part of it"
    exit 77
fi
unset LD_PRELOAD
export ROOFTAP_FUZZ_SECONDS="${ROOFTAP_FUZZ_SECONDS:-30}" # a target; by itself a fuzz test takes 60 by default
cmake --preset "$slice"
cmake --build --preset "$slice"
found=$(ctest --preset "$slice" -N | sed -n 's/^Total Tests: //p')
if [ "${found:-0}" -eq 0 ]; then
    echo "the $slice build has no test labelled for it: this slice would prove nothing" >&2
    exit 1
fi
ctest --preset "$slice" --timeout 600 -j 2
