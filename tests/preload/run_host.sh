#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a host may rely on, one case a run: run_host.sh CASE SHIM HOST DUMP FOLDER
set -eu
case=$1 shim=$2 host=$3 dump=$4 folder=$5
. "$(dirname "$0")/../own_folder.sh"
own_folder "$folder"
mkdir -p "$folder/trace"

fail() { echo "$case: $*" >&2; exit 1; }
shimmed() { LD_PRELOAD=$shim ROOFTAP_DIR=$folder/trace "$@"; }
records() { "$dump" "$folder/trace" | grep -c "^{\"record\":\"$1\"" || true; }
files() { find "$folder/trace" -type f | wc -l; }
traces() { find "$folder/trace" -type f -name '*.trace' | wc -l; } # without the page by which timing is switched

case $case in
nested) # one record for each call the program made, though the libraries call each other
    FAKE_NESTED=1 shimmed "$host" nested
    [ "$(records call)" -eq 3 ] || fail "$(records call) calls recorded, 3 were made"
    "$dump" "$folder/trace" | grep '^{"record":"call"' | grep -o '"m":[0-9]*' | tr '\n' ' ' | grep -q '"m":3 "m":5 "m":11' ||
        fail "not the outermost calls: $("$dump" "$folder/trace" | grep '^{"record":"call"')"
    "$dump" "$folder/trace" | grep -q '"calls_begun":3,' || fail "calls begun are not 3"
    ;;
fork) # children have files of their own, however they end
    for how in exit _exit quick_exit exit_group; do
        rm -rf "$folder/trace" && mkdir "$folder/trace"
        shimmed "$host" fork "$how" || fail "$how: a child's exit status changed"
        [ "$(traces)" -eq 5 ] || fail "$how: $(traces) traces, expected 5"
        [ "$(records call)" -eq 25 ] || fail "$how: $(records call) calls recorded, 3 + 4 * 5 + 2 were made"
        [ "$(records launch)" -eq 4 ] || fail "$how: $(records launch) launches recorded, 4 were made"
        [ "$(records name)" -eq 4 ] || fail "$how: each child names its kernel, $(records name) did"
        for file in "$folder"/trace/*.trace; do
            rm -rf "$folder/one" && mkdir "$folder/one" && ln "$file" "$folder/one/"
            count=$("$dump" "$folder/one" | grep -c '^{"record":"call"')
            [ "$count" -eq 5 ] || fail "$how: $file holds $count calls, expected 5"
        done
    done
    ;;
inert) # a process that makes no CUDA call leaves nothing
    shimmed /bin/true
    shimmed sh -c 'ls / >/dev/null; /bin/true'
    [ "$(files)" -eq 0 ] || fail "a process without CUDA calls left a file"
    threads=$(shimmed sh -c 'grep Threads /proc/self/status' | tr -dc 0-9)
    [ "$threads" = 1 ] || fail "$threads threads in a process without CUDA calls"
    fds=$(shimmed sh -c 'ls /proc/self/fd' | tr '\n' ' ')
    plain=$(sh -c 'ls /proc/self/fd' | tr '\n' ' ')
    [ "$fds" = "$plain" ] || fail "descriptors: $fds, without the shim: $plain"
    ;;
off) # switched off, no folder or one that can't be written to: the program runs as ever
    ROOFTAP_DISABLE=1 shimmed "$host" nested
    [ "$(files)" -eq 0 ] || fail "ROOFTAP_DISABLE=1 left a file"
    LD_PRELOAD=$shim "$host" nested || fail "fails without ROOFTAP_DIR"
    LD_PRELOAD=$shim ROOFTAP_DIR=$folder/absent/folder "$host" nested || fail "fails without a folder"
    LD_PRELOAD=$shim ROOFTAP_DIR=/proc/self "$host" nested || fail "fails with a folder that takes no file"
    ;;
local) # libraries opened RTLD_LOCAL, under the vendor's name and under any other; HOST is plugin_host
    for plugin in "$PLUGIN" "$PLUGIN_ODD"; do
        rm -rf "$folder/trace" && mkdir "$folder/trace"
        shimmed "$host" "$plugin" || fail "$plugin: exit status $?"
        [ "$(records call)" -eq 3 ] || fail "$plugin: $(records call) calls recorded, 3 were made"
        "$dump" "$folder/trace" | grep '^{"record":"call"' | grep -vq '"pointer_mode":0,' && fail "$plugin: getters not found"
    done
    ;;
threads) # all of them, and none twice
    shimmed "$host" threads 8 2000 5
    [ "$(records call)" -eq 32000 ] || fail "$(records call) calls recorded, 32000 were made"
    [ "$(records launch)" -eq 16000 ] || fail "$(records launch) launches recorded, 16000 were made"
    ids=$("$dump" "$folder/trace" | grep -E '^\{"record":"(call|launch)"' | grep -o '"call_id":[0-9]*' | sort | uniq -d | wc -l)
    [ "$ids" -eq 0 ] || fail "$ids call ids are used twice"
    ;;
last_thread) # main leaves by pthread_exit(): the process ends with the host's last thread, not with ours
    shimmed timeout 60 "$host" last_thread || fail "exit status $?: our threads kept the process alive, or it failed"
    [ "$(records call)" -eq 5 ] || fail "$(records call) calls recorded, 5 were made"
    [ "$(records end)" -eq 1 ] || fail "an orderly end, but no END record"
    ;;
handler) # a signal handler calls cuBLAS, also while the thread it interrupts is opening the trace
    shimmed timeout 60 "$host" handler || fail "exit status $?: the handler waited for the thread that it interrupted"
    own=$("$dump" "$folder/trace" | grep '^{"record":"call"' | grep -c '"m":3,') || true
    [ "$own" -eq 200 ] || fail "$own calls of main recorded, 200 were made"
    ;;
signal) # a call that a signal handler jumps out of is dropped, what follows is not; one made on another stack is nested
    for try in "cublasGemmEx jump 6 4 1 0" "cublasXtSgemm jump 6 4 1 0" "cudaLaunchKernel jump 7 3 1 0" \
        "cublasGemmEx call 7 5 0 1" "cublasXtSgemm call 7 5 0 1" "cudaLaunchKernel call 8 4 0 0"; do
        set -- $try
        rm -rf "$folder/trace" && mkdir "$folder/trace"
        FAKE_SIGNAL_IN=$1 shimmed "$host" signal "$2" || fail "$1, $2: exit status $?"
        "$dump" "$folder/trace" | grep '"m":3,' >/dev/null || fail "$1, $2: nothing recorded afterwards"
        [ "$(records call)" -eq "$3" ] || fail "$1, $2: $(records call) calls recorded, expected $3"
        [ "$(records launch)" -eq "$4" ] || fail "$1, $2: $(records launch) launches recorded, expected $4"
        dropped=$("$dump" "$folder/trace" | grep -o '"dropped":[0-9]*' | awk -F: '{ sum += $2 } END { print sum + 0 }')
        [ "$dropped" -eq "$5" ] || fail "$1, $2: $dropped records dropped, expected $5"
        nested=$("$dump" "$folder/trace" | grep '"record":"launch"' | grep -c '"parent":[1-9]' || true)
        [ "$nested" -eq "$6" ] || fail "$1, $2: $nested launches within a call, expected $6"
    done
    ;;
*)
    fail "no such case"
    ;;
esac
echo "$case: as expected"
