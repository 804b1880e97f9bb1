#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""late.py LIBRARY SCRATCH LEFT [BEFORE...]: loads BEFORE and as many copies of SUBJECT_FILLER, which has 64 bytes of static TLS,
as there is room for, less LEFT; then SUBJECT_LATE; then computes by LIBRARY. Says what could not be loaded."""
import ctypes
import os
import shutil
import sys

MOST = 200
library, scratch, left, *before = sys.argv[1:]
left = int(left)


def loads(path):
    try:
        return ctypes.CDLL(path, mode=os.RTLD_NOW)
    except OSError as error:
        return print(path.rsplit("/", 1)[-1], error) if path in before or "TLS" not in str(error) else None


def fill(leave):
    """What a fresh child has room for, since what is loaded stays."""
    count = 0
    while count < MOST:
        copy = os.path.join(scratch, f"filler{count}.so")
        if not os.path.exists(copy):
            shutil.copy(os.environ["SUBJECT_FILLER"], copy)
        if leave is not None and count >= leave or not loads(copy):
            break
        count += 1
    return count


held = [loads(path) for path in before]
read, write = os.pipe()
if os.fork() == 0:
    os.write(write, str(fill(None)).encode())
    os._exit(0)
os.wait()
room = int(os.read(read, 16))
print("room for some", left < room < MOST, "filled", fill(room - left) == room - left)
print("late", loads(os.environ["SUBJECT_LATE"]) is not None)
print("failed", ctypes.CDLL(library).gemms_run(30, 64, 32, 16))
