#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A parent that loads a CUDA library and lets workers of multiprocessing use it, as servers of models do.

    workers.py LIBRARY METHOD HOW COUNT   METHOD: fork, spawn, forkserver; HOW: return, sys.exit, os._exit
    workers.py LIBRARY idle               loads the library, waits a moment, and leaves

Prints its own pid and, for each worker, pid, exit code and what it was told to leave with, as JSON."""
import ctypes
import json
import multiprocessing
import os
import sys
import time

library = ctypes.CDLL(sys.argv[1])  # as `import torch` does: loaded, not initialised
CALLS = 25


def work(how, status):
    if library.gemms_run(CALLS, 64, 32, 16):
        os._exit(99)
    if how == "os._exit":
        os._exit(status)
    if how == "sys.exit":
        sys.exit(status)


def main():
    if sys.argv[2] == "idle":
        time.sleep(0.5)  # for whoever might do something behind its back
        print(json.dumps({"parent": os.getpid(), "workers": []}))
        return
    method, how, count = sys.argv[2], sys.argv[3], int(sys.argv[4])
    context = multiprocessing.get_context(method)
    statuses = [0 if how == "return" else 30 + i for i in range(count)]
    workers = [context.Process(target=work, args=(how, status)) for status in statuses]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(json.dumps({"parent": os.getpid(), "workers": [[w.pid, w.exitcode, s] for w, s in zip(workers, statuses)]}))


if __name__ == "__main__":
    main()
