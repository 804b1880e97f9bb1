#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Values of kernels' parameters in the trace are those that were passed: run_parameters.sh CASE SHIM HOST DUMP COMPARE FOLDER
set -eu
case=$1 shim=$2 host=$3 dump=$4 compare=$5 folder=$6
. "$(dirname "$0")/../own_folder.sh"
own_folder "$folder"
mkdir -p "$folder/trace"
fail() { echo "$case: $*" >&2; exit 1; }
shimmed() { LD_PRELOAD=$shim ROOFTAP_DIR=$folder/trace ROOFTAP_TIMING=off "$@"; }
recorded() { "$dump" "$folder/trace" >"$folder/recorded"; }
count() { grep -c "^{\"record\":\"$1\"" "$folder/recorded" || true; }

case $case in
each | repeat | missing)
    for sizes in "" 1; do
        rm -rf "$folder/trace" && mkdir "$folder/trace"
        (if [ -n "$sizes" ]; then export SIZES=1; fi; shimmed "$host" "$case" 20000 >"$folder/expected") ||
            fail "exit status $?: an error was left behind"
        recorded
        python3 "$compare" "$folder/expected" "$folder/recorded"
    done
    ;;
alike | lies | edges | handles) # nothing is taken for what it is not, and nothing read that is not there
    for sizes in "" 1; do
        rm -rf "$folder/trace" && mkdir "$folder/trace"
        (if [ -n "$sizes" ]; then export SIZES=1; fi; shimmed "$host" "$case" >"$folder/expected") || fail "exit status $?"
        recorded
        if [ "$case" != edges ]; then
            python3 "$compare" "$folder/expected" "$folder/recorded"
        else
            [ "$(count launch)" -eq "$(wc -l <"$folder/expected")" ] || fail "$(count launch) launches recorded"
            values=$(grep '"record":"launch"' "$folder/recorded" | grep -c '"values":"')
            [ "$values" -ge 50 ] || fail "$values launches with values"
        fi
    done
    ;;
stack) # plans take little of the host's
    shimmed "$host" stack || fail "exit status $?"
    recorded
    [ "$(count plan)" -eq 1 ] || fail "$(count plan) plans of a kernel"
    ;;
error) # the program's own error stays, and is not mixed up with ours
    SIZES=1 shimmed "$host" error >"$folder/expected" || fail "exit status $?"
    recorded
    python3 "$compare" "$folder/expected" "$folder/recorded"
    ;;
off) # the user wants none
    ROOFTAP_PARAMETERS=off shimmed "$host" each >"$folder/expected"
    recorded
    [ "$(count launch)" -eq 40 ] || fail "$(count launch) launches recorded, 40 were made"
    [ "$(count plan)" -eq 0 ] || fail "$(count plan) plans"
    grep -q '"values"' "$folder/recorded" && fail "values were kept"
    true
    ;;
refused) # a launch that fails has none
    FAKE_STATUS=1 shimmed "$host" each >/dev/null || true
    recorded
    [ "$(count launch)" -eq 0 ] || fail "$(count launch) launches recorded, none succeeded"
    [ "$(count plan)" -eq 0 ] || fail "$(count plan) plans of kernels that never ran"
    ;;
fork) # children write their plans anew
    shimmed "$host" fork >"$folder/expected" || fail "exit status $?"
    recorded
    [ "$(count launch)" -eq 10 ] || fail "$(count launch) launches, 10 were made"
    [ "$(grep '"record":"launch"' "$folder/recorded" | grep -c '"values":')" -eq 10 ] || fail "launches without values"
    for file in "$folder"/trace/*.trace; do
        rm -rf "$folder/one" && mkdir "$folder/one" && ln "$file" "$folder/one/"
        "$dump" "$folder/one" >"$folder/lines"
        plans=$(grep -c '"record":"plan"' "$folder/lines") kinds=$(grep '"record":"launch"' "$folder/lines" | grep -o '"name":[0-9]*' | sort -u | wc -l)
        [ "$plans" -eq "$kinds" ] || fail "$file: $plans plans of $kinds kernels"
    done
    ;;
llama) # what a distinct launch takes of the trace: its shape, whose values are packed
    shimmed "$host" llama
    recorded
    grep '"record":"launch"' "$folder/recorded" | sed 's/.*"shape":\([0-9]*\).*"shape_bytes":\([0-9]*\).*/\1 \2/' | sort -u |
        awk '{ sum += $2; if ($2 > most) most = $2 }
            END { printf "%d distinct launches: %.0f bytes each, at most %d (aim: 128)\n", NR, sum / NR, most
                  exit NR != 54 || sum / NR > 128 }' || fail "more than was aimed at"
    ;;
threads) # the first launches at once: one plan a kernel, and none lost for good
    shimmed "$host" threads 1800
    recorded
    [ "$(count launch)" -eq 14400 ] || fail "$(count launch) launches, 14400 were made"
    [ "$(count plan)" -eq 7 ] || fail "$(count plan) plans of 7 kernels"
    # Those that came while a plan was being made go without, and how many those are is the machine's. 7 of 10 kernels have one.
    values=$(grep '"record":"launch"' "$folder/recorded" | grep '"grid":\[2,' | grep -c '"values":')
    [ "$values" -eq 5040 ] || fail "$values launches with values of 5040, with every plan made"
    ;;
esac
