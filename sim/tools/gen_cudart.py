# SPDX-License-Identifier: Apache-2.0
"""Writes libcudart's doors: each exported function asks for faults, tells the observer with CUPTI's id, name and
parameter struct, and calls the hand-written runtime_NAME, or says that there is none.

Usage: gen_cudart.py COMPILER INCLUDE OUT.c OUT.h SOURCE..."""
import re
import sys

import cuda_headers
from cuda_headers import Function

# No driver is needed for these: they work in any process, also in a forked child.
NO_INIT = {"cudaGetLastError", "cudaPeekAtLastError", "cudaDriverGetVersion", "cudaRuntimeGetVersion",
           "cudaProfilerStart", "cudaProfilerStop", "cudaThreadExchangeStreamCaptureMode", "__cudaGetKernel",
           "cudaGetDriverEntryPoint", "cudaGetDriverEntryPointByVersion", "cudaGetExportTable"}
# These look at the device without making its context.
NO_CONTEXT = {"cudaGetDeviceCount", "cudaGetDevice", "cudaGetDeviceProperties", "cudaDeviceGetAttribute",
              "cudaDeviceGetPCIBusId", "cudaDeviceGetByPCIBusId", "cudaChooseDevice", "cudaDeviceCanAccessPeer",
              "cudaSetDeviceFlags", "cudaGetDeviceFlags", "cudaSetValidDevices", "cudaDeviceReset",
              "cudaDeviceGetP2PAttribute", "cudaSetDevice", "cudaInitDevice"}
# Their result is not an error of theirs.
NO_RECORD = {"cudaGetLastError", "cudaPeekAtLastError"}
# Declared in headers that aren't among the fetched ones, or in device code's.
UNDECLARED = [
    Function("cudaError_t", "cudaProfilerStart", []),
    Function("cudaError_t", "cudaProfilerStop", []),
    Function("cudaError_t", "__cudaGetKernel", [("cudaKernel_t *", "kernel", ""), ("const void *", "entry", "")]),
    Function("cudaError_t", "__cudaLaunchKernel",
             [("cudaKernel_t", "kernel", ""), ("dim3", "gridDim", ""), ("dim3", "blockDim", ""),
              ("void **", "args", ""), ("size_t", "sharedMem", ""), ("cudaStream_t", "stream", "")]),
]
DRIVER_ENTRY_POINT = Function("cudaError_t", "cudaGetDriverEntryPoint",
                              [("const char *", "symbol", ""), ("void **", "funcPtr", ""),
                               ("unsigned long long", "flags", ""),
                               ("enum cudaDriverEntryPointQueryResult *", "driverStatus", "")])
PER_THREAD = [("__cudaLaunchKernel", "ptsz"), ("cudaGetDriverEntryPoint", "ptsz")]
# Without parameters here: interop with other APIs, and copies that went out of the header but not of the library.
OPAQUE = r"cuda(GL|EGL|VDPAU|GraphicsGL|GraphicsEGL|GraphicsVDPAU|GraphicsResourceGetMappedEgl|EventCreateFromEGL)\w+|" \
         r"cudaMemcpy(To|From)Array(Async)?|cudaMemcpyArrayToArray|cuda\w+SharedMemConfig|" \
         r"cudaGetDeviceProperties|cudaStreamGetCaptureInfo(_ptsz)?|cuda(Signal|Wait)ExternalSemaphoresAsync(_ptsz)?"
# CUDA 13 gave the plain name to what CUDA 12 has under a version beside an older form. Bodies have CUDA 12's names.
PLAIN_IN_13 = {
    "cudaGetDeviceProperties": "cudaGetDeviceProperties_v2",
    "cudaGraphAddDependencies": "cudaGraphAddDependencies_v2",
    "cudaGraphAddNode": "cudaGraphAddNode_v2",
    "cudaGraphGetEdges": "cudaGraphGetEdges_v2",
    "cudaGraphNodeGetDependencies": "cudaGraphNodeGetDependencies_v2",
    "cudaGraphNodeGetDependentNodes": "cudaGraphNodeGetDependentNodes_v2",
    "cudaGraphRemoveDependencies": "cudaGraphRemoveDependencies_v2",
    "cudaMemAdvise": "cudaMemAdvise_v2",
    "cudaMemPrefetchAsync": "cudaMemPrefetchAsync_v2",
    "cudaStreamGetCaptureInfo": "cudaStreamGetCaptureInfo_v3",
    "cudaStreamUpdateCaptureDependencies": "cudaStreamUpdateCaptureDependencies_v2",
}
PLAIN = {"cudaGetErrorName", "cudaGetErrorString", "cudaCreateChannelDesc"}  # written by hand, no door


def doors(declared, per_thread):
    """(exported name, function, per-thread default stream)."""
    for name, function in sorted(declared.items()):
        yield name, function, 0
    for name, suffix in sorted(per_thread):
        yield f"{name}_{suffix}", declared[name], 1


def door(name, function, threads, callbacks, structs, bodies):
    base = function.name
    version, number = callbacks.get(name, callbacks.get(base, (0, 0)))
    known = next((s for s in (f"{name}_v{version}", f"{base}_v{callbacks.get(base, (0, 0))[0]}")
                  if structs.get(s) == len(function.arguments)), None)
    lines = [function.declaration(name), "{"]
    if known and function.arguments:
        lines.append(f"    {known}_params params = {{{function.passed()}}};")
    fields = [".domain = SIMGPU_RUNTIME_API", f".cbid = {number}", f'.function = "{name}_v{version}"']
    if known and function.arguments:
        fields.append(".params = &params")
    symbol = next((argument for _, argument, _ in function.arguments if argument in ("func", "kernel")), None)
    if symbol and "Launch" in base:
        fields.append(f".symbol = runtime_symbol({symbol})")
    told, more = cuda_headers.parameter_rows(function)
    lines += told
    lines.append(f"    struct simgpu_api_call call = {{{', '.join(fields + more)}}};")
    needs = "RUNTIME_FREE" if base in NO_INIT else "RUNTIME_DEVICE" if base in NO_CONTEXT else "RUNTIME_CONTEXT"
    lines.append(f'    cudaError_t result = runtime_enter(&call, "{base}", {needs}, {threads});')
    body = f"runtime_{bodies[base]}({function.passed()})" if base in bodies else f'runtime_missing("{base}")'
    lines += ["    if (result == cudaSuccess)", f"        result = {body};"]
    lines.append(f"    return runtime_exit(&call, result, {'false' if base in NO_RECORD else 'true'});")
    return "\n".join(lines + ["}", ""])


def main():
    compiler, include, source_out, header_out, *sources = sys.argv[1:]
    text = cuda_headers.preprocess(compiler, include, "#include <cuda_runtime_api.h>\n")
    declared = cuda_headers.functions(text, "cuda")
    declared = {name: f for name, f in declared.items() if f.result == "cudaError_t" and name not in PLAIN}
    for function in UNDECLARED:
        declared.setdefault(function.name, function)
    declared.setdefault("cudaGetDriverEntryPoint", DRIVER_ENTRY_POINT)
    raw = cuda_headers.read(include, "cuda_runtime_api.h")
    # The name in parentheses is the symbol's: CUDA 12 has a version there that the program's name lacks.
    per_thread = {(base, kind.lower()) for kind, base in
                  re.findall(r"#\s*define\s+\w+\s+__CUDART_API_(PTDS|PTSZ)\((\w+)\)", raw)}
    per_thread = {(base, kind) for base, kind in per_thread | set(PER_THREAD) if base in declared}
    callbacks = cuda_headers.runtime_callbacks(include)
    structs = cuda_headers.parameter_structs(include, "generated_cuda_runtime_api_meta.h")
    version = cuda_headers.version(include, "cuda_runtime_api.h", "CUDART_VERSION")
    bodies = {name: name for name in cuda_headers.implemented(sources, "runtime_", "CUDART_VERSION", version)}
    if version >= 13000:
        bodies.update((plain, bodies.pop(versioned)) for plain, versioned in PLAIN_IN_13.items())
    unknown = sorted(body for body in bodies if body.startswith(("cuda", "__cuda")) and body not in declared)
    if unknown:
        sys.exit(f"gen_cudart.py: no such function in cuda_runtime_api.h: {', '.join(unknown)}")

    with open(header_out, "w") as out:
        out.write("/* Generated from the public headers. */\n#include <cuda_runtime_api.h>\n\n")
        for name in sorted(bodies.keys() & declared.keys()):
            out.write(declared[name].declaration(f"runtime_{bodies[name]}") + ";\n")
    with open(source_out, "w") as out:
        out.write("/* Generated from the public headers. */\n#include \"sim/cudart/runtime.h\"\n"
                  "#include <generated_cuda_runtime_api_meta.h>\n\n")
        for name, function, threads in doors(declared, per_thread):
            if name not in raw:
                out.write(function.declaration(name) + ";\n")
            out.write(door(name, function, threads, callbacks, structs, bodies) + "\n")
        exported = {name for name, _, _ in doors(declared, per_thread)}
        for name in sorted(callbacks):
            if re.fullmatch(OPAQUE, name) and name not in exported:
                out.write(f"#undef {name}\ncudaError_t {name}(void);\ncudaError_t {name}(void)\n{{\n"
                          f'    return runtime_record(runtime_missing("{name}"));\n}}\n\n')
        out.write("const struct runtime_error runtime_errors[] = {\n")
        for name, number in cuda_headers.enumerators(include, "driver_types.h", "cuda(?:Error|Success)"):
            out.write(f'    {{{number}, "{name}", "{cuda_headers.words(name)}"}},\n')
        out.write("    {0, NULL, NULL},\n};\n")


main()
