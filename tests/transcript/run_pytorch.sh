#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_pytorch.py in the environment that tests/real makes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
python=$("$here/../real/pytorch/setup.sh" | tail -n 1)
[ -n "$python" ]
exec python3 -B "$here/test_pytorch.py" "$python"
