# SPDX-License-Identifier: Apache-2.0
"""Writes libcuda's doors, as gen_cudart.py does the runtime's, and the table of cuGetProcAddress.

Usage: gen_cuda.py COMPILER INCLUDE OUT.c OUT.h SOURCE..."""
import re
import sys

import cuda_headers
from cuda_headers import Function

MODES = ((), ("__CUDA_API_VERSION_INTERNAL",), ("CUDA_API_PER_THREAD_DEFAULT_STREAM",))
NOT_EXPORTED = {"cuGetProcAddress_v2_ptsz"}
PROFILER = [Function("CUresult", "cuProfilerStart", []), Function("CUresult", "cuProfilerStop", []),
            Function("CUresult", "cuProfilerInitialize", [("const char *", "configFile", ""),
                                                          ("const char *", "outputFile", ""),
                                                          ("int", "outputMode", "")])]
# Written by hand, without a door: they look for the functions themselves, or speak of results.
PLAIN = {"cuGetProcAddress", "cuGetProcAddress_v2", "cuGetErrorName", "cuGetErrorString"}
NO_INIT = r"cuInit|cuDriverGetVersion|cuGetExportTable"
NO_CONTEXT = r"cu(Device|Ctx|Green|Library|Kernel|Module(GetLoadingMode)|Pointer|Profiler|Func|Tensor|UserObject|Logs|" \
             r"Thread|Coredump)\w*|cuMem(Address|Create|Map|Unmap|Release|SetAccess|GetAccess|GetAllocation|Retain|" \
             r"Pool|Export|Import)\w*|cuGraph\w*"


def plain_name(symbol):
    return re.sub(r"(_v\d+)?(_pt[ds][zs])?$", "", symbol)


def declared_functions(compiler, include):
    found = {}
    for defines in MODES:
        text = cuda_headers.preprocess(compiler, include, "#include <cuda.h>\n", defines)
        for name, function in cuda_headers.functions(text, "cu[A-Z]", "CUresult").items():
            found.setdefault(name, function)
    for function in PROFILER:
        found.setdefault(function.name, function)
    return {name: function for name, function in found.items() if name not in NOT_EXPORTED}


def door(name, function, callbacks, structs, bodies):
    base, threads = re.sub(r"_pt[ds][zs]$", "", name), int(bool(re.search(r"_pt[ds][zs]$", name)))
    params = name if structs.get(name) == len(function.arguments) else None
    lines = [function.declaration(name), "{"]
    fields = [".domain = SIMGPU_DRIVER_API", f".cbid = {callbacks.get(name, 0)}", f'.function = "{name}"']
    if params and function.arguments:
        lines.append(f"    {params}_params params = {{{function.passed()}}};")
        fields.append(".params = &params")
    if re.match(r"cuLaunch\w*Kernel", base) and "MultiDevice" not in base:
        fields.append(".symbol = driver_symbol(f)")
    told, more = cuda_headers.parameter_rows(function)
    lines += told
    lines.append(f"    struct simgpu_api_call call = {{{', '.join(fields + more)}}};")
    needs = "DRIVER_FREE" if re.fullmatch(NO_INIT, base) else \
        "DRIVER_DEVICE" if re.fullmatch(NO_CONTEXT, base) else "DRIVER_CONTEXT"
    lines.append(f'    CUresult returned = driver_enter(&call, "{plain_name(name)}", {needs}, {threads});')
    body = f"driver_{base}({function.passed()})" if base in bodies else f'driver_missing("{base}")'
    lines += ["    if (returned == CUDA_SUCCESS)", f"        returned = {body};",
              "    return driver_exit(&call, returned);"]
    return "\n".join(lines + ["}", ""])


def proc_addresses(include, symbols):
    """Rows (name, version, per-thread, symbol): each PFN_<name>_v<version> is one exported symbol; newest to newest."""
    versions = {}
    for header in ("cudaTypedefs.h", "cudaProfilerTypedefs.h"):
        for name, version, threads in re.findall(r"\*PFN_(cu\w+?)_v(\d+)(_pt[ds]s?z?)?\)",
                                                 cuda_headers.read(include, header)):
            versions.setdefault((name, bool(threads)), set()).add(int(version))
    number = re.compile(r"_v(\d+)(?:_pt[ds][zs])?$")
    for (name, threads), known in sorted(versions.items()):
        suffix = r"_pt[ds][zs]" if threads else ""
        exported = sorted((s for s in symbols if re.fullmatch(rf"{name}(_v\d+)?{suffix}", s)),
                          key=lambda s: int(number.search(s).group(1)) if number.search(s) else 1)
        count = min(len(known), len(exported))
        if count:
            yield from ((name, version, int(threads), symbol)
                        for version, symbol in zip(sorted(known)[-count:], exported[-count:]))


def main():
    compiler, include, source_out, header_out, *sources = sys.argv[1:]
    declared = declared_functions(compiler, include)
    bodies = cuda_headers.implemented(sources, "driver_", "CUDA_VERSION", cuda_headers.version(include, "cuda.h", "CUDA_VERSION"))
    unknown = sorted(body for body in bodies if body.startswith("cu") and body not in declared)
    if unknown:
        sys.exit(f"gen_cuda.py: no such function in cuda.h: {', '.join(unknown)}")
    callbacks = cuda_headers.driver_callbacks(include)
    structs = cuda_headers.parameter_structs(include, "generated_cuda_meta.h")

    with open(header_out, "w") as out:
        out.write("/* Generated from the public headers. */\n")
        for name in sorted(bodies & declared.keys()):
            out.write(declared[name].declaration(f"driver_{name}") + ";\n")
    with open(source_out, "w") as out:
        out.write('/* Generated from the public headers. */\n#include "sim/driver/driver.h"\n'
                  "#include <generated_cuda_meta.h>\n\n")
        for name in sorted(declared.keys() - PLAIN):
            function = declared[name]
            out.write(f"{function.declaration(name)};\n{door(name, function, callbacks, structs, bodies)}\n")
        out.write("const struct driver_address driver_addresses[] = {\n")
        for name, version, threads, symbol in proc_addresses(include, declared.keys()):
            out.write(f'    {{"{name}", {version}, {threads}, (void *){symbol}}},\n')
        out.write("    {NULL, 0, 0, NULL},\n};\n\nconst struct driver_error driver_errors[] = {\n")
        for name, number in cuda_headers.enumerators(include, "cuda.h", "CUDA_(?:ERROR|SUCCESS)"):
            out.write(f'    {{{number}, "{name}", "{cuda_headers.words(name)}"}},\n')
        out.write("    {0, NULL, NULL},\n};\n")


main()
