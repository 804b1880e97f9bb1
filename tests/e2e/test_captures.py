#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""I09: what a capture notices of rooftap. The simulator's ledger of calls has each function that is called, whoever calls it:
between the begin and the end of a capture there are the program's own, in their order, and a few getters. Graphs have as
many nodes as without rooftap, and counts of launches are there even where nothing is timed."""

import json
import struct

from recording import Case, main, plain, program

REPLAYS = 3
MODES = ("captured", "updated", "forked", "nested", "threads")
# Of the driver: what a stream captures into and after what, and of a node its type, what it depends on and its number.
GETTERS = {"cuStreamGetCaptureInfo_v2", "cuStreamGetCaptureInfo_v3", "cuStreamIsCapturing", "cuGraphNodeGetDependencies",
           "cuGraphNodeGetDependencies_v2", "cuGraphNodeGetType", "cuGraphNodeGetToolsId", "cuGraphGetId", "cuFuncGetName"}
# Of cuBLAS's handles and descriptors: nothing of CUDA's.
BLAS_GETTERS = {"cublasGetPointerMode_v2", "cublasGetMathMode", "cublasGetStream_v2", "cublasLtMatmulDescGetAttribute",
                "cublasLtMatrixLayoutGetAttribute"}
ASKED = {"callbacks": {"cuStreamIsCapturing"}, "capture": GETTERS, "off": set()} # the first: before a graph's launch is counted
GRAPH_NODE, GRAPH_LAUNCHES = 31, 32


def captured_calls(lines):
    """Names of functions by thread, from each begin to its end."""
    inside, found = {}, []
    for line in lines:
        if line["type"] != "api":
            continue
        name, thread = line["function"], line["tid"]
        if "BeginCapture" in name:
            inside[thread] = []
        elif "EndCapture" in name:
            found.append(inside.pop(thread))
        elif thread in inside:
            inside[thread].append(name)
    return sorted(found)


def records_of(session, kind, layout):
    """Payloads of one type: records lie on 8 bytes, and begin with type, size and a word that is never 0."""
    found = []
    for path in session.traces:
        content = path.read_bytes()
        for at in range(0, len(content) - 8 - layout.size, 8):
            if struct.unpack_from("<HH", content, at) == (kind, 8 + layout.size) and content[at + 4:at + 8] != bytes(4):
                found.append(layout.unpack_from(content, at + 8))
    return found


class Captures(Case):
    def calls_alone(self, mode):
        path = self.scratch / f"alone-{mode}"
        run = plain([program("graphs"), mode, str(REPLAYS)], {"SIMGPU_LEDGER": str(path), "SIMGPU_LEDGER_MODE": "api"})
        self.assertEqual(run.status, 0, run.err)
        with open(path) as file:
            return captured_calls(map(json.loads, file)), run.out

    def test_nothing_else_is_called(self):
        for mode in MODES:
            alone, nodes = self.calls_alone(mode)
            self.assertTrue(alone)
            for graphs in ("callbacks", "capture", "off"):
                with self.subTest(mode, graphs=graphs):
                    session = self.recorded([program("graphs"), mode, str(REPLAYS)],
                                            environment={"ROOFTAP_GRAPHS": graphs, "SIMGPU_LEDGER_MODE": "api"})
                    recorded = captured_calls(session.ledger())
                    added = {name for calls in recorded for name in calls} - {name for calls in alone for name in calls}
                    self.assertLessEqual(added, BLAS_GETTERS | ASKED[graphs])
                    self.assertEqual("cuGraphNodeGetType" in added, graphs == "capture")
                    own = sorted([name for name in calls if name not in added] for calls in recorded)
                    self.assertEqual(own, alone)
                    self.assertEqual(session.run.out, nodes)

    def test_counts_without_times(self):
        """No kernel is timed: each executable's launches are counted all the same, and its nodes' calls known."""
        session = self.recorded([program("graphs"), "updated", str(REPLAYS)], options=["--timing", "off"])
        ran = {line["graph"] for line in session.ledger("kernel") if line["graph"]}
        self.assertEqual(len(ran), 1)
        launches = records_of(session, GRAPH_LAUNCHES, struct.Struct("<QQII"))
        self.assertEqual({graph for _, _, graph, _ in launches}, ran)
        self.assertEqual(max(count for _, count, _, _ in launches), 4 * REPLAYS + 6)
        self.assertEqual([ended for *_, ended in sorted(launches, key=lambda record: (record[1], record[3]))][-1], 1)
        nodes = records_of(session, GRAPH_NODE, struct.Struct("<QQQQQIBBHQ"))
        self.assertEqual({node >> 32 for node, *_ in nodes}, ran)
        # The executable starts as the first graph, and becomes the second, the third (as the first) and the second again:
        # of its four nodes the kernel stays what it was.
        since = {number: sorted(record[9] for record in nodes if record[0] & 0xffffffff == number) for number in range(4)}
        changes = [0, REPLAYS, 2 * REPLAYS + 1, 3 * REPLAYS + 3]
        self.assertEqual(since, {0: changes, 1: [0], 2: changes, 3: changes})


if __name__ == "__main__":
    main()
