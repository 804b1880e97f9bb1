#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Gets uPlot 1.6.31 (MIT licence: uplot_licence.txt), which the page plots with, out of the PyPI package youplot into a folder.
# Usage: fetch_uplot.sh FOLDER
# The two files are known by their hashes: they are those of the tag 1.6.31 of leeoniya/uPlot.
set -eu
folder=${1:?usage: fetch_uplot.sh FOLDER}
. "$(dirname "$0")/../../tests/own_folder.sh"

mkdir -p "$(dirname "$folder")"
scratch=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
if ! python3 -m pip --disable-pip-version-check download --quiet --no-deps --only-binary=:all: --retries 1 --timeout 15 \
    --dest "$scratch/wheels" youplot==1.0.0 >&2; then
    echo "fetch_uplot.sh: cannot download youplot==1.0.0; expected a package index that pip reaches" >&2
    exit 1
fi
python3 - "$scratch" <<'PYTHON'
import hashlib, pathlib, sys, zipfile

FILES = {
    "uplot.iife.min.js": "2d27e8ad3d228164525ce213f9dc716f39b4e3aee0cc773fb3491c96cf4921a2",
    "uplot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
}
scratch = pathlib.Path(sys.argv[1])
(scratch / "uplot").mkdir()
with zipfile.ZipFile(next((scratch / "wheels").glob("youplot-*.whl"))) as wheel:
    for name, expected in FILES.items():
        content = wheel.read(f"youplot/vendor/{name}")
        found = hashlib.sha256(content).hexdigest()
        if found != expected:
            sys.exit(f"fetch_uplot.sh: {name} of youplot has SHA-256 {found}, expected {expected}; not used")
        (scratch / "uplot" / name).write_bytes(content)
PYTHON
own_folder "$folder"
mv -T "$scratch/uplot" "$folder" # two configurations at once: the second finds the first one's
