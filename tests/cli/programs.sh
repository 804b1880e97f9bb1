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
# P09: a loader of another C library can't load the shim, and neither musl's nor a 32-bit one would keep quiet about it: such
# a program gets its own LD_PRELOAD. A name is enough to stand in for musl's.
if [ -n "$loader" ]; then
    mkdir lib && ln -s "$loader" lib/ld-musl-x86_64.so.1
    echo 'int puts(const char *); char *getenv(const char *);
int main(void) { const char *p = getenv("LD_PRELOAD"); puts(p ? p : "none"); return 3; }' >tell.c
    "$CC" tell.c -o of_musl -Wl,--dynamic-linker="$PWD/lib/ld-musl-x86_64.so.1" && "$CC" tell.c -o of_glibc
    runs_with_word "musl" ./of_musl
    expect "LD_PRELOAD of a program of another C library" none "$(cat out)"
    LD_PRELOAD=/nonexistent/own.so "$ROOFTAP" record -q -o own_preload -- ./of_musl >out 2>/dev/null
    expect "its own LD_PRELOAD" /nonexistent/own.so "$(cat out)"
    "$ROOFTAP" record -q -o of_glibc.session -- ./of_glibc >out 2>err
    grep -q 'librooftap.so$' out || fail "LD_PRELOAD of a program of this C library is '$(cat out)'"
    # --strict makes an error of it, before anything runs or is left behind.
    printf '#include <fcntl.h>\nint main(void) { return creat("started", 0600) < 0; }\n' >toucher.c
    "$CC" toucher.c -o toucher -Wl,--dynamic-linker="$PWD/lib/ld-musl-x86_64.so.1"
    expect_usage_error "--strict" record --strict -o strict -- ./toucher
    [ ! -e started ] && [ ! -e strict ] || fail "--strict started the program or left a folder"
    "$ROOFTAP" record --strict -q -o strict -- ./dynamic 2>err
    expect "a usual program under --strict" "3 " "$? $(cat err)"
fi
# Capabilities of the file's own make the loader as careful as setuid does, for any user but root. The attribute is struct
# vfs_cap_data of linux/capability.h, revision 2, effective, CAP_NET_RAW permitted.
add_capability='import os, struct, sys
os.setxattr(sys.argv[1], "security.capability", struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0))'
cp dynamic with_capability
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && python3 -c "$add_capability" with_capability 2>/dev/null; then
    mkdir any && chmod 777 any && chmod 755 . && mv with_capability any/ && cd any
    as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
    if as_nobody "$ROOFTAP" --version >/dev/null 2>&1 && as_nobody ./with_capability; [ $? -eq 3 ]; then
        as_nobody "$ROOFTAP" record -q -o session -- ./with_capability 2>err
        expect "status of a program with capabilities" 3 $?
        expect "lines for a program with capabilities" 1 "$(grep -c LD_PRELOAD err)"
    fi
    cd ..
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
