#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The shim exports the tables, dlsym() and its like, InitializeInjection, vfork and two doors for the audit library, nothing more and nothing less,
# unversioned; and it needs no glibc newer than 2.28.    usage: run_exports.sh SHIM NAMES
set -eu
shim=$1 names=$2
exported=$(nm -D --defined-only "$shim" | awk '{print $3}' | LC_ALL=C sort)
expected=$( (cat "$names"; echo InitializeInjection; echo vfork; echo dlsym; echo dlvsym; echo dlerror; echo dlopen; echo rooftap_audit_binding; echo rooftap_audit_loaded) | LC_ALL=C sort)
if [ "$exported" != "$expected" ]; then
    echo "exports differ from the tables (< tables, > library):" >&2
    printf '%s\n' "$expected" >"${TMPDIR:-/tmp}/exports.$$"
    printf '%s\n' "$exported" | diff "${TMPDIR:-/tmp}/exports.$$" - >&2 || true
    rm -f "${TMPDIR:-/tmp}/exports.$$"
    exit 1
fi
newer=$(nm -D --undefined-only "$shim" | grep -o 'GLIBC_[0-9.]*' | sort -u -V | awk -F'[_.]' '$2 > 2 || $3 > 28' || true)
if [ -n "$newer" ]; then
    echo "needs a newer glibc than 2.28:" >&2
    nm -D --undefined-only "$shim" | grep -F "$newer" >&2
    exit 1
fi
locals=$(readelf --dyn-syms -W "$shim" 2>/dev/null | awk '$5 == "LOCAL" && $1 != "0:"')
[ -z "$locals" ] || { echo "the dynamic symbol table is broken: $locals" >&2; exit 1; }
private=$(nm -D --undefined-only "$shim" | grep GLIBC_PRIVATE || true)
[ -z "$private" ] || { echo "uses $private" >&2; exit 1; }
needed=$(readelf -d "$shim" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vE '^(libc\.so\.6|libdl\.so\.2|libpthread\.so\.0|librt\.so\.1|ld-linux.*)$' || true)
[ -z "$needed" ] || { echo "depends on more than glibc: $needed" >&2; exit 1; }
echo "$(echo "$exported" | wc -l) exports agree"
