#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs what the tests need, builds, runs everything, and ends with ctest's closing line.
#   tests/run.sh            everything, PyTorch and the clean root included
#   tests/run.sh --quick    no large downloads: tests labelled `large` are left out
# The sanitizer and fuzz builds are tests of the dev build, so one ctest run covers all.
set -eu -o pipefail
cd "$(dirname "$0")/.."

quick=
case ${1-} in
"") ;;
--quick) quick=yes ;;
*)
    echo "tests/run.sh: takes --quick or nothing, not '$1'" >&2
    exit 2
    ;;
esac

. cmake/need_packages.sh
need_packages build-essential cmake ninja-build pkg-config python3 python3-pip python3-venv unzip ca-certificates git \
    libjansson-dev libcmocka-dev clang clang-format libclang-rt-14-dev valgrind
need_packages libjemalloc2 || echo "tests/run.sh: no allocator is preloaded beside rooftap" >&2
need_packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross || echo "tests/run.sh: nothing is compiled for aarch64" >&2
need_packages musl-tools || echo "tests/run.sh: no program of another C library is tried" >&2
if [ -z "$quick" ]; then
    need_packages debootstrap
    need_packages chromium fonts-dejavu-core poppler-utils locales || echo "tests/run.sh: the page is opened in no browser" >&2
fi

jobs=$(nproc)
[ "$jobs" -le 4 ] || jobs=4 # more would make the tests with threads measure the machine
cmake --preset dev
cmake --build --preset dev
ctest --test-dir build/dev --output-on-failure --no-label-summary -j "$jobs" --timeout 600 ${quick:+-LE large}
