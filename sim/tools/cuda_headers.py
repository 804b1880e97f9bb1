# SPDX-License-Identifier: Apache-2.0
"""Reads NVIDIA's public CUDA headers: prototypes, CUPTI's callback ids and parameter structs, enumerators."""
import pathlib
import re
import subprocess


class Function:
    """One declared function. `arguments` is a list of (type, name, array suffix)."""

    def __init__(self, result, name, arguments):
        self.result, self.name, self.arguments = result, name, arguments

    def declaration(self, name=None):
        listed = ", ".join(f"{kind} {argument}{suffix}" for kind, argument, suffix in self.arguments)
        return f"{self.result} {name or self.name}({listed or 'void'})"

    def passed(self):
        return ", ".join(argument for _, argument, _ in self.arguments)


# Not one value each: arrays whose length is told elsewhere, or nowhere.
ARRAYS = {"args", "kernelParams", "extra"}


def parameter_rows(function):
    """Lines and fields by which a door tells the ledger what was passed to FUNCTION."""
    if not function.arguments:
        return [], []
    rows = []
    for kind, name, suffix in function.arguments:
        result = kind.endswith("*") and not kind.startswith("const ") and not re.fullmatch(r"(void|char) ?\*", kind) and \
            name not in ARRAYS and "CaptureInfo" not in function.name  # of no capture: nothing is written
        rows.append(f'{{"{name}", 5, sizeof(void *), 0, 0}}' if suffix else f"SIMGPU_{'RESULT' if result else 'PARAMETER'}({name})")
    lines = [f"    static const struct simgpu_parameter parameters_of[] = {{{', '.join(rows)}}};",
             f"    const void *const passed[] = {{{', '.join('&' + name for _, name, _ in function.arguments)}}};"]
    return lines, [".parameters = parameters_of", ".passed = passed", f".parameter_count = {len(rows)}"]


def preprocess(compiler, include, text, defines=()):
    command = [compiler, "-E", "-P", f"-I{include}", *[f"-D{define}" for define in defines], "-x", "c", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def split_arguments(text):
    text = " ".join(text.split())
    if text in ("", "void"):
        return []
    arguments, depth, start = [], 0, 0
    for place, character in enumerate(text + ","):
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            arguments.append(text[start:place].strip())
            start = place + 1
    parsed = []
    for number, argument in enumerate(arguments):
        match = re.fullmatch(r"(.*?[\s*])(\w+)((?:\[\w*\])*)", argument)
        kind, name, suffix = match.groups() if match else (argument, "", "")
        if not match or name in ("int", "char", "long", "unsigned", "float", "double", "size_t") or (
                re.fullmatch(r"(const|enum|struct)\s*", kind)):
            kind, name, suffix = argument, f"argument{number}", ""
        parsed.append((kind.strip(), name, suffix))
    return parsed


def functions(text, prefix, result=r"[\w\s\*]+?"):
    """Prototypes in preprocessed TEXT of functions whose name starts with PREFIX; a later one doesn't replace."""
    found = {}
    pattern = rf"(?:extern\s+)?\b({result})\s*\b({prefix}\w*)\s*\(([^;{{}}]*?)\)\s*(?:__attribute__\s*\(\(.*?\)\))?\s*;"
    for match in re.finditer(pattern, text, re.S):
        kind, name, arguments = match.groups()
        kind = " ".join(kind.split())
        kind = re.sub(r"^extern ", "", kind)
        if kind.startswith("typedef") or name in found:
            continue
        found[name] = Function(kind, name, split_arguments(arguments))
    return found


def read(include, name):
    return (pathlib.Path(include) / name).read_text(encoding="utf-8", errors="replace")


def runtime_callbacks(include):
    """name -> (version, number), the newest version of each."""
    found = {}
    for name, version, number in re.findall(r"CBID_(\w+?)_v(\d+)\s*=\s*(\d+)", read(include, "cupti_runtime_cbid.h")):
        if name not in found or found[name][0] < int(version):
            found[name] = (int(version), int(number))
    return found


def driver_callbacks(include):
    """symbol -> number."""
    text = read(include, "cupti_driver_cbid.h")
    return {name: int(number) for name, number in re.findall(r"DRIVER_TRACE_CBID_(\w+)\s*=\s*(\d+)", text)}


def parameter_structs(include, header):
    """Names of parameter structs, less `_params`, with the number of their members."""
    found = {}
    for name, body in re.findall(r"typedef struct (\w+?)_params_st \{(.*?)\}", read(include, header), re.S):
        found[name] = body.count(";")
    return found


def enumerators(include, header, prefix):
    """(name, number) in order, of enumerators with explicit numbers."""
    return [(name, int(number, 0)) for name, number in
            re.findall(rf"^\s*({prefix}\w*)\s*=\s*(\d+)\s*,?", read(include, header), re.M)]


def words(name):
    """cudaErrorInvalidValue or CUDA_ERROR_INVALID_VALUE as words."""
    name = re.sub(r"^(cudaError|CUDA_ERROR_|cuda|CUDA_)", "", name)
    if "_" in name or name.isupper():
        return name.replace("_", " ").lower()
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name).lower()


def version(include, header, macro):
    return int(re.search(rf"#define\s+{macro}\s+(\d+)", read(include, header)).group(1))


def without_other_versions(text, macro, number):
    """TEXT less what `#if MACRO >= N` and `#if MACRO < N` leave out for NUMBER; other conditions are kept."""
    kept, leaving = [], []
    for line in text.splitlines():
        condition = re.match(rf"#if {macro} (>=|<) (\d+)", line)
        if condition:
            wanted = (number >= int(condition[2])) == (condition[1] == ">=")
            leaving.append(not wanted)
        elif line.startswith("#if"):
            leaving.append(False)
        elif line.startswith("#endif"):
            leaving.pop()
        elif not any(leaving):
            kept.append(line)
    return "\n".join(kept)


def implemented(sources, prefix, macro, number):
    """Functions that hand-written SOURCES define, in this VERSION, as PREFIX + name."""
    found = set()
    for source in sources:
        text = without_other_versions(pathlib.Path(source).read_text(), macro, number)
        found |= set(re.findall(rf"^\w[\w \*]*?\b{prefix}(\w+)\(", text, re.M))
    return found
