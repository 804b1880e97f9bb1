#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Stands as `cicc` in the toolkit folder of build_cuda13.sh. The vendor's compiler runs first, with the least work, because it
# writes the host's registration stub; then of the device code that it made only the kernels' declarations are kept, as these
# tell the sizes of parameters, each with a body that returns.
set -eu
"$(dirname "$0")/cicc.vendor" "$@" -O0
output=
while [ $# -gt 0 ]; do
    [ "$1" != -o ] || output=$2
    shift
done
case $output in
*.ptx)
    awk '
        /^\.(version|target|address_size)/ { print; next }
        /^(\.visible |\.weak )?\.entry / { declaring = 1 }
        declaring && /^{/ { print "{\n\tret;\n}"; declaring = 0 }
        declaring' "$output" >"$output.declared"
    mv "$output.declared" "$output"
    ;;
esac
