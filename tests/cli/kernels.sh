#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `kernels` as text and as JSON tells of the same families; `explain` says where names go, whatever bytes they hold.
cases=$(cd "$(dirname "$0")/../report/cases" && pwd)
. "$(dirname "$0")/common.sh"
unset XDG_CONFIG_HOME
export HOME=$scratch

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

# How a launch is read: 1536 x 512 weights of q4_K, 442,368 bytes, with a fused gate twice that; 512 activations of 9 bits
# and 1536 floats.
mmvq=_Z13mul_mat_vec_qIL9ggml_type12ELi1ELb1ELb0ELb0EEvPKvS2_PKi31ggml_cuda_mm_fusion_args_devicePfj5uint3jjjS7_jjjS7_jjjj
params() { # GATE
    echo "ptr,ptr,null,0:0:$1:0:0:0:0:0:0:0:0:0,ptr,512,0:0:0,2,16,1536,0:0:1,3072,16,1536,0:0:1,3072,16,1536,0"
}
"$ROOFTAP" kernels explain "$mmvq" >text || fail "explain of a known launch"
grep -q 'launch  *mul_mat_vec_q: .* is not known' text || fail "no parameters, and yet: $(cat text)"
grep -q 'parameters  *a0 void const\*, a1 void const\*, a2 int const\*' text || fail "no types: $(cat text)"
"$ROOFTAP" kernels explain "$mmvq" --grid 1536 --block 32,4 --params "$(params 0)" >text || fail "explain of a launch"
grep -q 'means  *M 1, N 1536, K 512; weight q4_K, activations q8_1, output fp32$' text || fail "not read: $(cat text)"
grep -q 'asks for  *1572864 FLOP, 449088 bytes, on int8-dp4a$' text || fail "figures: $(cat text)"
"$ROOFTAP" kernels explain --json "$mmvq" --grid 1536 --block 32,4 --params "$(params 4096)" >json || fail "JSON of a launch"
python3 - <<'PY' || fail "JSON of a launch: $(cat json)"
import json
launch = json.load(open("json"))["kernels"][0]["launch"]
assert launch["reading"] == "read" and launch["kind"] == "matmul" and launch["problem"] is None, launch
assert launch["matmul"]["weights"] == 2 and launch["matmul"]["n"] == 1536, launch
assert launch["flops"] == 2 * 1572864 and launch["bytes"] == 2 * 442368 + 576 + 6144 == launch["bytes_least"], launch
assert len(launch["parameters"]) == 19 and launch["parameters"][6] == "uint3", launch
PY
"$ROOFTAP" kernels explain _Z13mul_mat_vec_qIL9ggml_type12ELi1EEvPKvi >text || fail "explain of another revision"
grep -q 'launch  *unknown revision of mul_mat_vec_q$' text || fail "a revision that no row has: $(cat text)"
for wrong in "--params x" "--params ptr,ptr,null,0:0,ptr,1.5" "--params 99=1" "--grid 0" "--block 1,2,3,4" "--params ptr,0=ptr"; do
    # shellcheck disable=SC2086
    expect_usage_error "${wrong%% *}" kernels explain "$mmvq" $wrong
done
expect_usage_error "no mangled name" kernels explain who --params 1
expect_usage_error "of explain" kernels --grid 1

# Rows of one's own come first; a wrong one is refused with its line.
echo '{"kernel": "my_gemv", "types": ["{t0} const*", "float*", "int"], "kind": "matmul", "m": 1, "n": "grid.x", "k": "a2",
' | tr -d '\n' >launches.jsonl
echo ' "weight": 0, "weight_format": "fp16", "path": "fp32", "provenance": "at_most"}' >>launches.jsonl
"$ROOFTAP" kernels explain --launch-table launches.jsonl _Z7my_gemvI6__halfEvPKT_Pfi --params ptr,ptr,64 --grid 10 >text ||
    fail "a launch table of one's own"
grep -q 'launch  *matmul, at most$' text || fail "a row of one's own: $(cat text)"
grep -q 'row  *launches.jsonl:1$' text || fail "a row of one's own: $(cat text)"
mkdir -p "$HOME/.config/rooftap"
cp launches.jsonl "$HOME/.config/rooftap/"
"$ROOFTAP" kernels explain _Z7my_gemvI6__halfEvPKT_Pfi --params 2=64 --grid 10 | grep -q 'launch  *matmul, at most$' ||
    fail "~/.config/rooftap/launches.jsonl is not read"
rm "$HOME/.config/rooftap/launches.jsonl"
echo '{"kernel": "my_gemv"}' >>launches.jsonl
expect_usage_error "launches.jsonl', line 2: " kernels --launch-table launches.jsonl
expect_usage_error "launches.jsonl', line 2: " report --launch-table launches.jsonl "$cases"
expect_usage_error "can't be read" kernels --launch-table nowhere.jsonl

# Any bytes: controls don't reach the terminal, JSON is UTF-8, and a long name ends.
printf '\033[2J\001evil\xff_gemm\n%s\n' "_ZN$(printf 'I%.0s' {1..30000})" >names
"$ROOFTAP" kernels explain - <names >text || fail "explain of hostile names"
LC_ALL=C grep -q "$(printf '[\001-\010\033\377]')" text && fail "control characters reach the terminal"
"$ROOFTAP" kernels explain --json - <names >json && python3 -c 'import json; json.load(open("json"))' ||
    fail "JSON of hostile names"
expect "kernels of an empty input" "[]" "$("$ROOFTAP" kernels explain --json - </dev/null | tr -d ' \n' | grep -o '\[\]')"

# Patterns of one's own come first, in `kernels` and in a report.
cat >table.json <<'JSON'
{"kernels": [
  {"function": "_fwd_kernel", "family": "attention", "role": "prefill", "example": "_fwd_kernel"},
  {"function": "device_kernel", "inside": "My|Gemm*", "family": "gemm"},
  {"function": "fused_moe*", "family": "elementwise", "role": null, "source": "mine"}
]}
JSON
"$ROOFTAP" kernels --kernel-table table.json --json explain _fwd_kernel 'void device_kernel<MyGemmSm90>()' fused_moe_kernel \
    softmax >json || fail "--kernel-table"
python3 - <<'PY' || fail "a table file's patterns"
import json
found = [(k["family"], k["role"], k["kind"], k["pattern"]["origin"]) for k in json.load(open("json"))["kernels"]]
assert found == [("attention", "prefill", "attention", "table_file"), ("gemm", None, "gemm", "table_file"),
                 ("elementwise", None, None, "table_file"), ("softmax", None, None, "table")], found
PY
mkdir session
"$BUILD/tests/report/make_trace" "$cases/families/trace.txt" session || fail "make_trace"
shares() { # EXPECTED OPTION...: share of time whose family is not known, attention kernels, floor
    local expected=$1
    shift
    expect "report $*" "$expected" "$("$ROOFTAP" report --json "$@" session | python3 -c '
import json, sys
report = json.load(sys.stdin)
attention = [o for o in report["operators"] if o["kind"] == "attention"]
assert all(o["shape_source"] == "name" and o["flops"] is None for o in attention)
print(round(report["coverage"]["unknown_family_share"] * 51600), len(attention), report["devices"][0]["floor_ns"])')"
}
shares "9700 6 1100.0"
shares "700 7 1100.0" --kernel-table table.json
mkdir -p .config/rooftap
cp table.json .config/rooftap/kernels.json
shares "700 7 1100.0"
rm .config/rooftap/kernels.json
"$ROOFTAP" report --by kernel session | grep -q '_fwd_kernel' || fail "an unknown kernel has no row"

bad_table() { # WORD JSON
    printf '%s' "$2" >bad.json
    expect_usage_error "$1" kernels --kernel-table bad.json explain x
    expect_usage_error "$1" report --kernel-table bad.json session
}
bad_table "bad.json', line 2: \"familly\" is no member" $'{"kernels": [\n{"function": "x", "familly": "gemm"}]}'
bad_table "line 1: a row needs \"function\" and \"family\"" '{"kernels": [{"function": "x"}]}'
bad_table "\"family\" must be one of those" '{"kernels": [{"function": "x", "family": "unknown"}]}'
bad_table "\"role\" must be one of those" '{"kernels": [{"function": "x", "family": "gemm", "role": "main"}]}'
bad_table "describes every name" '{"kernels": [{"function": "*", "family": "gemm"}]}'
bad_table "does not describe its own" '{"kernels": [{"function": "x", "family": "gemm", "example": "y"}]}'
bad_table "\"inside\" must be a text" '{"kernels": [{"function": "x", "inside": 1, "family": "gemm"}]}'
bad_table "a row must be an object" '{"kernels": ["x"]}'
bad_table "expected {\"kernels\": [...]}" '[]'
bad_table "line 1: " '{"kernels": '
expect_usage_error "can't be read: No such file" kernels --kernel-table none.json

expect_usage_error "explain needs a NAME" kernels explain
"$ROOFTAP" kernels explain fused_moe_kernel --json --kernel-table table.json | cmp -s - \
    <("$ROOFTAP" kernels --json --kernel-table table.json explain fused_moe_kernel) || fail "options behind a name"
"$ROOFTAP" kernels explain -- --json >text && grep -q "reads *--json" text || fail "explain of a name like an option"
expect_usage_error "'explian' is neither" kernels explian x
expect_usage_error "takes no argument" kernels families x
expect_usage_error "unknown option" kernels explain --colour x
expect_usage_error "unknown option" kernels -x
finish
