#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Records a run of llama.cpp, prompt and generation, and puts each of its operators on the roofline of the GPU.
#   examples/llama_cpp.sh [MODEL.gguf] [--simulate GPU] [--llama PROGRAM | --wheel] [-- OPTION...]
# PROGRAM is a llama-bench or llama-cli; by default $LLAMA_BENCH, or the first of both in PATH. Without one, or with --wheel:
# the CUDA 12 libraries of a PyPI wheel and a small program on them, a download of 190 MB. Without MODEL: a random one of a
# few MB. Without a GPU, or with --simulate (`rooftap gpus` lists them): a simulated one, by default an RTX 4090. What is
# behind -- goes to the program in place of its options. $ROOFTAP may name a rooftap that is there already.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
model='' simulate='' program=${LLAMA_BENCH:-} wheel=''
fail() {
    echo "llama_cpp.sh: $*" >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case $1 in
    -h | --help)
        sed -n '3,8s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    --simulate | --llama)
        [ $# -gt 1 ] || fail "$1 takes a value"
        if [ "$1" = --llama ]; then program=$2; else simulate=$2; fi
        shift
        ;;
    --wheel) wheel=yes ;;
    --)
        shift
        break
        ;;
    -*) fail "$1: no such option; see --help" ;;
    *)
        [ -z "$model" ] || fail "one model at a time: $model, $1"
        [ -f "$1" ] || fail "$1: no such file; expected a model in GGUF"
        model=$1
        ;;
    esac
    shift
done

# ---- rooftap ----

rooftap=${ROOFTAP:-}
made=$root/build/quickstart
if [ -z "$rooftap" ]; then
    rooftap=$made/bin/rooftap
    . "$root/cmake/need_packages.sh"
    need_packages build-essential cmake ninja-build pkg-config libjansson-dev python3 python3-pip unzip ca-certificates
    [ -f "$made/build.ninja" ] ||
        cmake -S "$root" -B "$made" -G Ninja -DCMAKE_BUILD_TYPE=Release -DROOFTAP_TESTS=OFF
    cmake --build "$made"
fi

# ---- the GPU ----

libraries() {
    { ldconfig -p 2>/dev/null || /sbin/ldconfig -p; } | grep -q "$1"
}
if [ -z "$simulate" ] && ! { nvidia-smi -L >/dev/null 2>&1 || [ -e /dev/nvidia0 ]; }; then
    simulate=rtx4090
    echo "no GPU found: recording on a simulated RTX 4090"
fi

# ---- the model and the program ----

fetched() {
    "$root/tests/llamacpp/fetch.sh" || fail "what the wheel needs can't be had; --llama names a llama.cpp that is there"
}
work=$made/llama_cpp
mkdir -p "$work"
if [ -z "$model" ]; then
    model=$work/random-q4_K.gguf
    [ -f "$model" ] || {
        folder=$(fetched)
        PYTHONPATH=$folder/python python3 "$root/tests/llamacpp/make_model.py" "$model" --type q4_K --layers 4 >/dev/null
    }
    echo "no model given: one of random weights, $model"
fi

[ -z "$wheel" ] || program=
if [ -z "$program$wheel" ]; then
    program=$(command -v llama-bench || command -v llama-cli || :)
fi
if [ -z "$program" ]; then
    [ -n "$simulate" ] || libraries 'libcublas\.so\.12' ||
        fail "the wheel needs CUDA 12's libraries (libcudart, libcublas); --llama names a llama.cpp of your own"
    folder=$(fetched)
    program=$work/llama_driver
    ${CC:-cc} -O1 -isystem "$folder/include" "$root/tests/llamacpp/driver.c" -o "$program" \
        "$folder"/lib/libllama-*.so.* "$folder"/lib/libggml-*.so.* -Wl,-rpath,"$folder/lib" \
        -Wl,--allow-shlib-undefined
    [ $# -gt 0 ] || set -- --prompt 512 --generate 64
    set -- "$model" --backends "$folder/lib" "$@"
else
    case ${program##*/} in
    *bench*) [ $# -gt 0 ] || set -- -p 512 -n 64 -r 1 ;;
    *)
        [ $# -gt 0 ] || set -- -p "Write down all that you know about rooflines." -n 64 -st
        ;;
    esac
    set -- -m "$model" "$@"
fi

# ---- recorded and shown; the session is a folder rooftap-* of the working folder ----

# shellcheck disable=SC2086 # two words or none
"$rooftap" record ${simulate:+--simulate "$simulate"} -- "$program" "$@" </dev/null
"$rooftap" report --model "$model"
