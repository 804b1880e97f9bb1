#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Signals sent to the command reach the target, which decides; ignored ones stay ignored; the mask is the caller's.
. "$(dirname "$0")/common.sh"

wait_for() { # FILE
    for _ in $(seq 200); do
        [ -e "$1" ] && return 0
        sleep 0.05
    done
    fail "no $1 after 10 s"
}

for name in TERM INT HUP USR1; do
    rm -f ready
    # A background job of a script has SIGINT ignored; python gives the target the default back.
    python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); os.execv(sys.argv[1], sys.argv[1:])' \
        "$ROOFTAP" record -q -o "to$name" -- bash -c \
        "trap 'echo got $name; exit 5' $name; touch ready; while :; do sleep 0.05; done" >"out$name" &
    job=$!
    wait_for ready
    kill "-$name" "$job"
    wait "$job"
    expect "status after SIG$name" 5 $?
    expect "what the target saw" "got $name" "$(cat "out$name")"
done

# nohup: SIGHUP ignored by the caller is ignored by both.
rm -f ready
(trap '' HUP; exec "$ROOFTAP" record -q -o ignored -- sh -c 'touch ready; sleep 0.5; exit 6') &
job=$!
wait_for ready
kill -HUP "$job"
wait "$job"
expect "status with SIGHUP ignored" 6 $?

"$ROOFTAP" record -q -o dispositions -- grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status >under
grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status >plain
cmp -s plain under || fail "signal masks differ: $(diff plain under)"
finish
