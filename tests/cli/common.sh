# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of this folder: a scratch folder to work in, and checks that say what they expected.
# ROOFTAP is the command under test.
set -u
: "${ROOFTAP:?path of the rooftap command}"
unset ROOFTAP_DIR ROOFTAP_DISABLE ROOFTAP_TIMING ROOFTAP_EXIT_WAIT_MS ROOFTAP_JOIN ROOFTAP_LOOKUP ROOFTAP_REDACT_ARGS ROOFTAP_DELAY_MS ROOFTAP_DURATION_MS ROOFTAP_GRAPH_KERNELS_MOST ROOFTAP_SAMPLE_BUDGET_PPM ROOFTAP_SAMPLE_SEED ROOFTAP_SAMPLE_WINDOW_US LD_PRELOAD CUDA_INJECTION64_PATH SIMGPU_DEVICE
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0

fail() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

# expect WHAT EXPECTED FOUND
expect() {
    [ "$2" = "$3" ] || fail "$1: expected '$2', found '$3'"
}

# expect_usage_error WORD ARGUMENT...: exit 2, nothing on standard output, one line with WORD on standard error
expect_usage_error() {
    local word=$1 out status
    shift
    out=$("$ROOFTAP" "$@" 2>err)
    status=$?
    expect "status of 'rooftap $*'" 2 "$status"
    expect "standard output of 'rooftap $*'" "" "$out"
    expect "lines on standard error of 'rooftap $*'" 1 "$(wc -l <err)"
    grep -qF -- "$word" err || fail "'rooftap $*' does not say '$word': $(cat err)"
}

finish() {
    [ "$failures" -eq 0 ] || exit 1
    exit 0
}
