#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuzz_names.sh FOLDER: fills it with seeds, the names of kernel_names.tsv without their "_Z".
set -eu
grep '^_Z' "$(dirname "$0")/kernel_names.tsv" | cut -f1 | cut -c3- | awk -v to="$1" '{ f = to "/" NR; printf "%s", $0 > f; close(f) }'
