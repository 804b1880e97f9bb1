# SPDX-License-Identifier: Apache-2.0
"""Writes trace files after trace/FORMAT.md, with names and texts of any bytes. Small sessions only: nothing here is fast."""
import struct

BLOCK, HEADER, MAGIC, MASK = 65536, 128, b"ROOFTAP\n", 2**64 - 1
PROCESS, ENTRY, DEVICE, NOTE, NAME, SIGNATURE, CALL, CALL_FAILED, LAUNCH_SHAPE, LAUNCH, KERNEL = 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12
END, TIMING, WINDOW = 14, 28, 29
NOTES = {"timing_on": 1, "timing_off": 2, "hook_level": 3, "writer": 4, "device": 5, "shapes_off": 6, "timing_cut": 7, "join": 8,
         "escaped": 9, "graph_nodes": 10, "blas": 11, "ring": 12, "rank": 13, "profiler": 14, "graphs": 15, "overhead": 16,
         "lengths": 17, "no_records": 18, "marks": 19}
UNKNOWN = -1


def fold(left, right):
    product = left * right
    return (product ^ product >> 64) & MASK


def content_hash(content):
    value = 0x9e3779b97f4a7c15
    padded = content + bytes(-len(content) % 16)
    for low, high in struct.iter_unpack("<QQ", padded):
        value = fold(low ^ 0x9fb21c651e98df25, high ^ value)
    return fold(value ^ 0xc2b2ae3d27d4eb4f, len(content) ^ 0xff51afd7ed558ccd) or 1


class Trace:
    """The trace of one process. Its blocks stay open, which needs no checksum."""

    def __init__(self, pid):
        self.pid, self.blocks, self.said = pid, [], {}
        self.clock_ns, self.call_id, self.correlation = 1_800_000_000_000_000_000, 0, 0

    def _room(self, size):
        if self.blocks and len(self.blocks[-1]) + size <= BLOCK:
            return
        self.said = {}
        self.blocks.append(bytearray(struct.pack(
            "<8sHHIIIQIIQIIQQQQQQ24x", MAGIC, 1, 6, BLOCK, 1, 1, 0x5000 + self.pid, self.pid, self.pid, len(self.blocks) + 1, 2, 0,
            10**9, self.clock_ns, self.clock_ns, 0, 0, 0)))

    def add(self, kind, payload):
        """Returns the record's offset in its block."""
        size = (8 + len(payload) + 7) & ~7
        self._room(size)
        offset, sequence = len(self.blocks[-1]), len(self.blocks)
        commit = ((sequence << 16 ^ offset) * 0x9e3779b97f4a7c15 & MASK) >> 32 | 1
        self.blocks[-1] += struct.pack("<HHI", kind, size, commit) + payload.ljust(size - 8, b"\0")
        return offset

    def process(self, command, version=b"0"):
        """COMMAND: arguments with NUL between, as /proc has them."""
        self.add(PROCESS, struct.pack("<IIQQIHH", self.pid, 1, self.clock_ns, self.clock_ns, 0, len(command), len(version)) +
                 command + version)

    def entry(self, number, name):
        self.add(ENTRY, struct.pack("<II", number, len(name)) + name)

    def device(self, name, ordinal=0, pci=0x2684, sms=128, simulated=0):
        self.add(DEVICE, struct.pack("<IIIIIiiiqqiiiiii16s256s", ordinal, pci, 0, ordinal + 1, 0, sms, 8, 9, UNKNOWN, UNKNOWN, UNKNOWN,
                                     UNKNOWN, UNKNOWN, UNKNOWN, 0, simulated, bytes([ordinal + 1] * 16), name[:255]))

    def note(self, code, text, value=0):
        self.add(NOTE, struct.pack("<IiQII", NOTES[code], value, self.clock_ns, len(text), 0) + text)

    def mark(self, text):
        self.add(WINDOW, struct.pack("<QQIIII", self.clock_ns, self.clock_ns, 3, 3, 0, len(text)) + text)

    def timing(self, text):
        self.add(TIMING, struct.pack("<QIIIIQQQ", self.clock_ns, 1, 2, 26, len(text), 0, 0, 0) + text)

    def name(self, text):
        identity = content_hash(text)
        self.add(NAME, struct.pack("<QII", identity, len(text), len(text)) + text)
        return identity

    def _say(self, kind, content, room):
        """Offset in this block of what a record of ROOM bytes that follows refers to, and its id."""
        identity = content_hash(content)
        self._room(8 + 8 + len(content) + 8 + room + 16)
        if identity not in self.said:
            self.said[identity] = self.add(kind, struct.pack("<Q", identity) + content)
        return self.said[identity], identity

    def _kernel(self, name_id, owner, owner_id, duration_ns):
        self.correlation += 1
        end = self.clock_ns + duration_ns
        self.add(KERNEL, struct.pack("<QQQQQBBHIIIIIQ3I3III", name_id, self.clock_ns, end, self.call_id, owner_id, owner, 1 if owner else 0,
                                     0, self.correlation, 0, 0, 7, 0, 0, 64, 1, 1, 128, 1, 1, 0, 0))
        self.clock_ns = end + 100

    def gemm(self, m, n, k, name_id, duration_ns=20000, entry=1, times=1):
        """y = W·x in bf16: M rows, a weight of N times K."""
        content = struct.pack("<IBBBBIBBBB4q4q4q4i6i4i4iBBBB4xqQ4q", entry, 1, 1, 1, 0, 0, 1, 0, 2, 1, n, m, k, 1, 0, 0, 0, 0, 0, 0, 0, 0,
                              14, 14, 14, 14, 68, 0, 0, 1, UNKNOWN, UNKNOWN, 0, 0, 0, 0, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN,
                              0, 255, 255, 0, 0, 0, 0, 0, 0, 0)
        for _ in range(times):
            offset, identity = self._say(SIGNATURE, content, 56)
            self.call_id += 1
            self.add(CALL, struct.pack("<IIQQ3QQ", offset, 1000, self.clock_ns, 7, 0x1000, 0x2000, 0x3000, self.call_id))
            self._kernel(name_id, 1, identity, duration_ns)

    def launch(self, name_id, duration_ns=3000, entry=2):
        content = struct.pack("<QI3I3II", name_id, entry, 64, 1, 1, 128, 1, 1, 0)
        offset, identity = self._say(LAUNCH_SHAPE, content, 40)
        self.call_id += 1
        self.add(LAUNCH, struct.pack("<IIQQQQ", offset, 1000, self.clock_ns, 7, self.call_id, 0))
        self._kernel(name_id, 2, identity, duration_ns)

    def write(self, folder, name=None):
        self.add(END, struct.pack("<Q", self.clock_ns))
        path = folder / (name or f"{self.pid}-1-{self.pid:016x}.trace")
        path.write_bytes(b"".join(bytes(block).ljust(BLOCK, b"\0") for block in self.blocks))
        return path
