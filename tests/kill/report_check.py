# SPDX-License-Identifier: Apache-2.0
"""What a report says of victims, compared with what they wrote down themselves."""
import json

from places import AFTER_EXEC


def calls_reported(report, place):
    """By thread: thread t multiplies m = 16 (t + 1), and all of a place n = 4 (place + 1)."""
    calls = {}
    for row in report["operators"]:
        shape = row["cublas"]
        if shape and shape["n"] == 4 * (place + 1) and shape["m"] % 16 == 0:
            thread = shape["m"] // 16 - 1
            calls[thread] = calls.get(thread, 0) + row["calls"]
    return calls


def records_differ(run, witness, threads):
    """What returned and is not in the report, or is there and was never made. RUN is that of `rooftap report --json`."""
    returned = {place: witness.returned(place, threads) for place in witness.places()}
    if run.status == 2 and not any(map(any, returned.values())):
        return None
    if run.status not in (0, 1) or not run.out:
        return f"the report ended with {run.status}: {run.err}; returned {returned}"
    report = json.loads(run.out)
    for place, counts in returned.items():
        reported = calls_reported(report, place)
        most = 0 if place >= AFTER_EXEC else 1  # a call may have been recorded that did not come back to be counted
        if any(not 0 <= reported.get(thread, 0) - count <= most for thread, count in enumerate(counts)):
            return f"place {place}: returned {counts}, reported {reported}, {report['coverage']}"
    coverage = report["coverage"]
    for count in ("records_dropped", "records_damaged", "blocks_damaged", "calls_missing"):
        if coverage[count]:
            return f"{count}: {coverage[count]}"
    return None
