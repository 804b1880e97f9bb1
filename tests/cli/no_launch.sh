#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Programs that meant to use a GPU and didn't: the report says how far they came. Libraries of the names stand for NVIDIA's.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset LD_LIBRARY_PATH LD_PRELOAD || true

fail() {
  echo "FAILED: $1"
  sed 's/^/  /' err out
  exit 1
}

mkdir -p runtime driver toolkit/stubs
echo 'int nothing;' >empty.c
"$CC" -shared -fPIC -Wl,-soname,libcudart.so.12 -o runtime/libcudart.so.12 empty.c
"$CC" -shared -fPIC -Wl,-soname,libcuda.so.1 -o driver/libcuda.so.1 empty.c
cp driver/libcuda.so.1 toolkit/stubs/libcuda.so
cat >loads.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **paths)
{
    for (int i = 1; i < count; i++)
        if (!dlopen(paths[i], RTLD_NOW | RTLD_LOCAL))
            return puts(dlerror()), 9;
    return 0;
}
END
"$CC" -o loads loads.c -ldl

# expect REASON WORDS LIBRARIES...: what `report` says of a program that loads those
expect() {
  reason=$1 words=$2
  shift 2
  rm -rf session
  "$ROOFTAP" record -q -o session -- ./loads "$@" >out 2>err || fail "record: status $?"
  test -s err && fail "record printed something"
  status=0
  "$ROOFTAP" report session >out 2>err || status=$?
  test $status = 1 || fail "$reason: status $status, not 1"
  grep -q "^rooftap report: no CUDA launch seen in 0 processes of session: " err || fail "$reason: another line"
  grep -qF "$words" err || fail "$reason: '$words' is not said"
  "$ROOFTAP" report --json session 2>/dev/null | grep -q "\"no_launch_reason\": \"$reason\"" || fail "$reason: JSON"
  test -e session/unused_cuda && fail "$reason: the file is still there"
  return 0
}

expect no_cuda_library "no process that ended by itself had a CUDA library loaded"
expect no_driver "had $work/runtime/libcudart.so.12 loaded, but no driver (libcuda.so.1)" "$work/runtime/libcudart.so.12"
expect stub_driver "stubs/libcuda.so loaded, which is the toolkit's stub" "$work/toolkit/stubs/libcuda.so"
expect driver_not_started "had $work/driver/libcuda.so.1 loaded, but CUDA never started in it" \
  "$work/runtime/libcudart.so.12" "$work/driver/libcuda.so.1"

# Ended by a signal, a process says nothing: then nothing is claimed of its libraries.
cat >dies.c <<'END'
#include <signal.h>
int main(void) { return raise(SIGKILL); }
END
"$CC" -o dies dies.c
rm -rf session
"$ROOFTAP" record -q -o session -- ./dies >out 2>err || true
"$ROOFTAP" report session >out 2>err || true
grep -q "the program does not use CUDA, or CUDA could not start in it" err || fail "killed"

# More processes than there is room for: the first are told, and nothing else is harmed.
cat >many.sh <<'END'
i=0
while [ $i -lt 40 ]; do ./loads "$1"; i=$((i + 1)); done
END
rm -rf session
"$ROOFTAP" record -q -o session -- sh many.sh "$work/runtime/libcudart.so.12" >out 2>err || fail "many: status $?"
test "$(grep -c '"runtime": "/' session/session.json)" = 16 || fail "many: not as many as there is room for"

# On the simulated GPU its libraries are in every process; what ran is what counts.
if [ -e "$BUILD/lib/rooftap/sim/libcudart.so.13" ]; then
  cat >copies.c <<'END'
#include <dlfcn.h>
#include <stddef.h>
int main(int count, char **words)
{
    void *runtime = dlopen("libcudart.so.13", RTLD_NOW | RTLD_LOCAL), *memory = NULL;
    int (*devices)(int *) = (int (*)(int *))dlsym(runtime, "cudaGetDeviceCount"), found = 0;
    int (*get)(void **, size_t) = (int (*)(void **, size_t))dlsym(runtime, "cudaMalloc");
    int (*fill)(void *, int, size_t) = (int (*)(void *, int, size_t))dlsym(runtime, "cudaMemset");
    int (*wait)(void) = (int (*)(void))dlsym(runtime, "cudaDeviceSynchronize");
    (void)words;
    if (devices(&found) || found != 1 || get(&memory, 64))
        return 8;
    return count > 1 ? fill(memory, 0, 64) || wait() : 0;
}
END
  "$CC" -o copies copies.c -ldl
  for arguments in "" copy; do
    rm -rf session
    # shellcheck disable=SC2086
    "$ROOFTAP" record -q --simulate unit -o session -- ./copies $arguments >out 2>err || fail "copies: status $?"
    "$ROOFTAP" report session >out 2>err && fail "copies: status 0"
    if [ -n "$arguments" ]; then
      grep -qF "CUDA was started, and 1 copy or memset were all that ran" err || fail "copies"
    else
      grep -qF "CUDA was started and 1 device found, but no kernel was launched" err || fail "devices"
    fi
  done
fi
echo "all as it should be"
