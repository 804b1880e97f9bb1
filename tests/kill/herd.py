#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A parent that loads a framework and starts workers by multiprocessing, which multiply until they are killed or told to leave.
What `victim herd` is in C.

    herd.py WITNESS COUNT METHOD LIBRARY   METHOD: fork, spawn, forkserver; LIBRARY: of gemms_run, or torch

Thread t of the worker at place p multiplies m = 16 (t + 1) by n = 4 (p + 1), and counts there what returned."""
import mmap
import multiprocessing
import os
import sys
import threading
import time

from places import CALLING, CHILD_STATUS, LEAVING, MAIN, ORDER, ORDERS, PHASE, PID, PLACE_WORDS, RETURNED, WITNESS_BYTES

THREADS, K = 2, 64


class Place:
    def __init__(self, path, place):
        with open(path, "r+b") as file:
            # One store a word: struct.pack_into() clears the place first, and who is killed there had never called.
            self.words = memoryview(mmap.mmap(file.fileno(), WITNESS_BYTES)).cast("Q")
        self.place, self.base = place, place * PLACE_WORDS

    def get(self, word):
        return self.words[self.base + word]

    def put(self, word, value):
        self.words[self.base + word] = value

    def told_to_leave(self):
        return self.get(ORDER) in (ORDERS["leave"], ORDERS["leave at once"])


def multiplier(library, m, n):
    """A function that multiplies once."""
    if library == "torch":
        import torch
        torch.cuda.set_device(0)  # makes the context this thread's
        a = torch.empty((n, K), device="cuda", dtype=torch.bfloat16)
        b = torch.empty((K, m), device="cuda", dtype=torch.bfloat16)
        out = torch.empty((n, m), device="cuda", dtype=torch.bfloat16)
        return lambda: torch.mm(a, b, out=out)
    import ctypes
    gemms = ctypes.CDLL(library)

    class Gemms(ctypes.Structure):
        _fields_ = [("of", ctypes.c_void_p * 8)]  # more than gemms.h has
    own = Gemms()
    gemms.gemms_open.restype = ctypes.c_bool
    if not gemms.gemms_open(ctypes.byref(own)):
        os._exit(97)
    return lambda: gemms.gemms_ex(ctypes.byref(own), m, n, K) and os._exit(98)


def call_on(place, library, thread):
    multiply = multiplier(library, 16 * (thread + 1), 4 * (place.place + 1))
    while not place.told_to_leave():
        multiply()
        place.put(RETURNED + thread, place.get(RETURNED + thread) + 1)
        if place.get(PHASE) == MAIN:
            place.put(PHASE, CALLING)


def work(path, index, library):
    place = Place(path, index)
    place.put(PID, os.getpid())
    place.put(PHASE, MAIN)
    threads = [threading.Thread(target=call_on, args=(place, library, thread)) for thread in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    place.put(PHASE, LEAVING)


def main():
    path, count, method, library = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
    if library == "torch":
        import torch  # as a server does: loaded once, used in its workers
        assert torch.version.cuda
    own = Place(path, 0)
    own.put(PID, os.getpid())
    context = multiprocessing.get_context(method)
    workers = [context.Process(target=work, args=(path, index + 1, library)) for index in range(count)]
    for worker in workers:
        worker.start()
    for index, worker in enumerate(workers):
        worker.join()
        status = worker.exitcode
        Place(path, index + 1).put(CHILD_STATUS, 1 + (-status if status < 0 else status << 8))
    while not own.told_to_leave():
        time.sleep(0.001)


if __name__ == "__main__":
    main()
