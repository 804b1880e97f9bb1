#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh TARGET SEEDS: runs the fuzz target for ROOFTAP_FUZZ_SECONDS (default 60) from generated seeds. An input that
# fails is kept in the current folder as crash-*.
set -eu
target=$1 seeds=$2
corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT
"$seeds" "$corpus"
"$target" -max_total_time="${ROOFTAP_FUZZ_SECONDS:-60}" -max_len=16384 -print_final_stats=1 -verbosity=0 "$corpus"
