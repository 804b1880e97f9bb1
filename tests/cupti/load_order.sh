#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# load_order.sh FIND_LIBRARY FAKE_FOLDER STUB_13_2: where CUPTI may lie, and which copy wins.
set -eu
find=$1 fake=$2 stub_13_2=$3
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
unset LD_LIBRARY_PATH CUDA_HOME CUDA_PATH
faults=0

expect() { # NAME PATTERN COMMAND...
    name=$1 pattern=$2
    shift 2
    got=$("$@")
    # shellcheck disable=SC2254 # a pattern is meant
    case $got in
    $pattern) ;;
    *)
        echo "$name: expected $pattern, got $got" >&2
        faults=$((faults + 1))
        ;;
    esac
}

mkdir -p "$place/toolkit/extras/CUPTI/lib64" "$place/beside" "$place/wheel/nvidia/cuda_runtime/lib" \
    "$place/wheel/nvidia/cuda_cupti/lib" "$place/loader" "$place/mapped" "$place/path/lib64"
# Under the name of 11.7's, which hardly any machine has installed: what the loader finds by itself would come first.
for folder in toolkit/extras/CUPTI/lib64 beside loader mapped path/lib64; do
    cp -L "$fake/libcupti.so.13" "$place/$folder/libcupti.so.11.7"
done
cp -L "$fake/libcupti.so.13" "$place/wheel/nvidia/cuda_cupti/lib/libcupti.so.12" # found by name
cp -L "$fake/libcuda.so.1" "$place/beside/libcudart.so.11.0" # any library may carry the name
cp -L "$fake/libcuda.so.1" "$place/wheel/nvidia/cuda_runtime/lib/libcudart.so.12"
export LD_PRELOAD="$fake/libcuda.so.1" # what the copies are linked to

expect mapped "mapped already|$place/mapped/*" "$find" 11070 "$place/loader/libcupti.so.11.7" "$place/mapped/libcupti.so.11.7"
expect user "named by the user|$place/toolkit/*" "$find" 11070 "$place/toolkit/extras/CUPTI/lib64/libcupti.so.11.7"
expect user_wrong "none|/nonexistent/libcupti.so is not a usable*" "$find" 11070 /nonexistent/libcupti.so
expect user_other "none|*is not a usable*" "$find" 11070 "$fake/libcuda.so.1"
expect loader "found by the loader|$place/loader/*" env LD_LIBRARY_PATH="$place/loader" "$find" 11070
expect beside "beside a mapped library|$place/beside/*" "$find" 11070 - "$place/beside/libcudart.so.11.0"
expect wheel "beside a mapped library|*/cuda_cupti/lib/*" "$find" 12040 - "$place/wheel/nvidia/cuda_runtime/lib/libcudart.so.12"
# Two releases in one folder: the one of the runtime that is mapped, also under a newer driver, and before the loader's.
mkdir "$place/both"
cp -L "$fake/libcupti.so.13" "$place/both/libcupti.so.13"
cp -L "$fake/libcupti.so.13" "$place/both/libcupti.so.12"
for major in 12 13; do
    cp -L "$fake/libcuda.so.1" "$place/both/libcudart.so.$major"
    expect "both_$major" "beside a mapped library|$place/both/*/libcupti.so.$major|*" \
        env LD_LIBRARY_PATH="$fake" "$find" 13000 - "$place/both/libcudart.so.$major"
done
expect cuda_home "CUDA_HOME|$place/toolkit/*" env CUDA_HOME="$place/toolkit" "$find" 11070
expect cuda_path "CUDA_PATH|$place/path/*" env CUDA_PATH="$place/path" "$find" 11070
# A driver of CUDA 10 can be served by nothing newer.
expect too_new "none|no libcupti found for driver version 10020*" env LD_LIBRARY_PATH="$place/loader" "$find" 10020
expect release_13_2 "named by the user|*|1" "$find" 13020 "$stub_13_2"
expect other_release "named by the user|*|0" "$find" 13000 "$place/loader/libcupti.so.11.7"
[ "$faults" -eq 0 ] && echo "all places found"
exit "$((faults > 0))"
