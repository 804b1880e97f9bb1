#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds a current llama.cpp with CUDA 13 for test_own_build.py, from the source package of llama-cpp-python: libraries, headers,
# llama-bench, llama-simple. Host code, kernel names and parameters, registration and dispatch are the genuine ones; device code
# is left out on purpose (cicc_without_code.sh), which turns hours into about 20 minutes on two cores. So it runs on stand-in
# libraries only: on a GPU every kernel would return at once. Nothing is done twice: stopped anywhere, it goes on from there when run again.
#   build_cuda13.sh [--sdist FILE] [--folder DIR] [--jobs N] [--architectures LIST]
#   --sdist FILE           llama_cpp_python-0.3.36.tar.gz, if you have it; else it is downloaded (77 MB)
#   --folder DIR           default $ROOFTAP_CACHE/llama-cuda13, or .deps/llama-cuda13 of the source tree; 1 GB
#   --jobs N               compilers at a time; default 2
#   --architectures LIST   what CMAKE_CUDA_ARCHITECTURES gets, all virtual; default 90-virtual. Dispatch on the host follows it.
# Needs nvcc of CUDA 13 with the headers and libraries of cudart and cuBLAS (CUDA_HOME, else nvcc of the PATH, else
# /usr/local/cuda), a C++17 compiler, CMake 3.18, ninja, Python 3 with pip. No GPU and no driver. Prints the folder: lib/ and
# include/ as harness.py takes them, build.txt with what was built of what. Ends with 77 where something is missing.
set -eu -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
version=0.3.36
checksum=832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e
commit=0c1e57098 # of llama.cpp in this package: its CHANGELOG.md
sdist=
folder=${ROOFTAP_CACHE:-$root/.deps}/llama-cuda13
jobs=2
architectures=90-virtual

say() { echo "build_cuda13.sh: $*" >&2; }
fail() { say "$@"; exit 2; }
missing() { say "$@"; exit 77; } # as ctest is told of what can't be run here
while [ $# -gt 0 ]; do
    case $1 in
    --sdist | --folder | --jobs | --architectures)
        [ $# -ge 2 ] || fail "$1 wants a value"
        declare "${1#--}=$2"
        shift 2
        ;;
    *) fail "takes --sdist, --folder, --jobs, --architectures, not '$1'" ;;
    esac
done
case $jobs in '' | *[!0-9]* | 0) fail "--jobs '$jobs': a number of compilers, 1 or more" ;; esac
case $architectures in
*real* | '') fail "--architectures '$architectures': all must be virtual, such as 90-virtual: there is no code to assemble" ;;
esac

for program in cmake ninja python3 c++ sha256sum; do
    command -v $program >/dev/null || missing "$program isn't there"
done
nvcc=${CUDA_HOME:+$CUDA_HOME/bin/nvcc}
nvcc=${nvcc:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
[ -x "$nvcc" ] || missing "no CUDA compiler at $nvcc; set CUDA_HOME to a CUDA 13 toolkit"
toolkit=$(cd "$(dirname "$(readlink -f "$nvcc")")/.." && pwd)
release=$("$nvcc" --version | sed -n 's/.*release [0-9.]*, V//p')
case $release in
13.*) ;;
*) missing "$nvcc is of CUDA '$release'; CUDA 13 is wanted, since its launches take another way than those of 12" ;;
esac
[ -x "$toolkit/nvvm/bin/cicc" ] || missing "$toolkit/nvvm/bin/cicc isn't there"
for file in lib64/libcudart.so lib64/libcublas.so lib64/stubs/libcuda.so include/cublas_v2.h; do
    [ -e "$toolkit/$file" ] || missing "$toolkit/$file isn't there"
done

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
source=$folder/llama.cpp

# The source package; only llama.cpp of it is kept.
if [ "$(cat "$folder/source.stamp" 2>/dev/null)" != "$checksum" ]; then
    if [ -z "$sdist" ]; then
        sdist=$folder/llama_cpp_python-$version.tar.gz
        if [ ! -e "$sdist" ]; then
            say "downloading llama-cpp-python $version (77 MB)"
            python3 "$here/download_sdist.py" llama-cpp-python $version "$folder" >&2 ||
                missing "cannot download it; expected a package index that pip reaches, or --sdist FILE"
        fi
    fi
    [ -e "$sdist" ] || fail "no file $sdist"
    echo "$checksum  $sdist" | sha256sum --check --quiet >&2 || fail "$sdist isn't llama-cpp-python $version as published"
    say "unpacking $sdist"
    rm -rf "$source" "$folder/unpacked"
    mkdir "$folder/unpacked"
    tar -xzf "$sdist" -C "$folder/unpacked" --strip-components=2 "llama_cpp_python-$version/vendor/llama.cpp"
    mv "$folder/unpacked/llama.cpp" "$source"
    rmdir "$folder/unpacked"
    echo "$checksum" >"$folder/source.stamp"
fi

# A toolkit folder of links, but for nvcc, which looks for its parts beside itself, and cicc.
if [ "$(cat "$folder/toolkit.stamp" 2>/dev/null)" != "$toolkit $release" ]; then
    rm -rf "$folder/toolkit" "$folder/build"
    mkdir -p "$folder/toolkit/bin" "$folder/toolkit/nvvm/bin"
    ln -s "$toolkit"/* "$folder/toolkit" 2>/dev/null || true # all but bin and nvvm, which are there
    ln -s "$toolkit"/bin/* "$folder/toolkit/bin"
    rm "$folder/toolkit/bin/nvcc" "$folder/toolkit/bin/nvcc.profile"
    cp "$toolkit/bin/nvcc" "$toolkit/bin/nvcc.profile" "$folder/toolkit/bin"
    ln -s "$toolkit/nvvm/libdevice" "$folder/toolkit/nvvm/libdevice"
    ln -s "$toolkit/nvvm/bin/cicc" "$folder/toolkit/nvvm/bin/cicc.vendor"
    echo "$toolkit $release" >"$folder/toolkit.stamp"
fi
if ! cmp -s "$here/cicc_without_code.sh" "$folder/toolkit/nvvm/bin/cicc"; then
    [ ! -d "$folder/build" ] || find "$folder/build" -name '*.cu.o' -delete # made by another one
    install -m 755 "$here/cicc_without_code.sh" "$folder/toolkit/nvvm/bin/cicc"
fi

# Executables are linked where no driver may be: the functions of libcuda.so.1 are left open.
started=$SECONDS
cmake -S "$source" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON \
    -DCMAKE_CUDA_COMPILER="$folder/toolkit/bin/nvcc" -DCUDAToolkit_ROOT="$folder/toolkit" \
    -DCMAKE_CUDA_ARCHITECTURES="$architectures" -DCMAKE_CUDA_RUNTIME_LIBRARY=Shared \
    -DCMAKE_CUDA_FLAGS_RELEASE="-O0 -DNDEBUG" -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" \
    -DCMAKE_EXE_LINKER_FLAGS=-Wl,--allow-shlib-undefined \
    -DGGML_CUDA=ON -DGGML_NATIVE=OFF -DGGML_CUDA_NCCL=OFF -DGGML_CUDA_COMPRESSION_MODE=none -DGGML_CCACHE=OFF \
    -DLLAMA_BUILD_COMMIT=$commit -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_APP=OFF -DLLAMA_BUILD_TESTS=OFF \
    -DLLAMA_BUILD_UI=OFF -DLLAMA_OPENSSL=OFF >"$folder/configure.log" 2>&1 ||
    { tail -20 "$folder/configure.log" >&2; fail "CMake failed; see $folder/configure.log"; }
say "building in $folder/build, $jobs at a time; $folder/build.log tells how far"
# What compiles longest comes first, so that a failure shows early.
for target in ggml-cuda "llama llama-bench llama-simple"; do
    # shellcheck disable=SC2086 # one argument a target
    ninja -C "$folder/build" -j "$jobs" $target >>"$folder/build.log" 2>&1 ||
        { tail -40 "$folder/build.log" >&2; fail "the build failed; see $folder/build.log; run again to go on"; }
done

# As harness.py takes a build: lib/ and include/.
ln -sfn build/bin "$folder/lib"
mkdir -p "$folder/include"
cp "$source"/include/*.h "$source"/ggml/include/*.h "$folder/include"
# Kept for those who look at a run of it later.
cat >"$folder/build.txt" <<END
llama-cpp-python $version, llama.cpp $commit
CUDA $release of $toolkit
architectures $architectures
device code none: kernels are declared and return at once, on purpose, for simulated GPUs only
END
say "done, $((SECONDS - started)) s of this run"
echo "$folder"
