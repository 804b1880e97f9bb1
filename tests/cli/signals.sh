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

# Exactly once: the group's signal is not handed on again, one to the command alone is, and so is each to a target that left
# the group. The target counts what it gets for a while after the first.
cat >count.py <<'PY'
import os, signal, sys, time
if "setsid" in sys.argv:
    os.setsid()
got = []
for name in ("TERM", "INT", "HUP", "USR1"):
    signal.signal(getattr(signal, "SIG" + name), lambda number, _: got.append(number))
open("ready", "w").close()
deadline = time.monotonic() + 10
while not got and time.monotonic() < deadline:
    time.sleep(0.01)
end = time.monotonic() + 0.3
while time.monotonic() < end:
    time.sleep(0.01)
print(*got)
PY
cat >send.py <<'PY'
# send.py HOW SIGNAL REPEAT COMMAND...: runs COMMAND in a group of its own and signals its process, its group or both
import os, signal, subprocess, sys, time
how, number, repeat, command = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
def begin():
    os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
for _ in range(repeat):
    if os.path.exists("ready"):
        os.unlink("ready")
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=begin)
    while not os.path.exists("ready"):
        time.sleep(0.01)
    if how == "group-then-process":
        os.killpg(child.pid, number)
        time.sleep(0.1)
    if "process" in how:
        os.kill(child.pid, number)
    if how in ("group", "process+group"):
        os.killpg(child.pid, number)
    print(child.communicate()[0].strip())
PY
for number in 15 2 1; do
    for how in group process process+group; do
        rm -rf counted
        expect "signals after $how $number" "$number" \
            "$(python3 send.py "$how" "$number" 1 "$ROOFTAP" record -q -o counted -- python3 count.py)"
    done
done
rm -rf counted
expect "signal to the group, then to the command" "15 15" \
    "$(python3 send.py group-then-process 15 1 "$ROOFTAP" record -q -o counted -- python3 count.py)"
for how in group process process+group; do
    rm -rf counted
    expect "signals after $how to a target in a session of its own" 15 \
        "$(python3 send.py "$how" 15 1 "$ROOFTAP" record -q -o counted -- python3 count.py setsid)"
done
for name in TERM INT; do
    rm -rf counted
    expect "signals of timeout -s $name" "$(kill -l "$name")" \
        "$(timeout -s "$name" 4 "$ROOFTAP" record -q -o counted -- python3 count.py)"
done

# The terminal's own: Ctrl-C comes once.
cat >terminal.py <<'PY'
import os, pty, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
while not os.path.exists("ready"):
    time.sleep(0.01)
os.write(terminal, b"\x03")
text = b""
try:
    while chunk := os.read(terminal, 4096):
        text += chunk
except OSError:
    pass
os.waitpid(pid, 0)
print(text.decode().replace("^C", "").strip())
PY
rm -rf counted ready
expect "signals of Ctrl-C" 2 "$(python3 terminal.py "$ROOFTAP" record -q -o counted -- python3 count.py)"

# The process that watches the group holds nothing open, is not left behind, and goes by the target's name.
rm -rf counted ready
"$ROOFTAP" record -q -o counted -- sh -c 'touch ready; exec sleep 3.25' &
job=$!
wait_for ready
watcher=$(pgrep -P "$job" -x group-sentinel)
[ -n "$watcher" ] || fail "nobody watches the group"
expect "open files of the watcher" "" "$(ls "/proc/$watcher/fd")"
tr '\0' ' ' <"/proc/$watcher/cmdline" | grep -q '^sh -c touch ready' || fail "name of the watcher"
kill -KILL "$job"
wait "$job" 2>/dev/null # killed
for _ in $(seq 100); do
    grep -qs '^State:.[^ZX]' "/proc/$watcher/status" || break
    sleep 0.05
done
grep -qs '^State:.[^ZX]' "/proc/$watcher/status" && fail "the watcher outlived the command"

# A caller that ignores SIGCHLD gets the status all the same.
python3 -c 'import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])' \
    "$ROOFTAP" record -q -o nochild -- sh -c 'exit 9'
expect "status with SIGCHLD ignored" 9 $?
finish
