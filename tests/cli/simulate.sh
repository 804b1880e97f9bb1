#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --simulate writes the device from the GPU table and puts the stand-ins, and only them, in the target's way.
. "$(dirname "$0")/common.sh"

"$ROOFTAP" record -q -o session --simulate rtx4090 --sim-option gemm_kernels=2 --sim-option startup_ns=1 -- \
    sh -c 'echo "$SIMGPU_DEVICE"; echo "$LD_LIBRARY_PATH"; echo "$LD_PRELOAD"' >seen
expect "device file" "$PWD/session/simulated-gpu.conf" "$(sed -n 1p seen)"
sims=$(sed -n 2p seen)
[ -d "$sims" ] || fail "LD_LIBRARY_PATH '$sims' is no folder"
sed -n 3p seen | grep -q "librooftap.so:.*/libcuda.so.1" || fail "LD_PRELOAD: $(sed -n 3p seen)"
for library in $(sed -n 3p seen | tr : ' '); do
    [ -e "$library" ] || fail "$library is preloaded and does not exist"
done
LD_LIBRARY_PATH=/their/own "$ROOFTAP" record -q -o prepended --simulate unit -- sh -c 'echo "$LD_LIBRARY_PATH"' >seen
expect "LD_LIBRARY_PATH of the user" "$sims:/their/own" "$(cat seen)"

"$ROOFTAP" gpus --json >gpus.json
python3 - <<'PY' || fail "the device file does not say what the table says"
import json
row = {gpu["key"]: gpu for gpu in json.load(open("gpus.json"))["gpus"]}["rtx4090"]
device = {}
for line in open("session/simulated-gpu.conf"):
    if "=" in line and not line.startswith("#"):
        key, value = line.split("=", 1)
        device[key.strip()] = value.strip()
roofs = {(roof["type"], roof["accumulate"]): roof["flops_per_second"] for roof in row["roofs"]}
assert device["name"] == "rtx4090" and device["pci_device_id"] == row["pci_device_ids"][0], device
assert float(device["bytes_per_second"]) == row["bytes_per_second"], device
assert float(device["flops_per_second.bf16"]) == roofs["bf16", "fp32"], device
assert int(device["sm_count"]) == row["sm_count"] and device["compute_capability"] == "8.9", device
assert device["gemm_kernels"] == "2" and device["startup_ns"] == "1" and device["gemm_tile"] == "64x64", device
session = json.load(open("session/session.json"))
assert session["simulate"] == "rtx4090", session
PY

# Upper and lower case are alike; the session has the table's name.
"$ROOFTAP" record -q -o upper --simulate RTX4090 -- true || fail "a name in upper case"
grep -q '"simulate": "rtx4090"' upper/session.json || fail "the name in session.json"

# Every GPU of the table that can be simulated is taken; the others are refused by name.
python3 -c 'import json, re
for gpu in json.load(open("gpus.json"))["gpus"]:
    cuda = re.fullmatch("[0-9]+[.][0-9]", gpu["compute_capability"] or "") or gpu["key"] == "unit"
    print(gpu["key"], "yes" if cuda else "no")' >keys
grep -q " no$" keys || fail "no row of the table is refused: the check below would prove nothing"
while read -r key can; do
    "$ROOFTAP" record -q -o "each_$key" --simulate "$key" -- true 2>err
    status=$?
    if [ "$can" = yes ]; then expect "status with $key" 0 $status; else expect "status with $key" 2 $status; fi
done <keys
# A vendor's library opened by its own path, here in a child, is named once; the stand-ins are not.
mkdir theirs && echo 'int nothing;' | "${CC:-cc}" -shared -fPIC -x c - -o theirs/libcudart.so.13
cat >opens.py <<'PY'
import ctypes, sys, time
ctypes.CDLL(sys.argv[1])
time.sleep(float(sys.argv[2]))
PY
"$ROOFTAP" record -q -o opens --simulate unit -- sh -c 'python3 opens.py "$PWD/theirs/libcudart.so.13" 2; true' 2>err
expect "lines about a library opened by path" 1 "$(wc -l <err)"
grep -q "theirs/libcudart.so.13" err || fail "the library is not named: $(cat err)"
grep -q "not recorded" err && fail "more is said than is known: look-ups by name are recorded: $(cat err)"
# A cleared environment looks the same from outside: the line tells of it too.
"$ROOFTAP" record -q -o cleared --simulate unit -- env -i LD_LIBRARY_PATH="$PWD/theirs" "$(command -v python3)" opens.py libcudart.so.13 1 2>err
grep -q "by its path (or its environment was cleared)" err || fail "a cleared environment: $(cat err)"
"$ROOFTAP" record -q -o own --simulate unit -- python3 opens.py "$sims/libcuda.so.1" 0.2 2>err
expect "nothing to say of a stand-in" "" "$(cat err)"
# Also in a process that lives for a moment only.
cat >shortly.c <<'C'
#include <dlfcn.h>
#include <unistd.h>
int main(int count, char **arguments)
{
    return count < 2 || !dlopen(arguments[1], RTLD_NOW) || usleep(350000);
}
C
"${CC:-cc}" shortly.c -ldl -o shortly
"$ROOFTAP" record -q -o shortly_recorded --simulate unit -- ./shortly "$PWD/theirs/libcudart.so.13" 2>err
expect "status of the short process" 0 $?
expect "lines about a library opened by a short process" 1 "$(wc -l <err)"
grep -q "theirs/libcudart.so.13" err || fail "the library of a short process is not named: $(cat err)"

# A CUDA runtime that is built in asks the driver for private tables: behind a shell no file tells, the driver has to.
cat >own_runtime.py <<'PY'
import ctypes
driver, table = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
for _ in range(2):
    assert driver.cuGetExportTable(ctypes.byref(table), b"0123456789abcdef") == 801
PY
"$ROOFTAP" record -q -o own_runtime --simulate unit -- sh -c 'python3 own_runtime.py; true' 2>err
expect "lines about a built-in CUDA runtime" 1 "$(wc -l <err)"
grep -q "its own CUDA runtime built in .* can't run on the simulated GPU" err || fail "it is not explained: $(cat err)"
finish
