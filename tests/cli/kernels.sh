#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `kernels` as text and as JSON tells of the same families; `explain` says where names go, whatever bytes they hold.
. "$(dirname "$0")/common.sh"

"$ROOFTAP" kernels >text || fail "kernels"
"$ROOFTAP" kernels families >again || fail "kernels families"
cmp -s text again || fail "'kernels' and 'kernels families' differ"
"$ROOFTAP" kernels --json >json || fail "kernels --json"
"$ROOFTAP" kernels families --json >again || fail "kernels families --json"
cmp -s json again || fail "--json in front of and behind the action differ"
python3 - <<'PY' || fail "JSON and text of kernels"
import json
families = json.load(open("json"))["families"]
lines = [line.split() for line in open("text")][1:len(families) + 1]
assert [(f["family"], str(f["patterns"])) for f in families] == [(l[0], l[1]) for l in lines], lines
assert {f["family"] for f in families if f["has_work"]} == {"attention", "gemm", "gemv", "moe"}
assert "unknown" not in {f["family"] for f in families}
attention = families[0]
assert attention["family"] == "attention" and {"prefill", "decode", "combine", "helper"} <= set(attention["roles"])
PY

mangled=_ZN5flash32flash_fwd_splitkv_combine_kernelI23Flash_fwd_kernel_traitsILi128EEEEvNS_16Flash_fwd_paramsE
demangled='void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<128>>(flash::Flash_fwd_params)'
"$ROOFTAP" kernels explain --json "$mangled" "$demangled" nvjet_tst_64x32_64x16_2x2_h_bz_TNT my_attn_kernels who >json ||
    fail "explain --json"
printf '%s\n\n%s\r\n' "$mangled" "$demangled" >names
"$ROOFTAP" kernels --json explain - nvjet_tst_64x32_64x16_2x2_h_bz_TNT my_attn_kernels who <names >again ||
    fail "explain -"
cmp -s json again || fail "names as arguments and on standard input differ"
python3 - <<'PY' || fail "JSON of explain"
import json
mangled, demangled, nvjet, attn, who = json.load(open("json"))["kernels"]
for kernel in mangled, demangled:
    assert kernel["function"] == "flash_fwd_splitkv_combine_kernel", kernel
    assert (kernel["family"], kernel["role"], kernel["kind"]) == ("attention", "combine", None), kernel
    assert not kernel["sets_floor"] and not kernel["persistent"] and kernel["pattern"]["example"], kernel
assert mangled["pattern"] == demangled["pattern"]
assert mangled["display_name"].startswith("void flash::flash_fwd_splitkv_combine_kernel"), mangled
assert nvjet["kind"] == "gemm" and nvjet["persistent"] and nvjet["persistent_part"] == "nvjet", nvjet
for kernel in attn, who:
    assert kernel["family"] is None and kernel["pattern"] is None and not kernel["sets_floor"], kernel
PY
"$ROOFTAP" kernels explain fused_moe_kernel >text || fail "explain"
grep -q 'family *moe, experts$' text || fail "no family: $(cat text)"
grep -q "pattern *function '\*fused_moe\*kernel\*'\$" text || fail "no pattern: $(cat text)"
grep -q 'counts as *gemm by name' text || fail "not counted: $(cat text)"
"$ROOFTAP" kernels explain who >text || fail "explain of an unknown name"
grep -q 'family *unknown' text || fail "not unknown: $(cat text)"

# Any bytes: controls don't reach the terminal, JSON is UTF-8, and a long name ends.
printf '\033[2J\001evil\xff_gemm\n%s\n' "_ZN$(printf 'I%.0s' {1..30000})" >names
"$ROOFTAP" kernels explain - <names >text || fail "explain of hostile names"
LC_ALL=C grep -q "$(printf '[\001-\010\033\377]')" text && fail "control characters reach the terminal"
"$ROOFTAP" kernels explain --json - <names >json && python3 -c 'import json; json.load(open("json"))' ||
    fail "JSON of hostile names"
expect "kernels of an empty input" "[]" "$("$ROOFTAP" kernels explain --json - </dev/null | tr -d ' \n' | grep -o '\[\]')"

expect_usage_error "explain needs a NAME" kernels explain
expect_usage_error "'explian' is neither" kernels explian x
expect_usage_error "takes no argument" kernels families x
expect_usage_error "unknown option" kernels explain --colour x
expect_usage_error "unknown option" kernels -x
finish
