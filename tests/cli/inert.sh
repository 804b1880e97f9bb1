#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that does not use CUDA leaves no trace file, and `report` says so with exit 1.
. "$(dirname "$0")/common.sh"

"$ROOFTAP" record -q -o session -- /bin/true || fail "/bin/true under record"
expect "files of /bin/true" "session.json" "$(ls -A session)"
"$ROOFTAP" record -q -o many -- sh -c 'for i in 1 2 3; do /bin/true; done; (exec ls) | cat' >/dev/null
expect "files of a shell script" "session.json" "$(ls -A many)"
"$ROOFTAP" report session >out 2>err
expect "status of a report of nothing" 1 $?
expect "standard output" "" "$(cat out)"
expect "lines" 1 "$(wc -l <err)"
mkdir empty
expect_usage_error "empty" report empty
expect_usage_error "no-such-folder" report no-such-folder
finish
