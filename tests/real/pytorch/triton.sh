#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the environment of setup.sh with Triton, and prints its Python as the last line. Triton brings its own assembler; a C
# compiler and Python's headers are needed besides. Ends with 77 where something is missing, and without --download where it is
# not there already.    usage: triton.sh [--download]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
triton=triton==3.8.0 # the one that requirements.txt's torch asks for

skip() { echo "SKIP: $1"; exit 77; }
command -v cc >/dev/null || command -v gcc >/dev/null || skip "Triton needs a C compiler"
others=$("$here/setup.sh" | tail -n 1)
[ -n "$others" ]
"$others" -c 'import os, sysconfig; assert os.path.exists(sysconfig.get_paths()["include"] + "/Python.h")' 2>/dev/null ||
    skip "Triton needs Python.h: install python3-dev"
. "$here/../../own_folder.sh"
folder=$(dirname "$(dirname "$others")")-triton
if [ "$(cat "$folder/rooftap-requirements.txt" 2>/dev/null)" != "$triton" ]; then
    [ "${1-}" = --download ] || skip "$triton isn't there (190 MB; -DROOFTAP_REAL_TRITON=ON)"
    echo "triton.sh: installing $triton into $folder (190 MB to download)" >&2
    own_folder "$folder"
    "$others" -m venv "$folder"
    "$folder/bin/python" -m pip --disable-pip-version-check --no-input install --quiet --no-deps --no-cache-dir "$triton" >&2
    packages() { "$1" -c 'import site; print(site.getsitepackages()[0])'; }
    packages "$others" >"$(packages "$folder/bin/python")/others.pth"
    echo "$triton" >"$folder/rooftap-requirements.txt"
fi
echo "$folder/bin/python"
