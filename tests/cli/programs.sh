#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs that the loader can't put the library into are named in one line and run all the same.
. "$(dirname "$0")/common.sh"
CC=${CC:-cc}

runs_with_word() { # WORD COMMAND...
    local word=$1
    shift
    "$ROOFTAP" record -q -o "session$RANDOM$RANDOM" -- "$@" >out 2>err
    expect "status of $*" 3 $?
    expect "lines for $*" 1 "$(wc -l <err)"
    grep -q -- "$word" err || fail "nothing of '$word' for $*: $(cat err)"
}

echo 'int main(void) { return 3; }' >three.c
"$CC" three.c -o dynamic
"$ROOFTAP" record -q -o plain -- ./dynamic 2>err
expect "status of a usual program" 3 $?
expect "nothing to say of a usual program" "" "$(cat err)"

if "$CC" -static three.c -o static 2>/dev/null; then
    runs_with_word "statically linked" ./static
    printf '#!%s/static\n' "$PWD" >script
    chmod +x script
    runs_with_word "statically linked" ./script
fi
if "$CC" -static-pie three.c -o static_pie 2>/dev/null; then
    runs_with_word "statically linked" ./static_pie
fi
if "$CC" -m32 -nostdlib -static -x c - -o word32 2>/dev/null <<'C'
void _start(void) { __asm__("mov $1,%eax; mov $3,%ebx; int $0x80"); }
C
then
    ./word32 2>/dev/null
    [ $? -eq 3 ] && runs_with_word "word size" ./word32
fi
# The loader by name has no interpreter of its own, yet takes LD_PRELOAD.
loader=$(readlink -f /lib64/ld-linux-x86-64.so.2 2>/dev/null)
if [ -n "$loader" ]; then
    "$ROOFTAP" record -q -o loader -- "$loader" ./dynamic 2>err
    expect "the loader as a program" "" "$(cat err)"
fi
if [ "$(id -u)" -eq 0 ]; then
    cp dynamic setuid && chown 65534 setuid && chmod 4755 setuid
    runs_with_word "LD_PRELOAD" ./setuid
fi
# Host code made by the CUDA compiler, with and without the runtime inside; asked where there is a simulator.
if [ -e "$(dirname "$ROOFTAP")/../lib/rooftap/sim/libcuda.so.1" ]; then
    echo 'const char kernels[16] __attribute__((section(".nv_fatbin"))) = "x"; int main(void) { return 3; }' >fat.c
    "$CC" fat.c -o with_runtime
    "$ROOFTAP" record -q -o fat1 --simulate unit -- ./with_runtime 2>err
    grep -q "runtime built in" err || fail "a static CUDA runtime is not named: $(cat err)"
    echo 'void __cudaRegisterFatBinary(void) {}' >runtime.c
    "$CC" -shared -fPIC runtime.c -o libruntime.so
    echo 'void __cudaRegisterFatBinary(void);
const char kernels[16] __attribute__((section(".nv_fatbin"))) = "x";
int main(int argc, char **argv) { (void)argv; if (argc > 99) __cudaRegisterFatBinary(); return 3; }' >shared.c
    "$CC" shared.c -o without_runtime -L. -lruntime -Wl,-rpath,"$PWD"
    "$ROOFTAP" record -q -o fat2 --simulate unit -- ./without_runtime 2>err
    expect "a shared CUDA runtime" "" "$(cat err)"
fi
# Truncated files must not confuse the look at their headers: they end as they do under env(1).
for bytes in 20 64 100 1000 4000; do
    head -c "$bytes" dynamic >"cut$bytes" && chmod +x "cut$bytes"
    { env "./cut$bytes"; } >/dev/null 2>&1 # execs as the command does
    plain=$?
    { "$ROOFTAP" record -q -o "session_cut$bytes" -- "./cut$bytes"; } >/dev/null 2>&1
    expect "status of a file of $bytes bytes" "$plain" $?
done
finish
