#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_damaged_sums.sh MAKE_TRACE REPLAY DAMAGE_SUMS CASE...: each case's trace as sums, damaged at random.
set -eu
make_trace=$1 replay=$2 damage_sums=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for case; do
  mkdir "$work/raw" "$work/sums"
  "$make_trace" "$case/trace.txt" "$work/raw"
  "$replay" aggregate "$work/sums" "$work"/raw/*.trace
  for trace in "$work"/sums/*.trace; do
    "$damage_sums" "$trace" 200
  done
  rm -r "$work/raw" "$work/sums"
done
