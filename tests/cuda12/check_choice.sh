#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which CUDA `record --simulate` preloads: that of the program's libraries, else the one asked for, else the newest; and
# each program maps its own major's stand-ins alone.
# usage: check_choice.sh ROOFTAP DECODE_LOOP_12 DECODE_LOOP_13 FOLDER
set -eu
rooftap=$1 twelve=$2 thirteen=$3 folder=$4
. "$(dirname "$0")/../own_folder.sh"
own_folder "$folder"
mkdir -p "$folder"
cd "$folder"
fail() { echo "$*" >&2; exit 1; }

# MAJOR EXPECTED-OTHER COMMAND...: the runtimes that the loader says it maps.
runtimes() {
    rm -rf session debug*
    LD_DEBUG=files LD_DEBUG_OUTPUT=$PWD/debug "$rooftap" record -q -o session --simulate unit "$@" >/dev/null 2>err ||
        fail "$*: $(cat err)"
    cat debug* | sed -n 's#.*calling init: .*/\(libcudart\.so\.[0-9]*\)$#\1#p' | sort -u | tr '\n' ' '
}
[ "$(runtimes -- "$twelve" --layers 1)" = "libcudart.so.12 " ] || fail "a program of CUDA 12 maps $(runtimes -- "$twelve" --layers 1)"
[ "$(runtimes -- "$thirteen" --layers 1)" = "libcudart.so.13 " ] || fail "a program of CUDA 13 maps $(runtimes -- "$thirteen" --layers 1)"
[ "$(runtimes -- true)" = "libcudart.so.13 " ] || fail "a program without CUDA maps $(runtimes -- true)"
[ "$(runtimes --simulate-cuda 12 -- true)" = "libcudart.so.12 " ] || fail "--simulate-cuda 12 maps $(runtimes --simulate-cuda 12 -- true)"

# Behind a shell nothing tells: the option does, and the program runs on what it was linked with.
"$rooftap" record -q -o shell --simulate unit --simulate-cuda 12 -- sh -c "'$twelve' --layers 1; true" >out
grep -q "cublasGemmEx" out || fail "behind a shell: $(cat out)"
"$rooftap" report --json shell | grep -q '"calls": 8' || fail "behind a shell not all 8 calls were recorded"

if "$rooftap" record -q -o none --simulate-cuda 12 -- true 2>err; then fail "--simulate-cuda without --simulate is taken"; fi
grep -q -- "--simulate-cuda needs --simulate GPU" err || fail "the refusal: $(cat err)"
if "$rooftap" record -q -o none --simulate unit --simulate-cuda 11 -- true 2>err; then fail "--simulate-cuda 11 is taken"; fi
grep -q "takes 12|13" err || fail "the refusal: $(cat err)"

# A program of a major that there are no stand-ins for is not started.
echo 'int cudaGetDevice(int *device); int main(void) { int d; return cudaGetDevice(&d); }' >eleven.c
echo 'int cudaGetDevice(int *device); int cudaGetDevice(int *device) { return *device = 0; }' >runtime.c
cc -shared -fPIC runtime.c -Wl,-soname,libcudart.so.11.0 -o libcudart.so.11.0
cc eleven.c ./libcudart.so.11.0 -o eleven
if "$rooftap" record -q -o none --simulate unit -- ./eleven 2>err; then fail "a program of CUDA 11 was started"; fi
[ "$(wc -l <err)" -eq 1 ] && grep -q "no stand-in libraries of CUDA 11" err || fail "the refusal: $(cat err)"
echo "each its own"
