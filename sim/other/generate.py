#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the C source of one stand-in library from symbols/SONAME.tsv.

    generate.py symbols/libcufft.so.12.tsv OUT.c

Lines `# key<TAB>value` give soname, version ("-": unversioned) and not_supported (the number that status functions
return). Each other line is name<TAB>kind; KINDS below says what a function of that kind does."""
import sys

# kind -> (C return type, parameters, body). Only what a kind implements returns success.
KINDS = {
    # Says its name once and returns the library's NotSupported.
    "status": ("long", "void", 'simgpu_not_supported("{name}");\n    return NOT_SUPPORTED;'),
    # The same where the result is a pointer, a size (-1) or nothing.
    "null": ("void *", "void", 'simgpu_not_supported("{name}");\n    return NULL;'),
    "minus1": ("long", "void", 'simgpu_not_supported("{name}");\n    return -1;'),
    "void": ("void", "void", 'simgpu_not_supported("{name}");'),
    # A handle that is a pointer (create) or a number (create_int), and its end.
    "create": ("long", "void **handle",
               "if (!handle)\n        return NOT_SUPPORTED;\n"
               "    *handle = calloc(1, 64);\n    return *handle ? 0 : NOT_SUPPORTED;"),
    "destroy": ("long", "void *handle", "free(handle);\n    return 0;"),
    "create_int": ("long", "int *handle",
                   "if (!handle)\n        return NOT_SUPPORTED;\n"
                   "    *handle = __atomic_add_fetch(&handles, 1, __ATOMIC_RELAXED);\n    return 0;"),
    "destroy_int": ("long", "int handle", "(void)handle;\n    return 0;"),
    # What an error code means.
    "string": ("const char *", "long status",
               'return (int)status == 0 ? "success" : "not supported by the simulated GPU";'),
    # A state that is 0 because nothing was initialised.
    "zero": ("long", "void", "return 0;"),
}


def version_body(numbers):
    """version=A,B: writes A and B through the pointers it is given."""
    params = ", ".join(f"int *v{i}" for i in range(len(numbers)))
    body = "".join(f"if (v{i})\n        *v{i} = {n};\n    " for i, n in enumerate(numbers)) + "return 0;"
    return "long", params, body


def read(path):
    keys, rows = {}, []
    for number, line in enumerate(open(path), 1):
        line = line.rstrip("\n")
        if line.startswith("# ") and "\t" in line:
            key, value = line[2:].split("\t")[:2]
            keys[key] = value
        elif line and not line.startswith("#"):
            field = line.split("\t")
            if len(field) != 2 or (field[1] not in KINDS and not field[1].startswith("version=")):
                sys.exit(f"{path}:{number}: expected name<TAB>kind with a kind of {', '.join(KINDS)} or version=N")
            rows.append(field)
    for key in ("soname", "version", "not_supported"):
        if key not in keys:
            sys.exit(f"{path}: no line '# {key}<TAB>value'")
    return keys, rows


def main():
    source, c_path = sys.argv[1:3]
    keys, rows = read(source)
    out = [f"/* Generated from {keys['soname']}.tsv. */", "#include <stdlib.h>", '#include "sim/core/simgpu.h"', "",
           f"#define NOT_SUPPORTED {keys['not_supported']}", "__attribute__((unused)) static int handles;", ""]
    for name, kind in rows:
        if kind.startswith("version="):
            result, params, body = version_body(kind[8:].split(","))
        else:
            result, params, body = KINDS[kind]
        declared = f"SIMGPU_API {result} {name}({params})"
        out += [declared + ";", declared, "{", "    " + body.replace("{name}", name), "}", ""]
    open(c_path, "w").write("\n".join(out))


main()
