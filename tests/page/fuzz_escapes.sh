#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuzz_escapes.sh TARGET: runs fuzz_escapes for ROOFTAP_FUZZ_SECONDS (default 60) from the names of hostile_names.py. An input
# that fails is kept in the current folder as crash-*.
set -eu
target=$1
here=$(cd "$(dirname "$0")" && pwd)
corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT
python3 -B - "$here" "$corpus" <<'PYTHON'
import pathlib, sys

sys.path.insert(0, sys.argv[1])
import hostile_names

for number, name in enumerate(hostile_names.ALL):
    (pathlib.Path(sys.argv[2]) / str(number)).write_bytes(b"\x10" + name[:2000])
PYTHON
"$target" -max_total_time="${ROOFTAP_FUZZ_SECONDS:-60}" -max_len=3000 -timeout=20 -print_final_stats=1 -verbosity=0 "$corpus"
