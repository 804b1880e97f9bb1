# SPDX-License-Identifier: Apache-2.0
"""The simulator's ledger in its mode `api` as sequences that two runs can be compared by: addresses become the call that gave
them out, times and counters are left out.

What a process did is {"threads": {tid: [item, ...]}, "main": tid, "work": [item, ...]}: each thread's calls in order, and the
process's kernels, copies and fills in order. Items are tuples; item[0] is the function or kind of work."""
import bisect
import json
import re

ONLY_TELLS = re.compile(r"GraphNodeGetDependencies")  # the shim asks where a capture is; whoever made the nodes names them
MAKES = re.compile(r"Create|Alloc|Malloc|Instantiate|EndCapture|Add|Clone|Load|BeginCapture")
SIZES = ("size", "bytesize", "bytes", "totalSize")
LARGE = 1 << 32  # numbers from there on may be addresses
OF_RUN = ("start", "end", "seq", "pid", "tid", "correlation", "time", "type", "outer")


class Addresses:
    """What the process knows under which address: "FUNCTION#N" is what the Nth call of FUNCTION in its thread gave out."""

    def __init__(self):
        self.starts, self.blocks, self.counts = [], {}, {}

    def define(self, address, function, tid, size):
        known = self.blocks.get(address)
        if known and not MAKES.search(function):
            return
        count = self.counts[tid, function] = self.counts.get((tid, function), 0) + 1
        if not known:
            bisect.insort(self.starts, address)
        self.blocks[address] = (size, f"{function}#{count}")

    def forget(self, address):
        if address in self.blocks:
            del self.blocks[address]
            self.starts.remove(address)

    def name(self, address):
        """None: not an address that was given out."""
        at = bisect.bisect_right(self.starts, address) - 1
        if at < 0:
            return None
        start = self.starts[at]
        size, label = self.blocks[start]
        if address - start >= max(size, 1):
            return None
        return label if address == start else f"{label}+{address - start}"

    def value(self, value):
        """A value of args{} or results{}: pointers are strings, numbers may be device addresses."""
        if isinstance(value, str) and re.fullmatch(r"0x[0-9a-f]+", value):
            return self.name(int(value, 0)) or "host"
        if isinstance(value, int) and value >= LARGE:
            return self.name(value) or value
        if isinstance(value, list):
            return tuple(self.value(one) for one in value)
        return value


def define_results(addresses, line):
    if ONLY_TELLS.search(line["function"]):
        return
    size = next((line["args"][key] for key in SIZES if isinstance(line["args"].get(key), int)), 1)
    size = size if re.search("Alloc|Malloc|Reserve", line["function"]) else 1
    for value in line.get("results", {}).values():
        number = int(value, 0) if isinstance(value, str) else value if isinstance(value, int) else 0
        if isinstance(value, str) or number >= LARGE and re.search("Alloc|Malloc|Reserve", line["function"]):
            addresses.define(number, line["function"], line["tid"], size)


def forget_freed(addresses, line):
    """What lies there next may be anything, on the host as well."""
    if re.search("Destroy|Free|Unload", line["function"]) and not line["status"]:
        for value in line["args"].values():
            if isinstance(value, (str, int)):
                addresses.forget(int(value, 0) if isinstance(value, str) and value.startswith("0x") else value)


def call_item(addresses, line, threads):
    args = {key: value for key, value in line["args"].items() if not (threads and key == "stream_id")}
    named = tuple((key, addresses.value(value)) for key, value in args.items())
    # A size that is left on the device is the run's.
    results = tuple((key, addresses.value(value)) for key, value in line.get("results", {}).items())
    return (line["function"], named, results if "MemGetInfo" not in line["function"] else (), line["status"],
            line.get("nested"))


def parameter(addresses, text):
    if len(text) != 16:
        return text
    number = int.from_bytes(bytes.fromhex(text), "little")
    return addresses.name(number) or ("host" if number >= 1 << 40 else text)


def work_item(addresses, line, threads):
    left_out = OF_RUN + (("stream", "graph", "node", "call") if threads else ())
    fields = {key: value for key, value in line.items() if key not in left_out}
    if isinstance(fields.get("params"), list):
        fields["params"] = [parameter(addresses, text) for text in fields["params"]]
    return (line["type"], json.dumps(fields, sort_keys=True))


def process_of(path, threads, one_at_a_time=False):
    """THREADS: the order among threads is the run's, and what is numbered across threads with it. ONE_AT_A_TIME: who made a
    call is left out."""
    addresses, made, main = Addresses(), {"threads": {}, "work": []}, None
    with open(path) as file:
        for line in map(json.loads, (text for text in file if text.endswith("\n"))):
            main = line["pid"]
            if one_at_a_time:
                line["tid"] = main
            if line["type"] in ("kernel", "copy", "memset", "host"):
                made["work"].append(work_item(addresses, line, threads))
                continue
            if line["type"] == "api":
                define_results(addresses, line)
            if line["type"] == "init" and threads:
                continue  # of whichever thread was the first
            item = call_item(addresses, line, threads) if line["type"] in ("api", "call") else \
                (line["type"], line.get("function", ""))
            made["threads"].setdefault(line["tid"], []).append(item)
            if line["type"] == "api":
                forget_freed(addresses, line)
    if threads:
        made["work"].sort()
    made.update(main=main, one_at_a_time=one_at_a_time)
    return made
