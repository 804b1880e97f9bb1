#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stands as `cicc` in the toolkit folder of build_cuda13.sh. The vendor's compiler runs first, with the least work, because it
# writes the host's registration stub; then the device code it made is replaced by a module of the same target without any.
set -eu
"$(dirname "$0")/cicc.vendor" "$@" -O0
output=
while [ $# -gt 0 ]; do
    [ "$1" != -o ] || output=$2
    shift
done
case $output in
*.ptx)
    grep -m 3 -E '^\.(version|target|address_size) ' "$output" >"$output.empty"
    mv "$output.empty" "$output"
    ;;
esac
