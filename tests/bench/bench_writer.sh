#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bench_writer.sh PROGRAM: instructions that the writer adds per call, as the difference of two runs under callgrind.
set -eu
program=$1
command -v valgrind >/dev/null || { echo "no valgrind: instructions are not counted"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
count() {
    valgrind --tool=callgrind --callgrind-out-file="$folder/out" "$program" "$folder" "$1" 7 ${2-} 2>&1 |
        sed -n 's/.*Collected : //p'
}
noted=$(($(count 21000) - $(count 1000)))
loop=$(($(count 21000 loop) - $(count 1000 loop)))
echo "writer: $(((noted - loop) / 20000)) instructions a call (thread, cached signature of 256 bytes, call id, call record)"
"$program" "$folder" 25000 7
