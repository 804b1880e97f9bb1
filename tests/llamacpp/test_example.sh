#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# examples/llama_cpp.sh on the fetched wheel, and on a program of the user's own; what it refuses.
# Usage: test_example.sh ROOT BUILD
set -eu
root=$(cd "$1" && pwd)
ROOFTAP=$(cd "$2" && pwd)/bin/rooftap
export ROOFTAP
"$root/tests/llamacpp/fetch.sh" --offline >/dev/null || exit 77
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset LLAMA_BENCH
cd "$scratch"

expect() { # expect WHAT: a line of the output has it
    grep -q -e "$1" "$scratch/out" || {
        cat "$scratch/out"
        echo "no line with '$1'" >&2
        exit 1
    }
}
"$root/examples/llama_cpp.sh" --simulate t4 --wheel -- --prompt 40 --generate 4 >"$scratch/out" 2>&1 || {
    cat "$scratch/out"
    exit 1
}
expect '^SIMULATED GPU'
expect '"prompt_tokens":40,"generate_decodes":4'
expect 'Simulated t4'
expect 'mul_mat_vec_q'

# A program that says how it was called, in place of a llama-bench.
cat >"$scratch/llama-bench" <<'PROGRAM'
#!/bin/sh
echo "called with $*"
PROGRAM
chmod +x "$scratch/llama-bench"
echo >"$scratch/model.gguf"
"$root/examples/llama_cpp.sh" "$scratch/model.gguf" --simulate t4 --llama "$scratch/llama-bench" >"$scratch/out" 2>&1 || :
expect "^called with -m $scratch/model.gguf -p 512 -n 64"
LLAMA_BENCH=$scratch/llama-bench "$root/examples/llama_cpp.sh" "$scratch/model.gguf" --simulate t4 -- -n 1 >"$scratch/out" 2>&1 || :
expect "^called with -m $scratch/model.gguf -n 1$"

status=0
"$root/examples/llama_cpp.sh" "$scratch/none.gguf" >"$scratch/out" 2>&1 || status=$?
expect 'none.gguf: no such file'
[ $status = 2 ]
echo "the example runs, and takes a program of one's own"
