#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""summary.py NAME STATUS REPORT: one line of JSON on what a report of `rooftap report --json` holds; 1 if a kernel of a
library call was not timed, not joined, or lost."""
import json
import sys

name, status, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
try:
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
except (OSError, ValueError) as error:
    print(json.dumps({"question": name, "exit_status": status, "holds": False, "report": str(error)}))
    sys.exit(1)
coverage = report["coverage"]
device = (report["devices"] or [{}])[0]
timing = sorted({str(process.get("timing")) for process in report["processes"]})
top = max(report["operators"], key=lambda row: row["time_ns"] or 0, default={})
holds = (status == 0 and timing == ["on"] and coverage["kernels"] > 0 and not coverage["records_dropped"]
         and not coverage["kernels_untimed"] and not coverage["buffers_lost"])
print(json.dumps({
    "question": name, "exit_status": status, "device": device.get("name"), "simulated": report["simulated"],
    "timing": timing, **{key: coverage[key] for key in (
        "calls", "failed_calls", "launches", "kernels", "kernels_untimed", "kernels_unjoined", "records_dropped",
        "buffers_lost", "gpu_time_ns")},
    "gpu_time_share": coverage["gpu_time_share"],
    "top": {key: top.get(key) for key in ("kind", "name", "m", "n", "k", "calls", "time_ns", "bound", "roof_fraction")},
    "holds": holds}))
sys.exit(0 if holds else 1)
