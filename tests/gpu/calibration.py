#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""calibration.py NAME STATUS CALIBRATION REPORT: one line of JSON on what `rooftap calibrate` measured, beside the specification
and the clocks of a recording; 1 if that can't be right."""
import json
import sys

name, status = sys.argv[1], int(sys.argv[2])
try:
    with open(sys.argv[3], encoding="utf-8") as file:
        calibration = json.load(file)
    with open(sys.argv[4], encoding="utf-8") as file:
        device = json.load(file)["devices"][0]
except (OSError, ValueError, LookupError) as error:
    print(json.dumps({"question": name, "exit_status": status, "holds": False, "calibration": str(error)}))
    sys.exit(1)

roofs = {(roof["type"], roof["accumulate"], roof["unit"]): roof for roof in device["roofs"]}
paths, of_specification = {}, []
for row in calibration["gemm"]:
    peak = roofs.get((row["type"], row["accumulate"], row["unit"]), {}).get("flops_per_second")
    share = row["flops_per_second"] / peak if peak else None
    of_specification += [share] if share else []
    paths[f"{row['type']}/{row['accumulate']}/{row['unit']}"] = {
        "tflops": row["flops_per_second"] / 1e12, "median_tflops": (row["median_flops_per_second"] or 0) / 1e12,
        "of_specification": share, "shape": [row["m"], row["n"], row["k"]]}
bandwidth, launch = calibration["bandwidth"], calibration["launch"]
specified = next((roof["bytes_per_second"] for roof in device["roofs"]), None)
points = bandwidth["by_blocks"]
rises = all(later["bytes_per_second"] > 0.8 * sooner["bytes_per_second"] for sooner, later in zip(points, points[1:]))
# Clocks above the specification's and random operands leave room on both sides; a wrong type or shape would not.
holds = (status == 0 and len(paths) >= 4 and all(0.2 < share < 1.25 for share in of_specification)
         and (not specified or 0.4 < bandwidth["copy_bytes_per_second"] / specified < 1.1)
         and (not specified or 0.4 < bandwidth["read_bytes_per_second"] / specified < 1.1)
         and len(points) > 5 and rises and points[0]["bytes_per_second"] < 0.5 * points[-1]["bytes_per_second"]
         and 200 < launch["empty_kernel_ns"] < 20000
         and (calibration["gpu"]["simulated"] or 200 < launch["enqueue_ns"] < 100000)
         and device["calibration"] is not None and device["clocks"]["readings"] > 0)
print(json.dumps({
    "question": name, "exit_status": status, "gpu": calibration["gpu"], "cublas": calibration["cublas"],
    "seconds": calibration["seconds"], "stopped_early": calibration["stopped_early"], "clocks": calibration["clocks"],
    "paths": paths, "copy_of_specification": specified and bandwidth["copy_bytes_per_second"] / specified,
    "bandwidth": bandwidth, "launch": launch, "clocks_of_the_recording": device["clocks"], "holds": holds}))
sys.exit(0 if holds else 1)
