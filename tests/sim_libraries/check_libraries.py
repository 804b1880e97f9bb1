#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds every stand-in in a folder to what the dynamic linker asks of it: the file is called as its SONAME, its symbols
carry the version node that programs were linked with, and it needs nothing of the vendor's.

    check_libraries.py FOLDER MAJOR..."""
import pathlib
import re
import subprocess
import sys

# SONAME -> version node of the real library ("": none), as the symbols of PyTorch 2.14.0's own libraries name them.
NODES = {
    "libcudart.so.13": "libcudart.so.13", "libcublas.so.13": "libcublas.so.13",
    "libcublasLt.so.13": "libcublasLt.so.13", "libcupti.so.13": "libcupti.so.13", "libcudnn.so.9": "libcudnn.so.9",
    "libcufft.so.12": "libcufft.so.12", "libcusparse.so.12": "libcusparse.so.12",
    "libcusolver.so.12": "libcusolver.so.12", "libcurand.so.10": "libcurand.so.10", "libnvrtc.so.13": "libnvrtc.so.13",
    "libnvshmem_host.so.3": "NVSHMEM", "libcuda.so.1": "", "libnvidia-ml.so.1": "", "libnccl.so.2": "",
    "libcusparseLt.so.0": "", "libcufile.so.0": "",
}
# CUDA 12's beside them, as the symbol tables of its own packages name them.
NODES_12 = {
    "libcudart.so.12": "libcudart.so.12", "libcublas.so.12": "libcublas.so.12", "libcublasLt.so.12": "libcublasLt.so.12",
    "libcupti.so.12": "libcupti.so.12", "libcufft.so.11": "libcufft.so.11", "libcusolver.so.11": "libcusolver.so.11",
    "libnvrtc.so.12": "libnvrtc.so.12",
}
OWN = set(NODES) | set(NODES_12) | {"libsimgpu.so"}
SYSTEM = re.compile(r"lib(c|m|dl|pthread|rt|gcc_s|asan|ubsan|tsan|stdc\+\+)\.so\.\d+|ld-linux.*")


def read(*arguments):
    return subprocess.run(["readelf", "--wide", *arguments], capture_output=True, text=True, check=True).stdout


def main():
    folder, wrong = pathlib.Path(sys.argv[1]), []
    nodes = {**NODES, **(NODES_12 if "12" in sys.argv[2:] else {})}
    for soname, node in sorted(nodes.items()):
        path = folder / soname
        if not path.exists():
            wrong.append(f"{soname}: not in {folder}")
            continue
        dynamic = read("--dynamic", str(path))
        if f"[{soname}]" not in "".join(l for l in dynamic.splitlines() if "SONAME" in l):
            wrong.append(f"{soname}: its SONAME is another")
        for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
            if needed not in OWN and not SYSTEM.fullmatch(needed):
                wrong.append(f"{soname}: needs {needed}")
        functions = 0
        for line in read("--dyn-syms", str(path)).splitlines():
            field = line.split()
            if len(field) > 7 and field[3] == "FUNC" and field[6] != "UND":
                name, _, version = field[7].partition("@")
                functions += 1
                if version.lstrip("@") != node:
                    wrong.append(f"{soname}: {name} is of version '{version.lstrip('@')}', expected '{node}'")
        if not functions:
            wrong.append(f"{soname}: exports no function")
    for line in wrong[:30]:
        print(line)
    if wrong:
        sys.exit(1)
    print(f"{len(nodes)} libraries")


main()
