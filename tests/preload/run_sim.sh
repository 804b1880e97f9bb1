#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The shim on the simulated GPU, kernel times included, one case a run: run_sim.sh CASE SHIM HOST DUMP FOLDER
set -eu
case=$1 shim=$2 host=$3 dump=$4 folder=$5
. "$(dirname "$0")/../own_folder.sh"
own_folder "$folder"
mkdir -p "$folder/trace"
export SIMGPU_LEDGER="$folder/ledger.%p"

fail() { echo "$case: $*" >&2; exit 1; }
shimmed() { LD_PRELOAD=$shim CUDA_INJECTION64_PATH=$shim ROOFTAP_DIR=$folder/trace "$@"; }
records() { "$dump" "$folder/trace" | grep -c "^{\"record\":\"$1\"" || true; }
notes() { "$dump" "$folder/trace" | grep '^{"record":"note"'; }
# Sums of kernel time: the trace's, of kernels with an owner, and the ledger's.
recorded_ns() { "$dump" "$folder/trace" | sed -n 's/^{"record":"kernel".*"ns":\([0-9]*\).*"owner":[12],.*/\1/p' | awk '{s += $1} END {print s + 0}'; }
ledger_ns() {
    cat "$folder"/ledger.* | grep '"type":"kernel"' |
        sed 's/.*"start":\([0-9]*\),"end":\([0-9]*\).*/\1 \2/' |
        while read -r start end; do echo $((end - start)); done | awk '{s += $1} END {print s + 0}'
}
same_times() {
    [ "$(ledger_ns)" -gt 0 ] || fail "the ledger holds no kernel"
    [ "$(recorded_ns)" -eq "$(ledger_ns)" ] || fail "$(recorded_ns) ns of owned kernels recorded, the ledger says $(ledger_ns)"
}

case $case in
seven) # an orderly exit: all kernels have been fetched, each with its owner
    status=0; shimmed "$host" seven || status=$?
    [ "$status" -eq 7 ] || fail "exit status $status, expected 7"
    [ "$(records end)" -eq 1 ] || fail "no END record"
    same_times
    ;;
linked) # without CUDA_INJECTION64_PATH timing starts in the first hooked call that it can
    status=0; LD_PRELOAD=$shim ROOFTAP_DIR=$folder/trace "$host" seven || status=$?
    [ "$status" -eq 7 ] || fail "exit status $status, expected 7"
    same_times
    ;;
nodes) # kernel nodes that the program builds itself have the values that they were given; HOST is nodes_host, then COMPARE
    shimmed "$host" || fail "exit status $?"
    "$dump" "$folder/trace" >"$folder/recorded"
    python3 "$6" "$folder/recorded" || fail "see above"
    ;;
told | old) # sizes of parameters that the driver tells, or doesn't; HOST is sizes_host, then COMPARE
    printf 'name = unit\nflops_per_second.bf16 = 1e14\nbytes_per_second = 1e12\n' >"$folder/device"
    if [ "$case" = old ]; then echo 'driver_version = 12.3' >>"$folder/device"; fi
    SIMGPU_DEVICE=$folder/device shimmed "$host" "$case" >"$folder/expected" || fail "exit status $?"
    "$dump" "$folder/trace" >"$folder/recorded"
    python3 "$6" "$folder/expected" "$folder/recorded" || fail "see above"
    ;;
nested) # libraries that call each other through the PLT: one record and all kernels for each call that the program made
    printf 'name = unit\nflops_per_second.bf16 = 1e14\nflops_per_second.fp32 = 1e14\nbytes_per_second = 1e12\ngemm_nested = 1\ngemm_kernels = 2\n' >"$folder/device"
    SIMGPU_DEVICE=$folder/device shimmed "$host" nested
    [ "$(records call)" -eq 3 ] || fail "$(records call) calls recorded, 3 were made"
    nested=$(cat "$folder"/ledger.* | grep -c '"nested":true' || true)
    [ "$nested" -gt 0 ] || fail "no call was nested: the case tests nothing"
    same_times
    ;;
blocked) # CUPTI never answers: the exit goes on, what was recorded is there
    status=0
    start=$(date +%s)
    SIMGPU_FAULT=cuptiActivityFlushAll:block shimmed timeout -s KILL 60 "$host" seven || status=$?
    took=$(($(date +%s) - start))
    [ "$status" -eq 7 ] || fail "exit status $status after $took s, expected 7"
    [ "$took" -le 20 ] || fail "the exit took $took s"
    [ "$(records call)" -eq 3 ] || fail "$(records call) calls recorded, 3 were made"
    [ "$(records launch)" -eq 1 ] || fail "$(records launch) launches recorded, 1 was made"
    ;;
late) # the driver is initialised by the child that uses it, not by a parent that is merely linked to CUDA
    for how in exit _exit; do
        rm -rf "$folder"/ledger.* "$folder/trace" && mkdir "$folder/trace"
        shimmed "$host" late "$how" || fail "$how: the child's exit status changed"
        [ "$(cat "$folder"/ledger.* | grep -c '"type":"init"')" -eq 1 ] || fail "$how: the driver was not initialised once"
        initialised=$(cat "$folder"/ledger.* | sed -n 's/.*"type":"init".*"pid":\([0-9]*\).*/\1/p')
        recorded=$("$dump" "$folder/trace" | sed -n 's/^{"record":"process","pid":\([0-9]*\).*/\1/p')
        [ "$initialised" = "$recorded" ] || fail "$how: initialised by $initialised, recorded by $recorded"
        [ "$(records call)" -eq 5 ] || fail "$how: $(records call) calls recorded, 5 were made"
        same_times
    done
    ;;
injected) # by the driver alone, without a preload: kernels, no calls
    CUDA_INJECTION64_PATH=$shim ROOFTAP_DIR=$folder/trace "$host" late exit
    notes | grep -q '"text":"injection"' || fail "the trace does not say how we came in: $(notes)"
    [ "$(records call)" -eq 0 ] || fail "calls recorded without a preload"
    [ "$(records kernel)" -eq 6 ] || fail "$(records kernel) kernels recorded, 6 ran"
    ;;
untimed) # switched off: shapes only, and the trace says so
    status=0; ROOFTAP_TIMING=off shimmed "$host" seven || status=$?
    [ "$status" -eq 7 ] || fail "exit status $status, expected 7"
    [ "$(records call)" -eq 3 ] || fail "$(records call) calls recorded, 3 were made"
    [ "$(records kernel)" -eq 0 ] || fail "kernels recorded though timing is off"
    notes | grep -q '"id":2,' || fail "the trace does not say that timing is off: $(notes)"
    ;;
refused) # CUPTI refuses: the same, with its result
    status=0; SIMGPU_FAULT=cuptiSubscribe:39,cuptiSubscribe_v2:39 shimmed "$host" seven || status=$?
    [ "$status" -eq 7 ] || fail "exit status $status, expected 7"
    [ "$(records call)" -eq 3 ] || fail "$(records call) calls recorded, 3 were made"
    notes | grep -q '"id":2,"value":39' || fail "the trace does not say that CUPTI refused: $(notes)"
    ;;
*)
    fail "no such case"
    ;;
esac
echo "$case: as expected"
