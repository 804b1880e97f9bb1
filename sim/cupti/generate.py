#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes cupti_names.c and cupti_refusals.c from CUPTI's public headers: the names of callbacks and results, and an entry for every
function that is declared there and implemented in none of SOURCES (it says its name once and is not supported).

    generate.py INCLUDE OUT_FOLDER SOURCES..."""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import cuda_headers  # noqa: E402


def table(name, rows):
    lines = [f"const struct callback_name {name}[] = {{"]
    lines += [f'    {{ {number}u, "{text}" }},' for number, text in rows]
    return lines + ["};", f"const unsigned {name}_count = sizeof {name} / sizeof *{name};", ""]


def enumerators(text, prefix):
    for name, number in re.findall(rf"\b({prefix}\w+)\s*=\s*(0x[0-9a-fA-F]+|\d+)", text):
        if not name.endswith(("_INVALID", "_SIZE", "_FORCE_INT")):
            yield int(number, 0), name[len(prefix):]


def main():
    include, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    implemented, later = set(), set()  # later: those that a release brought, which these headers may be older than
    version = cuda_headers.version(include, "cupti_version.h", "CUPTI_API_VERSION")
    for source in sys.argv[3:]:
        text = cuda_headers.without_other_versions(pathlib.Path(source).read_text(), "CUPTI_API_VERSION", version)
        implemented |= set(re.findall(r"^(?:CUptiResult CUPTIAPI |LATER\()(cupti\w+)\(", text, re.M))
        later |= {name for name, body in re.findall(r"^(?:CUptiResult CUPTIAPI |LATER\()(cupti\w+)\((.*?)^}$", text, re.M | re.S)
                  if "    DOOR_SINCE(" in body}
    declared = set()
    for header in sorted(include.glob("cupti*.h")):
        text = header.read_text(errors="replace")
        declared |= set(re.findall(r"^CUptiResult\s+(?:CUPTIAPI\s+)?(cupti\w+)\s*\(", text, re.M))
    unknown = implemented - declared - later
    if unknown or len(declared) < 100:
        sys.exit(f"generate.py: {len(declared)} functions declared in {include}; not among them: {sorted(unknown)}")
    lines = ["/* Generated from CUPTI's public headers. */", '#include "sim/cupti/stand_in.h"', ""]
    for name, header, prefix in (("driver_callback_names", "cupti_driver_cbid.h", "CUPTI_DRIVER_TRACE_CBID_"),
                                 ("runtime_callback_names", "cupti_runtime_cbid.h", "CUPTI_RUNTIME_TRACE_CBID_")):
        lines += table(name, enumerators((include / header).read_text(), prefix))
    results = [(n, "CUPTI_" + t) for n, t in enumerators((include / "cupti_result.h").read_text(), "CUPTI_")]
    lines += table("result_names", [(n, t) for n, t in results if t.startswith(("CUPTI_ERROR", "CUPTI_SUCCESS"))])
    out.joinpath("cupti_names.c").write_text("\n".join(lines))
    # Without CUPTI's header, so without its prototypes: a refusal takes whatever it is called with.
    lines = ["/* Generated from CUPTI's public headers. */", '#include "sim/core/simgpu.h"', "",
             "int result_done(int result);", ""]
    for function in sorted(declared - implemented):
        lines += [f"int {function}(void);", f"int {function}(void)", "{", f'    simgpu_not_supported("{function}");',
                  "    return result_done(27); /* CUPTI_ERROR_NOT_SUPPORTED */", "}", ""]
    out.joinpath("cupti_refusals.c").write_text("\n".join(lines))


main()
