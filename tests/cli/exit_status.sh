#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The target's end is the command's end: status, signal, 126 and 127; and session.json tells the same.
. "$(dirname "$0")/common.sh"

session_says() { # FOLDER KIND VALUE
    python3 -c '
import json, sys
session = json.load(open(sys.argv[1] + "/session.json"))
assert session["exit"] == {"kind": sys.argv[2], "value": int(sys.argv[3])}, session
assert session["ended_realtime_ns"] >= session["started_realtime_ns"], session
' "$@" || fail "session.json of $1 does not say $2 $3"
}

"$ROOFTAP" record -q -o seven -- sh -c 'exit 7'
expect "status of exit 7" 7 $?
session_says seven exit 7

"$ROOFTAP" record -q -o zero -- true
expect "status of true" 0 $?
session_says zero exit 0

for name in KILL TERM INT HUP SEGV ABRT; do
    # bash reports a child that died by signal n as 128+n, just as one that exited so; python tells them apart.
    python3 - "$ROOFTAP" "$name" <<'PY' || fail "death by SIG$name is not passed on"
import signal, subprocess, sys
number = getattr(signal, "SIG" + sys.argv[2])
run = subprocess.run([sys.argv[1], "record", "-q", "-o", "by" + sys.argv[2], "--", "sh", "-c", "kill -%s $$" % sys.argv[2]])
assert run.returncode == -number, run.returncode
PY
    session_says "by$name" signal "$(kill -l "$name")"
done

expect_status_and_line() { # STATUS COMMAND...
    local expected=$1
    shift
    "$ROOFTAP" record -- "$@" 2>err
    expect "status of $*" "$expected" $?
    expect "lines on standard error" 1 "$(wc -l <err)"
}
printf 'x' >not_executable
expect_status_and_line 127 no-such-command-anywhere
expect_status_and_line 127 ./no/such/file
expect_status_and_line 126 ./not_executable
expect_status_and_line 126 /
expect "sessions of commands that did not run" "" "$(ls -d rooftap-* 2>/dev/null)"
finish
