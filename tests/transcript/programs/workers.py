#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""workers.py LIBRARY METHOD: three workers of multiprocessing compute by LIBRARY; their parent, which has used CUDA first where
METHOD is not fork, prints what they say in order."""
import ctypes
import multiprocessing
import os
import sys
import time

LIBRARY, METHOD = sys.argv[1:3]


def descriptors():
    """Those that stay: a thread that just started, of CUDA or of rooftap, has a file of /proc open for a moment."""
    before, now = None, sorted(os.listdir("/proc/self/fd"))
    while now != before:
        time.sleep(0.02)
        before, now = now, sorted(os.listdir("/proc/self/fd"))
    return now


def work(index, queue):
    failed = ctypes.CDLL(LIBRARY).gemms_run(20 + index, 16 * (index + 1), 8, 8)
    queue.put((index, failed, descriptors() if METHOD == "spawn" else None))
    if index == 1:
        os._exit(31)
    sys.exit(30 + index)


if __name__ == "__main__":
    context = multiprocessing.get_context(METHOD)
    if METHOD != "fork":
        print("parent", ctypes.CDLL(LIBRARY).gemms_run(7, 64, 64, 64))
    answers, codes = [], []
    for index in range(3):  # one after the other, so that descriptors have the same numbers
        queue = context.SimpleQueue()
        worker = context.Process(target=work, args=(index, queue))
        worker.start()
        answers.append(queue.get())
        worker.join()
        codes.append(worker.exitcode)
    print(answers, codes)
