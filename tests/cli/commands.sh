#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Walks the table of commands: each is listed, explains itself and its every option, and --version names the version.
tests=$(cd "$(dirname "$0")/.." && pwd)
. "$(dirname "$0")/common.sh"

expected="record report collect ctl predict calibrate doctor gpus kernels help version"
expect "commands" "$expected" "$("$ROOFTAP" help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | paste -sd' ')"
for command in $expected; do
    "$ROOFTAP" help "$command" >by_help || fail "help $command"
    "$ROOFTAP" "$command" --help >by_option || fail "$command --help"
    cmp -s by_help by_option || fail "'help $command' and '$command --help' differ"
    grep -q "^usage: rooftap $command" by_help || fail "'help $command' has no usage line"
done
for option in max-overhead require-timing output simulate simulate-cuda sim-option timing delay duration sample-budget kv-lengths parameters audit ring aggregate max-size no-clocks strict redact-args quiet; do
    "$ROOFTAP" help record | grep -q -- "--$option" || fail "help record does not explain --$option"
done
for variable in $(sed -n 's/^#define SETTING_.*"\(ROOFTAP_[A-Z_]*\)"$/\1/p' "$tests/../preload/settings.h"); do
    "$ROOFTAP" help record | grep -q "^  $variable[= ]" || fail "help record does not explain $variable"
done
for option in config gpu batch prompt context chunk weights kv dtype tp fused checkpoint json; do
    "$ROOFTAP" help predict | grep -q -- "--$option" || fail "help predict does not explain --$option"
done
for action in start stop mark status; do
    "$ROOFTAP" help ctl | grep -q "^  $action " || fail "help ctl does not explain $action"
done
for option in json all; do
    "$ROOFTAP" help report | grep -q -- "--$option" || fail "help report does not explain --$option"
done
for option in device output quick json simulate sim-option; do
    "$ROOFTAP" help calibrate | grep -q -- "--$option" || fail "help calibrate does not explain --$option"
done
for option in output simulate simulate-cuda sim-option timeout sysroot json; do
    "$ROOFTAP" help doctor | grep -q -- "--$option" || fail "help doctor does not explain --$option"
done
"$ROOFTAP" --version | grep -Eqx 'rooftap [0-9]+\.[0-9]+\.[0-9]+' || fail "--version: $("$ROOFTAP" --version)"
expect "'version' and '--version'" "$("$ROOFTAP" --version)" "$("$ROOFTAP" version)"
"$ROOFTAP" help record | grep -q -- '--timing.*default' || fail "help record does not tell the default of --timing"
"$ROOFTAP" help record | grep -q '^  gemm_nested  *0 or 1' || fail "help record does not list the keys of --sim-option"
config=$tests/predict/configs/qwen2.5-7b.json
for command in help version gpus "gpus --json" "gpus --lridge 8" "gpus l4" kernels "kernels --json" "kernels explain x" \
    "kernels --json explain x" "predict --gpu l4 --config $config" "predict --json --gpu l4 --config $config"; do
    status=0
    # shellcheck disable=SC2086
    "$ROOFTAP" $command >/dev/full 2>err || status=$?
    expect "exit status of '$command' on a full disk" 2 "$status"
    expect "lines of '$command' about a full disk" 1 "$(grep -c "standard output can't be written: No space" err)"
    expect "lines of '$command' on a full disk" 1 "$(wc -l <err)"
done
finish
