#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where sessions lie: a name of their own by default, never over an old one, never half made.
. "$(dirname "$0")/common.sh"

"$ROOFTAP" record -q -- true && "$ROOFTAP" record -q -- true
expect "sessions of two runs" 2 "$(ls -d rooftap-*/session.json | wc -l)"
ls -d rooftap-* | grep -Evx 'rooftap-[0-9]{8}T[0-9]{6}Z-[0-9]+' && fail "name of a session folder"
expect "rights" 700 "$(stat -c %a rooftap-* | sort -u)"

"$ROOFTAP" record -q -o once -- true
cp once/session.json before
expect_usage_error "already holds a session" record -o once -- touch started
cmp -s before once/session.json || fail "an old session was touched"
mkdir traces && touch traces/1.trace
expect_usage_error "already holds a session" record -o traces -- touch started

touch file
expect_usage_error "'file'" record -o file -- touch started
expect_usage_error "no/parent" record -o no/parent -- touch started
mkdir there
expect_usage_error "there is no folder 'there/is'" record -o there/is/none -- touch started
expect_usage_error "there is no folder '/no-such'" record -o /no-such/folder -- touch started
mkdir mine && touch mine/notes
"$ROOFTAP" record -q -o mine -- true || fail "a folder without a session is usable"
[ -e mine/notes ] || fail "a file of the user's is gone"
if [ "$(id -u)" -eq 0 ]; then
    mkdir -m 777 anybodys && chmod 777 anybodys && chown 65534 anybodys
    expect_usage_error "belongs to another user" record -o anybodys -- touch started
    chmod 1777 anybodys && "$ROOFTAP" record -q -o anybodys -- true || fail "a sticky folder of another user's"
    mkdir -m 777 own && chmod 777 own && "$ROOFTAP" record -q -o own -- true || fail "an open folder of one's own"
fi
if [ "$(id -u)" -ne 0 ]; then
    mkdir -m 500 locked
    expect_usage_error "locked" record -o locked -- touch started
fi
expect_usage_error "/proc" record -o /proc/self/task -- touch started
[ ! -e started ] || fail "a target was started in spite of an unusable folder"

# Failing to run takes everything back, so that the same folder can be used again.
"$ROOFTAP" record -q -o again --simulate unit -- ./no-such-program 2>/dev/null
[ ! -e again ] || fail "a session of nothing was left"
mkdir kept
"$ROOFTAP" record -q -o kept --simulate unit -- ./no-such-program 2>/dev/null
expect "a folder that was there" "" "$(ls -A kept)"

python3 - <<'PY' || fail "session.json"
import json, os
session = json.load(open("once/session.json"))
assert session["schema"] == 1 and session["command"] == ["true"] and session["simulate"] is None, session
assert session["working_directory"] == os.getcwd(), session
assert session["target_pid"] > 0 and session["host"] and session["kernel"].startswith("Linux "), session
assert session["settings"]["ROOFTAP_TIMING"] == "auto", session
PY
expect "rights of its files, whatever the umask" 600 "$(umask 0; "$ROOFTAP" record -q -o open -- true; stat -c %a open/session.json)"
"$ROOFTAP" record -q --redact-args -o secret -- sh -c 'echo "$1"' sh hidden-word >out
expect "what the target gets" hidden-word "$(cat out)"
grep -rq hidden-word secret && fail "--redact-args left an argument in the session"
python3 -c 'import json; c = json.load(open("secret/session.json"))["command"]; assert c == ["sh", "[redacted]"], c' ||
    fail "the command without its arguments"
"$ROOFTAP" record -q -o odd -- sh -c : "$(printf 'b\377d "q"')"
python3 -c 'import json; c = json.load(open("odd/session.json"))["command"]; assert c[3] == "b\ufffdd \"q\"", c' ||
    fail "an argument that is not UTF-8"

# While the target runs, session.json is there and has no end yet.
"$ROOFTAP" record -q -o during -- cat during/session.json >seen
python3 -c 'import json; s = json.load(open("seen")); assert "exit" not in s and s["target_pid"], s' ||
    fail "session.json while the target runs"
# `report` without a folder takes the recording that was started last, whichever ended or was touched last.
mkdir newest && cd newest || exit 1
session_started() { # FOLDER NANOSECONDS
    mkdir "$1" && printf '{"schema": 1, "command": ["%s"], "started_realtime_ns": %s}\n' "$1" "$2" >"$1/session.json"
}
newest() { # what `report` chose: its JSON tells even of an empty session
    "$ROOFTAP" report --json 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["session"]["command"])'
}
session_started rooftap-20250102T030405Z-7 1735787045000000002
session_started rooftap-20250102T030405Z-99 1735787045000000001
touch rooftap-20250102T030405Z-99/session.json
expect "newest of one second" rooftap-20250102T030405Z-7 "$(newest)"
# Its name tells where session.json doesn't.
mkdir rooftap-20250102T030406Z-1 && echo '{"command": ["by name"]}' >rooftap-20250102T030406Z-1/session.json
touch -d 2001-01-01 rooftap-20250102T030406Z-1/session.json
expect "newest by its name" "by name" "$(newest)"
mkdir rooftap-mine && echo '{"command": ["nobody knows when"]}' >rooftap-mine/session.json
expect "newest beside a folder of no known time" "by name" "$(newest)"
cd "$scratch" || exit 1

# Two at once: one records, the other is told, whichever comes first, and takes nothing away from the winner.
for round in 1 2 3 4 5 6; do
    for one in 1 2; do
        { "$ROOFTAP" record -q -o "shared$round" -- sleep 0.3 2>"told$one"; echo $? >"status$one"; } &
    done
    wait
    expect "statuses of two at once" "0 2" "$(sort status1 status2 | paste -sd' ')"
    expect "what the loser is told" 1 "$(cat told1 told2 | grep -c 'already holds a session')"
    expect "lines of both" 1 "$(cat told1 told2 | wc -l)"
    grep -q '"exit"' "shared$round/session.json" || fail "the winner's session.json"
done

# Nothing recorded is said, and not as if there were something to show.
"$ROOFTAP" record -o nothing -- ls >/dev/null 2>told
grep -q 'nothing was recorded: no process used CUDA.*; the session is in nothing$' told || fail "nothing recorded: $(cat told)"
grep -q 'report' told && fail "a report of nothing is offered"
"$ROOFTAP" record -o something -- sh -c 'touch something/1.trace' 2>told
grep -q "the session is in something; 'rooftap report something' shows it" told || fail "something recorded: $(cat told)"

# A session that went away while the target ran is not pointed at.
"$ROOFTAP" record -o gone -- rm -rf gone 2>told || fail "status of the target whose session went away"
grep -q "'gone/session.json' can't be written" told || fail "a session that went away: $(cat told)"
expect "lines on a session that went away" 1 "$(wc -l <told)"

# What is no regular file is said, and never waited for.
mkdir pipes && mkfifo pipes/x.trace pipes/session.json
for what in pipes pipes/x.trace; do
    timeout 20 "$ROOFTAP" report "$what" >shown 2>told
    expect "status of a report on a pipe, $what" 2 "$?"
    grep -q 'x.trace: not a regular file' told || fail "a pipe for a trace: $(cat told)"
done
mkdir pipe && mkfifo pipe/session.json && : >pipe/1.trace
timeout 20 "$ROOFTAP" report --json pipe >shown 2>told
grep -q "session.json can't be read (not a regular file)" shown || fail "a pipe for session.json: $(cat shown told)"
mkdir huge && : >huge/1.trace && echo '{"command": ["x"]}' >huge/session.json && truncate -s 5M huge/session.json
"$ROOFTAP" report --json huge >shown 2>told
grep -q "session.json can't be read (larger than 4 MiB)" shown || fail "a huge session.json: $(cat shown told)"
finish
