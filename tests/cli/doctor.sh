#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Doctor: what it says of drivers and CUPTIs that are absent, broken, refused, hanging or crashing, and of programs. A driver
# that is no library stands in for none at all, so that the machine's own doesn't matter.
tests=$(cd "$(dirname "$0")/.." && pwd)
. "$(dirname "$0")/common.sh"
unset SIMGPU_FAULT CUDA_HOME CUDA_PATH CUDA_MPS_PIPE_DIRECTORY LD_LIBRARY_PATH
CC=${CC:-cc}
mkdir tmp && export TMPDIR=$PWD/tmp

# doctor STATUS ARGUMENT...: runs it into `out` and looks at its exit status
doctor() {
    local expected=$1
    shift
    "$ROOFTAP" doctor "$@" >out 2>err
    expect "status of 'doctor $*'" "$expected" $?
    expect "standard error of 'doctor $*'" "" "$(cat err)"
    expect "what 'doctor $*' left behind" "" "$(ls tmp)"
    expect "last line of 'doctor $*'" 1 "$(tail -1 out | grep -c '^[0-9]* checks: ')"
}
# line STATUS CHECK WORD: of the last doctor
line() {
    grep -E "^$1 +$2 " out | grep -qF -- "$3" || fail "no '$1 $2' with '$3': $(grep -E "^[A-Za-z]+ +$2 " out)"
}

# ---- without a driver ----
mkdir none && echo "no library" >none/libcuda.so.1
LD_LIBRARY_PATH=$PWD/none doctor 1
line FAIL driver "libcuda.so.1"
line unknown gpus ""
line unknown cupti "not tried"
line unknown cupti-copies "not tried"
line OK preload librooftap.so
LD_LIBRARY_PATH=$PWD/none "$ROOFTAP" doctor --json >json
expect "status with --json" 1 $?
python3 - json "$tests/../cli" <<'P' || fail "JSON"
import json, pathlib, re, sys
found = json.load(open(sys.argv[1]))
cli = pathlib.Path(sys.argv[2])
table = re.search(r"doctor_checks\[\] = \{(.*?)\n\};", (cli / "doctor_checks.c").read_text(), re.S).group(1)
rows = re.findall(r'\{"([a-z-]+)",\s*\w+,\s*(true|false),\s*"(.*?)"\}', table)
assert len(rows) == len({name for name, _, _ in rows}) > 20, rows
assert [check["name"] for check in found["checks"]] == [name for name, target, _ in rows if target == "false"]
document = (cli / "DOCTOR.md").read_text()
for name, _, source in rows:
    assert f"`{name}`" in document, f"DOCTOR.md does not list {name}"
    assert source, f"{name} has no source"
assert set(found) == {"schema", "rooftap_version", "simulate", "command", "checks", "summary"}, set(found)
assert found["schema"] == 1 and found["simulate"] is None and found["command"] is None
for check in found["checks"]:
    assert set(check) == {"name", "status", "evidence", "fix", "source"}, check
    assert check["status"] in ("ok", "warn", "fail", "unknown") and check["evidence"]
    assert check["fix"] or check["status"] not in ("fail", "warn"), check  # what is wrong has a way out
    assert check["fix"] is None or check["status"] in ("fail", "warn"), check
for status, count in found["summary"].items():
    assert count == sum(check["status"] == status for check in found["checks"]), status
P

# ---- bad usage ----
expect_usage_error "--timeout" doctor --timeout 0
expect_usage_error "--timeout" doctor --timeout ten
expect_usage_error "--simulate" doctor --sim-option gemm_kernels=2
expect_usage_error "nothing" doctor --simulate nothing
TMPDIR=/proc expect_usage_error "TMPDIR" doctor

# ---- drivers that fail, crash and hang ----
driver() { # FOLDER BODY OF cuInit
    mkdir -p "$1"
    printf '#include <signal.h>\n#include <unistd.h>\nint cuDriverGetVersion(int *v) { *v = 12040; return 0; }\nint cuInit(unsigned f) { (void)f; %s }\n' "$2" >driver.c
    "$CC" -shared -fPIC -Wl,-soname,libcuda.so.1 driver.c -o "$1/libcuda.so.1" || fail "no driver could be built"
}
driver mismatch 'return 803;'
LD_LIBRARY_PATH=$PWD/mismatch doctor 1
line OK driver "serves CUDA up to 12.4"
line FAIL gpus "SYSTEM_DRIVER_MISMATCH; to do: "
line unknown cupti "not tried"
driver unlisted 'return 77;'
LD_LIBRARY_PATH=$PWD/unlisted doctor 1
line FAIL gpus "cuInit returns 77"
driver crashing 'return raise(SIGSEGV);'
LD_LIBRARY_PATH=$PWD/crashing doctor 1
line FAIL gpus "crashed in cuInit (Segmentation fault)"
driver hanging 'for (;;) pause();'
LD_LIBRARY_PATH=$PWD/hanging doctor 1 --timeout 1
line FAIL gpus "did not answer within 1 s in cuInit"
driver leaving '_exit(5);'
LD_LIBRARY_PATH=$PWD/leaving doctor 1
line FAIL gpus "exit status 5"
mkdir -p toolkit/lib64/stubs && driver toolkit/lib64/stubs 'return 34;'
LD_LIBRARY_PATH=$PWD/toolkit/lib64/stubs doctor 1
line FAIL driver "stub"
expect "cores" "" "$(ls | grep -i '^core')"

# ---- the machine ----
mkdir -p root/dev root/proc/driver/nvidia root/proc/self root/proc/sys/kernel/yama
touch root/dev/nvidia0 root/dev/nvidia1 root/dev/nvidiactl
echo 3 >root/proc/sys/kernel/yama/ptrace_scope
printf 'ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\n' >root/proc/driver/nvidia/params
printf 'Name:\tx\nCapEff:\t0000000000000000\n' >root/proc/self/status
LD_LIBRARY_PATH=$PWD/none doctor 1 --sysroot "$PWD/root"
line OK device-files "2 GPU device files"
line OK ptrace "ptrace_scope is 3"
line WARN permission "RmProfilingAdminOnly 1"
grep -q '^WARN  *permission .*neither CAP_SYS_ADMIN nor CAP_PERFMON.*NVreg_RestrictProfilingToAdminUsers=0' out || fail "permission: $(cat out)"
printf 'CapEff:\t0000004000000000\n' >root/proc/self/status # CAP_PERFMON, bit 38
LD_LIBRARY_PATH=$PWD/none doctor 1 --sysroot "$PWD/root"
line unknown permission "has CAP_SYS_ADMIN or CAP_PERFMON"
rm root/dev/nvidiactl
LD_LIBRARY_PATH=$PWD/none doctor 1 --sysroot "$PWD/root"
line FAIL device-files "/dev/nvidiactl can't"
LD_LIBRARY_PATH=$PWD/none doctor 1 -o "$PWD/new/session"
line OK folder "'$PWD' can be written"
[ ! -e new ] || fail "a folder was made for the session"
LD_LIBRARY_PATH=$PWD/none doctor 1 -o /proc/session
line FAIL folder "/proc"
mkdir mps && touch mps/control
CUDA_MPS_PIPE_DIRECTORY=$PWD/mps LD_LIBRARY_PATH=$PWD/none doctor 1
line WARN mps "$PWD/mps/control"
NSYS_PROFILING_SESSION_ID=1 CUDA_INJECTION64_PATH=/opt/other.so LD_LIBRARY_PATH=$PWD/none doctor 1
line WARN profilers "NSYS_PROFILING_SESSION_ID (Nsight Systems), CUDA_INJECTION64_PATH (/opt/other.so)"
ROOFTAP_DISABLE=on LD_LIBRARY_PATH=$PWD/none doctor 1
line FAIL switches ROOFTAP_DISABLE
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
    LD_LIBRARY_PATH=$PWD/none unshare -m sh -c 'mount -t tmpfs -o size=20m none /dev/shm && exec "$0" doctor' "$ROOFTAP" >out
    line WARN shared-memory "room for the rings of 1 processes"
fi

# ---- programs, which are not run ----
echo 'int main(void) { return 3; }' >three.c
"$CC" three.c -o dynamic
LD_LIBRARY_PATH=$PWD/none doctor 1 -- ./dynamic
line OK program "takes LD_PRELOAD"
line unknown libraries "no library of CUDA's"
line unknown cublas "not linked with it"
printf '#include <fcntl.h>\nint main(void) { return creat("started", 0600) < 0; }\n__attribute__((constructor)) static void c(void) { creat("started", 0600); }\n' >toucher.c
"$CC" toucher.c -o toucher
LD_LIBRARY_PATH=$PWD/none doctor 1 -- ./toucher argument
[ ! -e started ] || fail "doctor ran the program"
LD_LIBRARY_PATH=$PWD/none doctor 1 -- ./nowhere
line FAIL program "no program that can be run"
if "$CC" -static three.c -o static 2>/dev/null; then
    LD_LIBRARY_PATH=$PWD/none doctor 1 -- ./static
    line FAIL program "statically linked"
    line unknown libraries ""
fi
if [ "$(id -u)" -eq 0 ]; then
    cp dynamic setuid && chown 65534 setuid && chmod 4755 setuid
    LD_LIBRARY_PATH=$PWD/none doctor 1 -- ./setuid
    line FAIL program "own rights"
fi
for bytes in 20 64 100 1000 4000; do
    head -c "$bytes" dynamic >"cut$bytes" && chmod +x "cut$bytes"
    LD_LIBRARY_PATH=$PWD/none doctor 1 -- "./cut$bytes"
done
# Linked with the shared libraries of CUDA 99; one is not there.
printf 'int cublasCreate_v2(void) { return 0; }\n' >blas.c
"$CC" -shared -fPIC -Wl,-soname,libcublas.so.99 blas.c -o libcublas.so.99
printf 'int cudaFree(void) { return 0; }\n' >cudart.c
"$CC" -shared -fPIC -Wl,-soname,libcudart.so.99 cudart.c -o libcudart.so.99
echo 'int cublasCreate_v2(void), cudaFree(void); int main(void) { return cublasCreate_v2() + cudaFree(); }' >shared.c
"$CC" shared.c -o shared ./libcublas.so.99 ./libcudart.so.99
LD_LIBRARY_PATH=$PWD/mismatch:$PWD doctor 1 -- ./shared
line OK cublas "$PWD/libcublas.so.99"
line FAIL cuda-runtime "is of CUDA 99, the driver serves up to 12.4"
rm libcudart.so.99
LD_LIBRARY_PATH=$PWD/none:$PWD doctor 1 -- ./shared
line FAIL libraries "finds no libcudart.so.99"
# I13: cuBLAS inside the program, or inside a library of its own that imports nothing of cuBLAS.
echo 'int cublasGemmEx(void) { return 0; } int main(void) { return cublasGemmEx(); }' >inside.c
"$CC" inside.c -o inside
LD_LIBRARY_PATH=$PWD/none doctor 1 -- ./inside
line WARN cublas "built into '"
line WARN cublas "shapes are hidden"
echo 'int cublasLtMatmul(void) { return 0; } int engine(void) { return cublasLtMatmul(); }' >engine.c
"$CC" -shared -fPIC engine.c -o libengine.so
echo 'int engine(void); int main(void) { return engine(); }' >uses.c
"$CC" uses.c -o uses -L. -lengine -Wl,-rpath,"$PWD"
LD_LIBRARY_PATH=$PWD/none doctor 1 -- ./uses
line WARN cublas "$PWD/libengine.so"

# ---- the simulated GPU ----
sim=$(cd "$(dirname "$ROOFTAP")/../lib/rooftap/sim" 2>/dev/null && pwd)
[ -e "$sim/libcupti.so.13" ] && [ -e "$sim/libcuda.so.1" ] || finish
doctor 0 --simulate h100-sxm
expect "lines of a simulated GPU that are not OK" "" "$(sed '1d;$d' out | grep -v '^OK')"
line OK cupti "kernels are timed: CUPTI of CUDA"
head -1 out | grep -q '^SIMULATED h100-sxm' || fail "not marked as simulated"
# C08: profiling is not permitted.
for call in cuptiActivityEnable cuptiActivityRegisterCallbacks cuptiSubscribe; do
    SIMGPU_FAULT=$call:35 doctor 1 --simulate unit
    line FAIL permission "INSUFFICIENT_PRIVILEGES"
    line FAIL permission "NVreg_RestrictProfilingToAdminUsers=0"
    line FAIL cupti "shapes only"
done
# record --require-timing refuses before the program starts, by the same question; without it the run goes on, shapes only.
SIMGPU_FAULT=cuptiActivityEnable:35 "$ROOFTAP" record --require-timing -q -o required --simulate unit -- ./toucher 2>err
expect "status where timing is required and refused" 2 $?
expect "lines where timing is required and refused" 1 "$(wc -l <err)"
grep -q -- '--require-timing: .*INSUFFICIENT_PRIVILEGES' err || fail "--require-timing says: $(cat err)"
[ ! -e started ] && [ ! -e required ] || fail "--require-timing started the program or left a folder"
SIMGPU_FAULT=cuptiActivityEnable:35 "$ROOFTAP" record -q -o not_required --simulate unit -- ./dynamic 2>err
expect "a run where timing is refused" "3 " "$? $(cat err)"
"$ROOFTAP" record --require-timing -q -o required --simulate unit -- ./dynamic 2>err
expect "a run where timing is required and there" "3 " "$? $(cat err)"
"$ROOFTAP" record --require-timing --timing off -q -o off --simulate unit -- ./toucher 2>err
expect "status where timing is required and off" 2 $?
LD_LIBRARY_PATH=$PWD/none "$ROOFTAP" record --require-timing -q -o off -- ./toucher 2>err
expect "status where timing is required without a driver" 2 $?
[ ! -e started ] || fail "--require-timing started the program"
SIMGPU_FAULT=cuptiSubscribe:39,cuptiSubscribe_v2:39 doctor 1 --simulate unit
line FAIL cupti "MULTIPLE_SUBSCRIBERS"
line unknown permission "not tried"
SIMGPU_FAULT=cuptiSubscribe:block doctor 1 --simulate unit --timeout 2
line OK gpus "Simulated unit"
line FAIL cupti "did not answer within 2 s in cuInit"
SIMGPU_FAULT=cuInit:100 doctor 1 --simulate unit
line FAIL gpus NO_DEVICE
# C07: what lies on LD_LIBRARY_PATH, with the stand-in for the driver beside it.
printf 'name = unit\nbytes_per_second = 1e12\nflops_per_second.bf16 = 1e14\n' >device.conf
export SIMGPU_DEVICE=$PWD/device.conf
touch root/dev/nvidiactl
mkdir driver && ln -s "$sim/libcuda.so.1" "$sim/libnvidia-ml.so.1" driver/
for other in "$sim"/libsimgpu*; do ln -s "$other" driver/; done
major() { LD_LIBRARY_PATH=$PWD/driver "$ROOFTAP" doctor | sed -n 's/^OK *driver .*up to \([0-9]*\)\..*/\1/p'; }
major=$(major)
cupti() { # FOLDER MAJOR SOURCE
    mkdir -p "$1"
    printf '%s\n' "$3" >cupti.c
    "$CC" -shared -fPIC -Wl,-soname,"libcupti.so.$2" cupti.c -o "$1/libcupti.so.$2" || fail "no CUPTI could be built"
}
LD_LIBRARY_PATH=$PWD/driver:$sim doctor 0 --sysroot "$PWD/root"
line OK cupti-copies "one in the process: $sim/libcupti.so.$major"
cupti stub "$major" 'int cuptiGetVersion(unsigned *v) { *v = 1; return 0; }'
LD_LIBRARY_PATH=$PWD/stub:$PWD/driver doctor 1 --sysroot "$PWD/root" # a stub, and no other
line FAIL cupti "shapes only"
mkdir cuda cuda/lib64 && cp "$sim/libcupti.so.$major" cuda/lib64/
CUDA_HOME=$PWD/cuda LD_LIBRARY_PATH=$PWD/stub:$PWD/driver doctor 0 --sysroot "$PWD/root" # a stub first
line OK cupti "$PWD/cuda/lib64/libcupti.so.$major"
grep -qE "^(WARN +cupti-copies +2 in one process|OK +cupti-copies +one in the process).*$PWD/cuda/lib64/libcupti.so" out || fail "copies: $(cat out)"
mkdir preloaded && cp "$sim/libcupti.so.$major" preloaded/libcupti_copy.so
LD_PRELOAD=$PWD/preloaded/libcupti_copy.so LD_LIBRARY_PATH=$PWD/driver:$sim doctor 0 --sysroot "$PWD/root"
grep -qE "^(OK|WARN) +cupti-copies .*$PWD/preloaded/libcupti_copy.so" out || fail "copies: $(cat out)"
whole() { # CODE: a libcupti with all functions that are needed
    sed -n 's/^FUNCTION(\([A-Za-z]*\),.*/\1/p' "$tests/../cupti/cupti_functions.def" | grep -v cuptiGetVersion | sed 's/.*/int &(void) { return 15; }/'
    printf '%s\n' "$1"
}
cupti trapping "$major" "$(whole 'int cuptiGetVersion(unsigned *v) { *v = 0; __builtin_trap(); }')"
LD_LIBRARY_PATH=$PWD/trapping:$PWD/driver doctor 1 --sysroot "$PWD/root"
line FAIL cupti "a recorded program crashed in"
line OK gpus unit
line OK cupti-copies "$PWD/trapping/libcupti.so.$major"
cupti newer "$major" "$(whole 'int cuptiGetVersion(unsigned *v) { *v = 130500; return 0; }')"
LD_LIBRARY_PATH=$PWD/newer:$PWD/driver doctor 1 --sysroot "$PWD/root"
line FAIL cupti "NOT_INITIALIZED"
line FAIL cupti "to do: this CUPTI needs a newer driver"
# Beside the libraries of the program its CUPTI is looked for first: that one is named.
mkdir own && cp "$sim/libcupti.so.$major" own/
printf 'int cudaFree(void) { return 0; }\n' >cudart.c
"$CC" -shared -fPIC -Wl,-soname,"libcudart.so.$major" cudart.c -o "own/libcudart.so.$major"
echo 'int cudaFree(void); int main(void) { return cudaFree(); }' >own.c
"$CC" own.c -o own/program "own/libcudart.so.$major" -Wl,-rpath,"$PWD/own"
LD_LIBRARY_PATH=$PWD/driver doctor 0 --sysroot "$PWD/root" -- own/program
line OK cupti "beside a mapped library"
line OK cupti-copies "one in the process: $PWD/own/libcupti.so.$major"
line OK cuda-runtime "CUDA $major: $PWD/own/libcudart.so.$major"
finish
