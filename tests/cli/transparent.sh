#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The target sees its own standard streams, descriptors, working folder and environment; only what is documented is added.
. "$(dirname "$0")/common.sh"

head -c 300000 /dev/urandom >data
"$ROOFTAP" record -q -o streams -- sh -c 'cat; echo complaint >&2' <data >out 2>err
cmp -s data out || fail "standard input or output was changed"
expect "standard error" complaint "$(cat err)"

env -0 | sort -z >plain
"$ROOFTAP" record -q -o environment --timing off -- env -0 | sort -z >under
added=$(comm -z -13 plain under | tr '\0' '\n' | grep -v '^_=' | cut -d= -f1 | sort | paste -sd' ')
expect "variables added" "CUDA_INJECTION64_PATH LD_PRELOAD ROOFTAP_DIR ROOFTAP_RING ROOFTAP_TIMING" "$added"
expect "variables lost" "" "$(comm -z -23 plain under | tr '\0' '\n' | grep -v '^_=' )"

# LD_PRELOAD is added to, never replaced, and its order kept; the user's injection library stays.
own=/nonexistent/own.so
found=$(LD_PRELOAD=$own CUDA_INJECTION64_PATH=/their/own.so "$ROOFTAP" record -q -o preload -- \
    sh -c 'echo "$LD_PRELOAD $CUDA_INJECTION64_PATH"' 2>/dev/null)
case "$found" in
"$own:"*"/librooftap.so /their/own.so") ;;
*) fail "LD_PRELOAD and CUDA_INJECTION64_PATH became '$found'" ;;
esac

# V08: the loader splits LD_PRELOAD at blanks too; what is in it already is not put in twice.
shim=$("$ROOFTAP" record -q -o shim -- sh -c 'echo "$LD_PRELOAD"')
for list in "$own $shim" "$shim:$own" "$own  $shim $own" "$shim"; do
    expect "LD_PRELOAD that has the library" "$list" "$(LD_PRELOAD=$list "$ROOFTAP" record -q -o "again$RANDOM$RANDOM" -- \
        sh -c 'echo "$LD_PRELOAD"' 2>/dev/null)"
done
expect "LD_PRELOAD with blanks" "$own $own:$shim" "$(LD_PRELOAD="$own $own" "$ROOFTAP" record -q -o blanks -- \
    sh -c 'echo "$LD_PRELOAD"' 2>/dev/null)"

expect "working folder" "$PWD" "$("$ROOFTAP" record -q -o folder -- pwd)"
"$ROOFTAP" record -q -o descriptors -- ls /proc/self/fd >under
ls /proc/self/fd >plain
cmp -s plain under || fail "descriptors differ: $(diff plain under)"
expect "closed standard output stays closed" "closed" \
    "$("$ROOFTAP" record -q -o closed -- sh -c '[ -e /proc/self/fd/0 ] && echo open || echo closed' <&-)"
expect "umask" "$(umask)" "$("$ROOFTAP" record -q -o mask -- sh -c umask)"
expect "options of the target are its own" "-o -q --help" "$("$ROOFTAP" record -q -o options echo -o -q --help)"
expect "an absolute ROOFTAP_DIR" "$PWD/absolute" "$("$ROOFTAP" record -q -o absolute -- sh -c 'echo "$ROOFTAP_DIR"')"

"$ROOFTAP" record -o said -- sh -c "touch said/1.trace" 2>err
expect "lines at the end" 1 "$(wc -l <err)"
grep -q "rooftap report said" err || fail "the last line does not say where the session lies: $(cat err)"
"$ROOFTAP" record -q -o unsaid -- true 2>err
expect "quiet" "" "$(cat err)"
finish
