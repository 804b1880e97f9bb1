# SPDX-License-Identifier: Apache-2.0
"""What victims write down (victim.h), and the processes that a test started, with all their children."""
import ctypes
import mmap
import os
import signal
import struct
import time

PLACES, PLACE_WORDS = 64, 32
WITNESS_BYTES = PLACES * PLACE_WORDS * 8
PID, PHASE, ORDER, CHILD_STATUS, BLOCKED_TID, RETURNED = 0, 1, 2, 3, 4, 16
NONE, MAIN, CALLING, LEAVING = range(4)
ORDERS = {"none": 0, "SEGV": 1, "ABRT": 2, "_exit": 3, "quick_exit": 4, "exec": 5, "hog": 6, "leave": 7, "leave at once": 8}
AFTER_EXEC = PLACES // 2  # further on is the place of what a victim execs
PR_SET_CHILD_SUBREAPER = 36


class Witness:
    def __init__(self, path):
        self.path = str(path)
        with open(path, "wb") as file:
            file.truncate(WITNESS_BYTES)
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), WITNESS_BYTES)

    def word(self, place, index):
        return struct.unpack_from("<Q", self.memory, 8 * (place * PLACE_WORDS + index))[0]

    def order(self, place, name):
        struct.pack_into("<Q", self.memory, 8 * (place * PLACE_WORDS + ORDER), ORDERS[name])

    def pid(self, place):
        return self.word(place, PID)

    def returned(self, place, threads):
        return [self.word(place, RETURNED + thread) for thread in range(threads)]

    def places(self):
        return [place for place in range(PLACES) if self.pid(place)]


def wait_until(condition, seconds=60, step=0.0005):
    """Whether CONDITION() came to hold."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(step)
    return True


def adopt_orphans():
    """This process becomes the parent of all processes below it whose own has died: their statuses come here."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


class Nursery:
    """The children of this process, adopted ones too; no other part of it may wait for children meanwhile."""

    def __init__(self):
        self.statuses = {}

    def start(self, command, environment, out, prepare=None):
        """Its pid, once it has become COMMAND; what it says goes to the file OUT."""
        file = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        before, pid = os.readlink("/proc/self/exe"), os.fork()
        if pid:
            os.close(file)
            wait_until(lambda: program_of(pid) != before)
            return pid
        try:
            if prepare:
                prepare()
            os.dup2(file, 1)
            os.dup2(file, 2)
            os.execve(command[0], command, environment)
        finally:
            os._exit(120)

    def reap(self):
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self.statuses[pid] = os.waitstatus_to_exitcode(status)

    def ended(self, pid):
        self.reap()
        return pid in self.statuses or not is_alive(pid)

    def wait(self, pid, seconds=60):
        return wait_until(lambda: self.ended(pid), seconds)

    def is_empty(self):
        """Whether nobody is left of all that were started here and below."""
        self.reap()
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return True
        return False

    def end_all(self, pids):
        for pid in pids:
            if not self.ended(pid):
                os.kill(pid, signal.SIGKILL)
                self.wait(pid)


def state_of(pid, tid=None):
    """R, S, Z, ... or None: there is no such process any more."""
    path = f"/proc/{pid}/task/{tid}/stat" if tid else f"/proc/{pid}/stat"
    try:
        with open(path) as file:
            return file.read().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return None


def is_alive(pid):
    return state_of(pid) not in (None, "Z", "X")


def program_of(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except (FileNotFoundError, ProcessLookupError):
        return None


def sleeps(pid, tid):
    """Whether a thread is in a call that never returns: asleep, and a little later still."""
    if not tid or state_of(pid, tid) != "S":
        return False
    time.sleep(0.005)
    return state_of(pid, tid) == "S"
