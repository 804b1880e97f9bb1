#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `record --audit` puts the audit library into LD_AUDIT, beside what is there, from folders of any name; only if asked to.
. "$(dirname "$0")/common.sh"
: "${BUILD:?the build folder}"
unset LD_AUDIT

library=$(dirname "$("$ROOFTAP" record -q -o shim -- sh -c 'echo "$LD_PRELOAD"')")/librooftap-audit.so
show='echo "${LD_AUDIT-none}"'
expect "LD_AUDIT without --audit" none "$("$ROOFTAP" record -q -o without -- sh -c "$show")"
expect "LD_AUDIT" "$library" "$("$ROOFTAP" record -q -o with --audit -- sh -c "$show")"
own=/nonexistent/own.so
expect "LD_AUDIT is added to" "$own:$library" \
    "$(LD_AUDIT=$own "$ROOFTAP" record -q -o own --audit -- sh -c "$show" 2>/dev/null)"
expect "LD_AUDIT that has it" "$library:$own" \
    "$(LD_AUDIT=$library:$own "$ROOFTAP" record -q -o twice --audit -- sh -c "$show" 2>/dev/null)"
expect "an empty LD_AUDIT" "$library" "$(LD_AUDIT='' "$ROOFTAP" record -q -o empty --audit -- sh -c "$show")"

# The loader takes it, and has nothing to say.
"$ROOFTAP" record -q -o taken --audit -- sh -c 'grep -c librooftap-audit.so /proc/self/maps; exit 5' >out 2>err
expect "status under --audit" 5 $?
[ "$(cat out)" -gt 0 ] || fail "the loader did not take the audit library"
expect "complaints under --audit" "" "$(cat err)"
# Of the second C library that an audit library usually brings, nothing is there.
"$ROOFTAP" record -q -o once --audit -- cat /proc/self/maps | awk '/libc\.so\.6/ && $3 == "00000000"' >out
expect "C libraries in the process" 1 "$(wc -l <out)"

# LD_AUDIT is split at colons.
mkdir -p "a b:c/bin" "a b:c/lib/rooftap"
cp "$ROOFTAP" "a b:c/bin/"
cp "$BUILD"/lib/rooftap/librooftap*.so "a b:c/lib/rooftap/"
"a b:c/bin/rooftap" record -q -o odd --audit -- sh -c 'grep -c librooftap-audit.so /proc/self/maps' >out 2>err
[ "$(cat out)" -gt 0 ] || fail "not taken from a folder of an odd name: $(cat err)"
rm "a b:c/lib/rooftap/librooftap-audit.so"
"a b:c/bin/rooftap" record -q -o missing --audit -- touch started >out 2>err
expect "status without the library" 2 $?
grep -q "librooftap-audit.so' (No such file" err || fail "what is missing is not said: $(cat err)"
[ ! -e started ] && [ ! -e missing ] || fail "the program was started, or a folder left"

# The loader of another C library would complain of it.
loader=$(readelf -lW "$(command -v sh)" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
if command -v "${CC:-cc}" >/dev/null && [ -e "$loader" ]; then
    mkdir lib && ln -s "$loader" lib/ld-musl-x86_64.so.1
    echo 'int puts(const char *); char *getenv(const char *);
int main(void) { const char *p = getenv("LD_AUDIT"); puts(p ? p : "none"); return 0; }' >tell.c
    "${CC:-cc}" tell.c -o of_musl -Wl,--dynamic-linker="$PWD/lib/ld-musl-x86_64.so.1"
    expect "LD_AUDIT of another C library" none "$("$ROOFTAP" record -q -o of_musl.session --audit -- ./of_musl 2>/dev/null)"
fi
finish
