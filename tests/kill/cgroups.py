# SPDX-License-Identifier: Apache-2.0
"""Control groups of a test, where this machine lets it make some: one that is short of memory, one that is killed whole."""
import contextlib
import itertools
import os
import pathlib
import time

MOUNTS = pathlib.Path("/proc/self/mounts")
numbers = itertools.count()


def mounted(kind, option=None):
    """Where a hierarchy of KIND (cgroup, cgroup2) with a controller lies."""
    for line in MOUNTS.read_text().splitlines():
        _, folder, found, options = line.split()[:4]
        if found == kind and (not option or option in options.split(",")):
            return pathlib.Path(folder)
    return None


class Group:
    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()

    def add(self, pid):
        (self.folder / "cgroup.procs").write_text(str(pid))

    def remove(self):
        for _ in range(200):
            with contextlib.suppress(OSError):
                self.folder.rmdir()
                return
            time.sleep(0.01)


def make(hierarchy, files):
    """A new group with a file set to a value each; None: no right, no such hierarchy, no such file."""
    if not hierarchy:
        return None
    group = None
    try:
        group = Group(hierarchy / f"rooftap-kill-{os.getpid()}-{next(numbers)}")
        for name, value in files.items():
            (group.folder / name).write_text(value) if value else (group.folder / name).stat()
        return group
    except OSError:
        if group:
            group.remove()
        return None


def short_of_memory(limit_bytes):
    """Whoever takes more in it is killed by the kernel."""
    first = make(mounted("cgroup", "memory"), {"memory.limit_in_bytes": str(limit_bytes)})
    if first:
        return first
    unified = mounted("cgroup2")
    with contextlib.suppress(OSError):
        if unified:
            (unified / "cgroup.subtree_control").write_text("+memory")
    return make(unified, {"memory.max": str(limit_bytes)})


def killed_whole():
    """As with memory.oom.group: all processes in it at once, by kill()."""
    return make(mounted("cgroup2"), {"cgroup.kill": ""})


def kill(group):
    (group.folder / "cgroup.kill").write_text("1")
