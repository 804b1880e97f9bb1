#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuzz_report.sh TARGET MAKE_TRACE PACK_SESSION CASES: runs fuzz_report for ROOFTAP_FUZZ_SECONDS (default 60) from the
# sessions of all cases. An input that fails is kept in the current folder as crash-*.
set -eu
target=$1 make_trace=$2 pack_session=$3 cases=$4
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
mkdir "$TMPDIR/corpus"
for case in "$cases"/*/; do
  name=$(basename "$case")
  mkdir "$TMPDIR/$name"
  sed "s/@PID@/1/g; s/@HOST@/host/g; s/@NOW@/1700000000/g" "$case/trace.txt" >"$TMPDIR/trace.txt"
  "$make_trace" "$TMPDIR/trace.txt" "$TMPDIR/$name"
  if [ -e "$case/session.json" ]; then cp "$case/session.json" "$TMPDIR/$name"; fi
  "$pack_session" "$TMPDIR/$name" >"$TMPDIR/corpus/$name"
done
"$target" -max_total_time="${ROOFTAP_FUZZ_SECONDS:-60}" -max_len=20000 -timeout=60 -print_final_stats=1 -verbosity=0 \
  "$TMPDIR/corpus"
