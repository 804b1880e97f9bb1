#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The generated test is worth something only if it fails on a wrong table: builds the shim with one line changed and expects
# a complaint that fits PATTERN.
# usage: run_mutation.sh SED-EXPRESSION PATTERN CC SOURCE ARCHIVES FOLDER CALLS DUMP COMPARE [compare options]
# A ~ in the expression separates commands. ARCHIVES: the static libraries that the shim holds, separated by commas. With HOST_LIBRARIES=FOLDER the calling program is
# generated from the wrong table too, and linked with the libraries in FOLDER: then only their own list can tell.
set -eu
expression=$(echo "$1" | tr '~' '\n') pattern=$2 cc=$3 source=$4 archives=$(echo "$5" | tr , ' ') folder=$6 calls=$7 dump=$8 compare=$9
shift 9
. "$(dirname "$0")/../own_folder.sh"
own_folder "$folder"
mkdir -p "$folder/preload"
sed "$expression" "$source/preload/cublas_calls.def" >"$folder/preload/cublas_calls.def"
! cmp -s "$source/preload/cublas_calls.def" "$folder/preload/cublas_calls.def" || { echo "nothing was changed" >&2; exit 1; }
sources=
for file in "$source"/preload/*.c; do
    [ "${file##*/}" = glibc_compat.c ] || sources="$sources $file" # its wrappers need the linker's options
done
# shellcheck disable=SC2086
"$cc" -std=gnu11 -O1 -w -shared -fPIC -fvisibility=hidden -D_GNU_SOURCE -DPRELOAD_NO_DLSYM -DROOFTAP_VERSION='"mutant"' -I"$folder" -I"$source" \
    $sources $archives -Wl,--version-script="$source/preload/exports.map" -Wl,-Bsymbolic-functions -ldl -lpthread -o "$folder/librooftap.so"
tests=$(dirname "$compare")
if [ -n "${HOST_LIBRARIES:-}" ]; then
    "$cc" -E -P -I"$folder" -I"$source" "$tests/table.c" -o "$folder/table.i"
    python3 "$tests/generate.py" calls "$folder/table.i" "$folder/calls.gen.c"
    calls=$folder/calls
    "$cc" -std=gnu11 -w -D_GNU_SOURCE -I"$source" "$tests/calls_host.c" "$tests/calls_sim.c" "$folder/calls.gen.c" \
        -L"$HOST_LIBRARIES" -Wl,-rpath,"$HOST_LIBRARIES" -Wl,--no-as-needed -lcublas -lcublasLt -lcudart -lcuda -lsimgpu -ldl -lm \
        -o "$calls"
fi
if sh "$tests/run_calls.sh" "$folder/librooftap.so" "$calls" "$dump" "$compare" "$folder/run" "$@" \
    >"$folder/out" 2>&1; then
    echo "the generated test did not notice" >&2
    exit 1
fi
grep -qE "$pattern" "$folder/out" || { echo "it failed for another reason:" >&2; cat "$folder/out" >&2; exit 1; }
echo "noticed: $(grep -E "$pattern" "$folder/out" | head -1)"
