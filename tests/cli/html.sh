#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `rooftap report --html FILE --open`: which file is written, that it is whole or as it was, and who is asked to show it.
. "$(dirname "$0")/common.sh"
: "${BUILD:?the build folder}"
cases=$(cd "$(dirname "$0")/../report/cases" && pwd)
unset DISPLAY WAYLAND_DISPLAY SSH_CONNECTION SSH_TTY SSH_CLIENT WSL_DISTRO_NAME WSL_INTEROP BROWSER

session_of() { # CASE FOLDER
    mkdir -p "$2"
    "$BUILD/tests/report/make_trace" "$cases/$1/trace.txt" "$2" || fail "make_trace"
}
is_page() { # FILE: it begins and ends as one
    { [ "$(head -c 15 "$1")" = "<!doctype html>" ] && [ "$(tail -n 1 "$1")" = "</html>" ]; } || fail "$1 is no whole page"
}
only() { # FOLDER NAME...: nothing else is there
    local folder=$1
    shift
    expect "files in $folder" "$*" "$(ls -A "$folder" | tr '\n' ' ' | sed 's/ $//')"
}
run() { # STATUS ARGUMENT...
    local status=$1 found
    shift
    "$ROOFTAP" "$@" >out 2>err
    found=$?
    expect "status of 'rooftap $*' ($(head -c 300 err))" "$status" "$found"
}
session_of decode_loop s
session_of nothing none

# ---- a file ----
mkdir to
run 0 report --html to/report.html s
is_page to/report.html
only to report.html
expect "lines on standard output" 1 "$(wc -l <out)"
grep -q '^to/report.html: [0-9.]* [kM]*B; open it in a browser$' out || fail "does not say what it wrote: $(cat out)"
expect "standard error" "" "$(cat err)"
cp to/report.html first
run 0 report s --html=to/report.html
cmp -s first to/report.html || fail "two pages of one session differ"
(umask 027 && "$ROOFTAP" report --html to/rights.html s >out) || fail "--html with a umask"
expect "rights under umask 027" 640 "$(stat -c %a to/rights.html)"
chmod 600 to/rights.html && run 0 report --html to/rights.html s
expect "rights of a page that was there" 600 "$(stat -c %a to/rights.html)"
name=$(printf 'n%.0s' {1..250}).html
run 0 report --html "to/$name" s
is_page "to/$name"
expect_usage_error "needs a value, found '--'" report --html -- s
expect_usage_error "needs a FILE that is not empty" report --html "" s
run 0 report --html to/a$'\e'b.html s
! grep -q $'\e' out || fail "a control character of the file's name is printed"
rm to/*

# ---- standard output ----
run 0 report --html - s
cmp -s first out || fail "--html - prints another page"
"$ROOFTAP" report --html /dev/stdout s | cmp -s first - || fail "--html /dev/stdout"
echo before >appended && "$ROOFTAP" report --html /dev/stdout s >>appended
expect "the first line of a file that a page is appended to" before "$(head -n 1 appended)"
tail -n +2 appended | cmp -s first - || fail "a page that is appended"
"$ROOFTAP" report --html >(cat >piped) s >out && for _ in {1..50}; do cmp -s first piped && break; sleep 0.1; done
cmp -s first piped || fail "--html of a pipe"
cat first first >third && "$ROOFTAP" report --html /dev/fd/3 s 3<>third >out && cmp -s first third || fail "--html of an open file"
run 2 report --html /dev/fd/3 no_such_session 3<>third
cmp -s first third || fail "an open file is emptied though there is no session"
if [ -d /dev/shm ] && [ -w /dev/shm ]; then
    memory=$(mktemp -d /dev/shm/rooftap-test.XXXXXX)
    cat first first >"$memory/page.html" # longer than what replaces it
    run 0 report --html "$memory/page.html" s
    cmp -s first "$memory/page.html" || fail "--html of a file that was longer"
    rm -r "$memory"
fi
"$ROOFTAP" report --html - s >/dev/full 2>err
expect "status where standard output is full" 2 $?
expect "lines where standard output is full" 1 "$(wc -l <err)"
run 2 report --html /dev/full s
grep -q "could not be written: No space left" err || fail "/dev/full: $(cat err)"

# ---- links ----
mkdir real && echo old >real/page.html && ln -s real/page.html link && ln -s real/new.html dangling && ln -s loop loop
run 0 report --html link s
[ -L link ] || fail "the link was replaced"
is_page real/page.html
run 0 report --html dangling s
is_page real/new.html
only real new.html page.html
expect_usage_error "'loop' can't be written" report --html loop s

# ---- what can't be written is told before anything is made, and changes nothing ----
expect_usage_error "'no/such/page.html' can't be written: No such file or directory; name another" report --html no/such/page.html s
expect_usage_error "'to' can't be written: Is a directory" report --html to s
expect_usage_error "'to/' can't be written" report --html to/ s
expect_usage_error "'new/' can't be written" report --html new/ s
expect_usage_error "'first/x' can't be written: Not a directory" report --html first/x s
expect_usage_error "File name too long" report --html "$(printf 'n%.0s' {1..300})" s
expect_usage_error "File name too long" report --html "$(printf 'n%.0s' {1..5000})" s
expect_usage_error "no_such_session: No such file" report --html to/x.html no_such_session
only to

# ---- nor is a recording, or anything else that is no page, written over ----
cp -r s named && trace=$(find named -name '*.trace' | head -n 1) && echo '{}' >named/session.json && ln -s "../$trace" to/link.html
for file in "$trace" to/link.html to/new.trace; do
    expect_usage_error "'$file' can't be written: names in .trace are those of recordings; name another" report --html "$file" s
done
expect_usage_error "session.json' can't be written: that file is no page, and would be lost" report --html named/session.json s
expect "the session's file" "{}" "$(cat named/session.json)"
cmp -s "$trace" "s/${trace#named/}" || fail "a trace was written over"
rm named/session.json && diff -r s named || fail "a page in the session's folder"
: >to/empty && run 0 report --html to/empty s
run 0 report --html to/empty s
is_page to/empty
echo old >to/PAGE.HTM && run 0 report --html to/PAGE.HTM s
is_page to/PAGE.HTM
rm to/*
echo old >to/page.html
(ulimit -f 8 && "$ROOFTAP" report --html to/page.html s >out 2>err)
expect "status where files may not grow" 2 $?
grep -q "could not be written: File too large; what was there before, if anything, still is" err || fail "ulimit -f: $(cat err)"
expect "the old file" old "$(cat to/page.html)"
only to page.html
for kilobytes in $(seq 4000 200 10000); do # somewhere in there memory runs out while the page is made
    echo old >to/page.html
    if { (ulimit -v "$kilobytes" && exec "$ROOFTAP" report --html to/page.html s >out 2>err); } 2>/dev/null; then
        cmp -s first to/page.html || fail "with $kilobytes kB of memory a page is not whole, and nothing said so"
    else
        expect "the old file, with $kilobytes kB of memory" old "$(cat to/page.html)"
    fi
done
only to page.html
if [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; then
    mkdir small
    unshare --mount bash -c 'mount -t tmpfs -o size=64k tmpfs small && echo old >small/page.html &&
        "$ROOFTAP" report --html small/page.html s; echo "status $?"; ls -A small; cat small/page.html' >out 2>err
    expect "on a full disk" "status 2 page.html old" "$(tr '\n' ' ' <out | sed 's/ $//')"
    grep -q "No space left on device; what was there" err || fail "a full disk: $(cat err)"
fi
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    chmod 755 . && mkdir shut && echo old >shut/page.html && chmod 644 shut/page.html && mkdir -m 777 open && echo old >open/page.html
    for file in shut/page.html shut/new.html open/page.html; do
        setpriv --reuid 65534 --clear-groups "$ROOFTAP" report --html $file s >out 2>err
        expect "status without the right to write $file" 2 $?
        grep -q "'$file' can't be written: Permission denied" err || fail "without rights: $(cat err)"
    done
    only shut page.html
    only open page.html
fi

# ---- sessions without a report are pages all the same ----
run 1 report --html to/none.html none
is_page to/none.html
expect "lines on standard error" 1 "$(wc -l <err)"
session_of cut_short cut && run 0 report --html to/cut.html cut
is_page to/cut.html
session_of decode_loop damaged && echo "not a trace" >damaged/2.rooftap && cp damaged/2.rooftap damaged/3.trace
run "$("$ROOFTAP" report damaged >/dev/null 2>&1; echo $?)" report --html to/damaged.html damaged
is_page to/damaged.html
mkdir empty
run 2 report --html to/empty.html empty
[ ! -e to/empty.html ] || fail "a page of a folder that is no session"
mkdir broken && echo "not a trace" >broken/1.trace && cp to/cut.html before.html
for session in empty broken broken/1.trace /dev/null; do
    expect_usage_error "rooftap report: $session" report --html to/cut.html $session
    cmp -s before.html to/cut.html || fail "an old page gave way to one of $session, which is no recording"
done
run 2 report --html to/broken.html broken
is_page to/broken.html

# ---- with other options ----
run 0 report --html to/both.html --json s
"$ROOFTAP" report --json s | cmp -s out - || fail "--json beside --html prints something else"
cmp -s first to/both.html || fail "--html beside --json makes another page"
for option in --all --skinny "--sort time" "--by kernel"; do
    # shellcheck disable=SC2086
    expect_usage_error "--html holds everything" report --html to/x.html $option s
    # shellcheck disable=SC2086
    expect_usage_error "the page of --open holds everything" report --open $option s
done
expect_usage_error "can't both go to standard output" report --html - --json s
expect_usage_error "can't both go to standard output" report --html /dev/stdout --json s
expect_usage_error "--open needs a page in a file" report --html - --open s
run 0 report --html to/top.html --top 2 s
is_page to/top.html
grep -q ', 2 of [0-9]* operators and the sums of the others' out || fail "does not say what it left out: $(cat out)"

# ---- a desktop ----
mkdir bin && cat >bin/xdg-open <<'SCRIPT'
#!/bin/sh
in=$(readlink /proc/$$/fd/0) out=$(readlink /proc/$$/fd/1) err=$(readlink /proc/$$/fd/2) nine=none
[ ! -e /proc/$$/fd/9 ] || nine=open
ignored=$(sed -n 's/^SigIgn:\t//p' /proc/$$/status)
printf '%s\n' "$#" "$1" "$in" "$out" "$err" $nine "$ignored" "$(cut -d ' ' -f 6 /proc/$$/stat)" $$ >"$0.new"
mv "$0.new" "$0.said"
sleep 20
SCRIPT
chmod +x bin/xdg-open && cp bin/xdg-open bin/wslview
here=$(pwd -P)
ignored=$(sed -n 's/^SigIgn:\t//p' /proc/self/status)
shown_by() { # PROGRAM PATH: it was started with that, and nothing of ours is open or ignored in it
    for _ in {1..100}; do [ -e "bin/$1.said" ] && break; sleep 0.1; done
    expect "what $1 was started with" "1 $2 /dev/null /dev/null /dev/null none $ignored" "$(head -n 7 "bin/$1.said" 2>/dev/null | tr '\n' ' ' | sed 's/ $//')"
    expect "$1's session is its own" "$(tail -n 1 "bin/$1.said")" "$(tail -n 2 "bin/$1.said" | head -n 1)"
    kill -- "-$(tail -n 1 "bin/$1.said")" 2>/dev/null
    rm -f "bin/$1.said"
}
opens() { # VARIABLE=VALUE... ARGUMENT...: as `rooftap report` there, without waiting for what it starts
    timeout 10 env PATH="$here/bin:$PATH" "$@" >out 2>err 9</dev/null
    expect "status of '$*' ($(cat err))" 0 $?
}
opens DISPLAY=:0 "$ROOFTAP" report --open --html to/it.html s
grep -q "^$here/to/it.html: .*; given to xdg-open\$" out || fail "does not say who shows it: $(cat out)"
shown_by xdg-open "$here/to/it.html"
opens WAYLAND_DISPLAY=wayland-0 "$ROOFTAP" report --open s
shown_by xdg-open "$here/s/report.html"
is_page s/report.html
rm s/report.html
opens DISPLAY=:0 WSL_DISTRO_NAME=Debian "$ROOFTAP" report --open s/
shown_by wslview "$here/s/report.html"
trace=$(find s -maxdepth 1 -type f ! -name '*.html' | head -n 1)
opens DISPLAY=:0 "$ROOFTAP" report --open --json "$trace"
shown_by xdg-open "$here/$trace.html"
grep -q 'given to xdg-open' err || fail "beside JSON, who shows the page is no line of standard error"
python3 -c 'import json, sys; json.load(sys.stdin)' <out || fail "--open --json prints no JSON"

# ---- none ----
opens SSH_CONNECTION="1 2 3 4" DISPLAY=localhost:10 "$ROOFTAP" report --open --html to/it.html s
grep -q "^$here/to/it.html: .*; this is a session of SSH" out || fail "over SSH, the path is not printed: $(cat out)"
opens SSH_TTY=/dev/pts/0 DISPLAY=:0 "$ROOFTAP" report --open --html to/it.html s
opens DISPLAY= "$ROOFTAP" report --open --html to/it.html s
grep -q "^$here/to/it.html: .*; no desktop here" out || fail "without a desktop: $(cat out)"
rm bin/*
DISPLAY=:0 PATH=$here/bin "$ROOFTAP" report --open --html to/it.html s >out || fail "without xdg-open"
grep -q "^$here/to/it.html: .*; no xdg-open here" out || fail "without xdg-open: $(cat out)"
echo "#!/no/such/interpreter" >bin/xdg-open && chmod +x bin/xdg-open
DISPLAY=:0 PATH=$here/bin "$ROOFTAP" report --open --html to/it.html s >out || fail "with an xdg-open that can't be started"
grep -q "^$here/to/it.html: .*; xdg-open can't be started (" out || fail "an xdg-open that is none: $(cat out)"
sleep 0.3
ls bin/*.said 2>/dev/null && fail "started over SSH or without a desktop"
rm -f s/*.html && mkdir s/report.html
expect_usage_error "s/report.html' can't be written: Is a directory; name another file with --html FILE" report --open s
finish
