#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One case in a process of its own, its kernel records compared with the ledger where it dumps them.
# Usage: run_case.sh PROGRAM CASE
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export SIMGPU_LEDGER="$scratch/ledger" SIM_CUPTI_RECORDS="$scratch/records"
"$1" "$2"
if [ -f "$scratch/records" ]; then
    python3 "$(dirname "$0")/check_ledger.py" "$scratch/ledger" "$scratch/records"
fi
