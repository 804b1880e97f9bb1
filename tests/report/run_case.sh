#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_case.sh CASE REPORT MAKE_TRACE JSON_CONTAINS: makes the case's session, reports it, compares. README.md says what a
# case holds. With UPDATE=1 the texts are written instead, to be read before they are committed.
set -eu
case=$1 report=$2 make_trace=$3 json_contains=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir SESSION
# @PID@ is a process that lives while the report is made, this shell, and @HOST@ its machine.
fill="s/@PID@/$$/g; s/@HOST@/$(uname -n)/g; s/@NOW@/$(date +%s)/g"
sed "$fill" "$case/trace.txt" >trace.txt
"$make_trace" trace.txt SESSION
if [ -e "$case/session.json" ]; then sed "$fill" "$case/session.json" >SESSION/session.json; fi

failed=0
# One run for each expectation; `command` holds what it is called with, SESSION by default.
target=SESSION
if [ -e "$case/command" ]; then target=$(cat "$case/command"); fi
expected_exit=0
if [ -e "$case/exit" ]; then expected_exit=$(cat "$case/exit"); fi

check_exit() {
  if [ "$1" != "$expected_exit" ]; then
    echo "exit status $1, expected $expected_exit"; failed=1
  fi
}

compare() { # EXPECTED ACTUAL
  if [ "${UPDATE:-0}" = 1 ]; then cp "$2" "$1"; return; fi
  diff -u "$1" "$2" || failed=1
}

if [ -e "$case/expected.txt" ] || [ -e "$case/error.txt" ]; then
  status=0
  # shellcheck disable=SC2086
  "$report" $target >text 2>error || status=$?
  check_exit $status
  if grep -q @PID@ "$case/trace.txt"; then sed -i "s/\b$$\b/@PID@/g" text; fi
  if [ -e "$case/expected.txt" ]; then compare "$case/expected.txt" text; fi
  if [ -e "$case/error.txt" ]; then compare "$case/error.txt" error; fi
  if LC_ALL=C grep -q "$(printf '[\001-\011\013-\037\177]')" text error; then
    echo "a control character reached the terminal"; failed=1
  fi
fi
if [ -e "$case/expected.json" ]; then
  status=0
  # shellcheck disable=SC2086
  "$report" --json $target >json 2>error || status=$?
  check_exit $status
  "$json_contains" "$case/expected.json" json || failed=1
fi
exit $failed
