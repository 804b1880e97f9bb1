#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Gets NVIDIA's public CUDA headers (nothing else) from the header-carrying PyPI packages into a folder.
# Usage: fetch_cuda_headers.sh MAJOR FOLDER
# Each package is under 20 MB; libraries in them are thrown away, so that no build can lean on one.
set -eu
major=${1:?usage: fetch_cuda_headers.sh MAJOR FOLDER}
. "$(dirname "$0")/../../tests/own_folder.sh"
folder=${2:?usage: fetch_cuda_headers.sh MAJOR FOLDER}

case $major in
13) packages="nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88 nvidia-cuda-cupti==13.0.85" ;;
# CUDA 12 has its crt/ folder in the compiler's package only, far over 20 MB; what is used of it didn't change.
12) packages="nvidia-cuda-runtime-cu12==12.8.90 nvidia-cuda-crt==13.0.88 nvidia-cuda-cupti-cu12==12.8.90" ;;
# For the oldest CUPTI alone.
11) packages="nvidia-cuda-runtime-cu11==11.8.89 nvidia-cuda-crt==13.0.88 nvidia-cuda-cupti-cu11==11.8.87" ;;
*)
    echo "fetch_cuda_headers.sh: no header packages known for CUDA $major, expected 11, 12 or 13" >&2
    exit 2
    ;;
esac

mkdir -p "$(dirname "$folder")"
scratch=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
# shellcheck disable=SC2086 # one argument a package
if ! python3 -m pip --disable-pip-version-check download --quiet --no-deps --only-binary=:all: \
    --dest "$scratch/wheels" $packages >&2; then
    echo "fetch_cuda_headers.sh: cannot download $packages; expected a package index that pip reaches" >&2
    exit 1
fi
python3 - "$scratch" <<'PYTHON'
import pathlib, sys, zipfile

scratch = pathlib.Path(sys.argv[1])
for wheel in sorted((scratch / "wheels").glob("*.whl")):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            head, found, tail = name.partition("/include/")
            if found and tail.endswith((".h", ".hpp")):
                target = scratch / "include" / tail
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))
PYTHON
for header in cuda.h cuda_runtime_api.h cudaTypedefs.h cupti.h crt/host_defines.h; do
    if [ ! -f "$scratch/include/$header" ]; then
        echo "fetch_cuda_headers.sh: $header is in none of $packages" >&2
        exit 1
    fi
done
own_folder "$folder"
mv "$scratch/include" "$folder"
