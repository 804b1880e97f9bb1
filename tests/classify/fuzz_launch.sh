#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuzz_launch.sh TARGET ROWS...: runs the fuzz target for ROOFTAP_FUZZ_SECONDS (default 60). Seeds: each row with an example
# of its own kernel, and each example alone, for the built-in row. An input that fails is kept in the current folder as crash-*.
set -eu
target=$1
shift
corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT
count=0
cat "$@" | while IFS= read -r row; do
    example=$(printf '%s' "$row" | sed -n 's/.*"example": *"\(_Z[^"]*\)".*/\1/p')
    [ -n "$example" ] || continue
    count=$((count + 1))
    values='\0\0\1\0\0\0\1\0\0\0\0\2\0\0\0\0\2\0\0\0\1\0\0\0'
    # shellcheck disable=SC2059
    { printf '%s\n%s\n\0' "$example" "$row"; printf "\\0\\6\\0\\0$values\\1$values\\0$values\\0$values$values$values$values$values"; } >"$corpus/row-$count"
    # shellcheck disable=SC2059
    { printf '%s\n\0' "$example"; printf "\\0\\6\\0\\0$values\\1$values\\0$values\\0$values$values$values$values$values"; } >"$corpus/built-in-$count"
done
"$target" -max_total_time="${ROOFTAP_FUZZ_SECONDS:-60}" -max_len=8192 -timeout=20 -print_final_stats=1 -verbosity=0 "$corpus"
