#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The shim, and the audit library beside it, compile and link for aarch64 without a warning. The shim is an aarch64
# library for the same glibc, and exports what the other one does. It is not run. Skipped (77) where the cross compiler is missing.
# usage: build_aarch64.sh SOURCE CMAKE FOLDER FLOOR SHIM
set -eu
source=$1 cmake=$2 folder=$3 floor=$4 shim=$5
compiler=aarch64-linux-gnu-gcc
if ! echo 'int main(void) { return 0; }' | "$compiler" -x c - -o /dev/null 2>/dev/null; then
    echo "skipped: no $compiler with a C library (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross)"
    exit 77
fi
"$cmake" -S "$source" -B "$folder" -G Ninja -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O1 -DROOFTAP_WERROR=ON \
    -DROOFTAP_SIM=OFF -DROOFTAP_TESTS=OFF >"$folder.log" 2>&1 || { cat "$folder.log" >&2; exit 1; }
"$cmake" --build "$folder" --target rooftap_shim rooftap_audit -- -j2 >"$folder.log" 2>&1 || { grep -v '^\[' "$folder.log" >&2; exit 1; }
built=$folder/lib/rooftap/librooftap.so
readelf -hW "$built" | grep -q 'Machine: *AArch64' || { echo "$built is not for aarch64" >&2; exit 1; }
sh "$(dirname "$0")/check_glibc.sh" "$floor" "$(dirname "$built")"
# Names from the dynamic symbol tables; readelf reads both machines.
exported() { readelf --dyn-syms -W "$1" | awk '$5 == "GLOBAL" && $7 != "UND" {sub("@.*", "", $8); print $8}' | LC_ALL=C sort; }
exported "$shim" >"$folder.x86_64"
exported "$built" >"$folder.aarch64"
[ "$(wc -l <"$folder.aarch64")" -gt 100 ] || { echo "$built exports next to nothing" >&2; exit 1; }
diff "$folder.x86_64" "$folder.aarch64" >&2 || { echo "$built exports other names than $shim" >&2; exit 1; }
readelf -dW "$built" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$folder.needed"
if grep -vE '^(libc\.so\.6|libdl\.so\.2|libpthread\.so\.0|librt\.so\.1|ld-linux-aarch64\.so\.1)$' "$folder.needed" >&2; then
    echo "$built depends on more than glibc" >&2
    exit 1
fi
echo "$(wc -l <"$folder.aarch64") exports, as on x86-64"
