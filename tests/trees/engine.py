#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""engine.py LIBRARY METHOD: an entry process that starts an engine process, which starts two workers by METHOD (fork, spawn,
forkserver). The engine makes 7 calls after its workers were started, each worker 25; the first worker is killed. Prints the
pids, the parents as the workers see them, and the workers' exit codes, as JSON."""
import ctypes
import json
import multiprocessing
import os
import signal
import sys

path = sys.argv[1] if len(sys.argv) > 1 else None


def work(library, pipe):
    failed = ctypes.CDLL(library).gemms_run(25, 64, 32, 16)
    pipe.send((os.getpid(), os.getppid(), failed))
    pipe.recv()  # until told to leave, or killed


def run_engine(library, method, pipe):
    context = multiprocessing.get_context(method)
    workers = []
    for rank in range(2):
        os.environ["RANK"] = str(rank)
        os.environ["MASTER_ADDR"] = "nobody's business"
        ours, theirs = context.Pipe()
        process = context.Process(target=work, args=(library, theirs))
        process.start()
        workers.append((process, ours))
    told = [ours.recv() for _, ours in workers]
    assert not any(failed for _, _, failed in told)
    assert ctypes.CDLL(library).gemms_run(7, 64, 32, 16) == 0
    os.kill(workers[0][0].pid, signal.SIGKILL)
    workers[1][1].send("leave")
    for process, _ in workers:
        process.join()
    pipe.send({"engine": os.getpid(), "workers": [pid for pid, _, _ in told],
               "parents": {pid: parent for pid, parent, _ in told}, "codes": [p.exitcode for p, _ in workers]})


def main():
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    engine = context.Process(target=run_engine, args=(path, sys.argv[2], theirs))
    engine.start()
    print(json.dumps(ours.recv()))
    engine.join()
    sys.exit(engine.exitcode)


if __name__ == "__main__":
    main()
