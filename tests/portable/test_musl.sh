#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program of another C library, musl: as the command it is said not to be recorded, before it starts, and runs; as what a
# shell of the command starts it comes upon the preload, which its loader takes, and runs all the same. Skipped (77) where
# there is no musl-gcc (Debian: musl-tools).
# usage: test_musl.sh ROOFTAP FOLDER
set -eu
rooftap=$1 folder=$2
command -v musl-gcc >/dev/null || { echo "skipped: no musl-gcc (Debian: musl-tools)"; exit 77; }
. "$(dirname "$0")/../own_folder.sh"
own_folder "$folder"
mkdir -p "$folder"
source=$(dirname "$0")/other_libc.c
wanted="1 1 1 4 5"
fail() { echo "$*" >&2; exit 1; }
run() { # NAME COMMAND...: its status, with output in $folder/NAME.out and .err
    name=$1 status=0
    shift
    "$@" >"$folder/$name.out" 2>"$folder/$name.err" || status=$?
    [ "$status" -eq 3 ] || fail "$name: status $status, expected 3: $(cat "$folder/$name.err")"
    [ "$(cat "$folder/$name.out")" = "$wanted" ] || fail "$name: '$(cat "$folder/$name.out")', expected '$wanted'"
}
musl-gcc -D_GNU_SOURCE -O1 "$source" -o "$folder/program"
readelf -lW "$folder/program" | grep -q 'ld-musl-' || fail "musl-gcc made a program without musl's loader"
run plain "$folder/program"
run command "$rooftap" record -q -o "$folder/command.session" -- "$folder/program"
grep -q "is built for the C library musl, whose loader can't load rooftap; it runs, but is not recorded" "$folder/command.err" ||
    fail "no word of musl: $(cat "$folder/command.err")"
run shell "$rooftap" record -q -o "$folder/shell.session" -- sh -c '"$0"' "$folder/program"
[ ! -s "$folder/shell.err" ] || fail "a program started by a shell: $(cat "$folder/shell.err")"
ls "$folder"/shell.session/*.trace >/dev/null 2>&1 && fail "a trace of a program that does not use CUDA"
echo "musl: runs as the command and below a shell"
