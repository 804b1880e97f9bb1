#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Gets llama.cpp as its users have it, to run on the simulated GPU: the CUDA 12 libraries of a wheel (unpacked, it is of another
# Python), headers of llama.cpp from a source package, and the Python packages that write a GGUF. Does nothing if all is there.
# Prints the folder: lib/ (libllama, the CPU's and the GPU's part as files that llama.cpp finds by name), include/, python/.
# Usage: fetch.sh [--offline] [FOLDER]  (default: llamacpp in $ROOFTAP_CACHE, or in .deps of the source tree)
# $LLAMACPP_DOWNLOADS may name a folder that holds the two archives already. Ends with 77 if something can't be had.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
wheel_name=cyllama-cuda12 wheel_version=0.7.0
wheel_sum=9591e5eea596a44a2a8a9546fc95515e52fadffc81bb8b50f1c6003df36689e5
source_name=llama-cpp-python source_version=0.3.36
source_sum=832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e
packages="gguf==0.19.0 numpy==2.3.5 PyYAML==6.0.3 tqdm==4.67.1 requests==2.32.5 urllib3==2.5.0 idna==3.11 certifi==2025.10.5 \
charset-normalizer==3.4.4"

offline=
[ "${1-}" != --offline ] || { offline=yes; shift; }
folder=${1:-${ROOFTAP_CACHE:-$root/.deps}/llamacpp}
list="$wheel_name $wheel_version, $source_name $source_version, $packages, $(python3 --version | cut -d . -f 1-2)"
skip() {
    echo "fetch.sh: $*" >&2
    exit 77
}

[ "$(uname -m)" = x86_64 ] || skip "the wheel $wheel_name is for x86_64 alone"
if [ "$(cat "$folder/packages" 2>/dev/null)" = "$list" ]; then
    echo "$folder"
    exit 0
fi
[ -z "$offline" ] || skip "$folder isn't filled; tests/llamacpp/fetch.sh does it, a download of 190 MB"

mkdir -p "$(dirname "$folder")"
scratch=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# An archive of a name like $1 with the sum $2: from the folder of downloads, or as $3... gets it into $scratch/archives.
archive() {
    pattern=$1 sum=$2
    shift 2
    mkdir -p "$scratch/archives"
    found=$(find "${LLAMACPP_DOWNLOADS:-/nonexistent}" -maxdepth 1 -name "$pattern" 2>/dev/null | head -n 1)
    if [ -z "$found" ]; then
        echo "fetch.sh: downloading $pattern" >&2
        "$@" >&2 || skip "cannot download $pattern; expected a package index that pip reaches"
        found=$(find "$scratch/archives" -name "$pattern" | head -n 1)
    fi
    [ "$(sha256sum "$found" | cut -d ' ' -f 1)" = "$sum" ] || skip "$found is another file than expected, by its SHA-256"
    echo "$found"
}
pip() {
    python3 -m pip --disable-pip-version-check --no-input "$@"
}

python3 -m pip --version >/dev/null 2>&1 || skip "python3 has no pip; install python3-pip"
wheel=$(archive 'cyllama_cuda12-*.whl' $wheel_sum pip download --quiet --no-deps --only-binary=:all: --python-version 3.12 \
    --platform manylinux2014_x86_64 --platform manylinux_2_35_x86_64 --dest "$scratch/archives" \
    "$wheel_name==$wheel_version")
source=$(archive 'llama_cpp_python-*.tar.gz' $source_sum python3 "$here/download_sdist.py" $source_name $source_version \
    "$scratch/archives")

mkdir -p "$scratch/made/lib" "$scratch/made/include"
# A backend is looked for under its plain name; the others refer to each other by theirs.
python3 - "$wheel" "$source" "$scratch/made" <<'PYTHON'
import pathlib, re, sys, tarfile, zipfile

wheel, source, made = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        file = name.rpartition("/")[2]
        if "cyllama_cuda12.libs/" in name and re.match(r"lib(ggml|llama)[-.]", file):
            backend = re.match(r"(libggml-(?:cuda|cpu))-\w+\.so$", file)
            (made / "lib" / (backend[1] + ".so" if backend else file)).write_bytes(archive.read(name))
        elif name.endswith(".dist-info/licenses/LICENSE"):
            (made / "LICENSE").write_bytes(archive.read(name))
with tarfile.open(source) as archive:
    for member in archive:
        header = re.search(r"/vendor/llama\.cpp/(?:ggml/)?include/([\w.-]+\.h)$", member.name)
        if header and member.isfile():
            (made / "include" / header[1]).write_bytes(archive.extractfile(member).read())
expected = ["lib/libggml-cuda.so", "lib/libggml-cpu.so", "include/llama.h", "include/ggml.h"]
missing = [name for name in expected if not (made / name).exists()]
if missing:
    sys.exit(f"fetch.sh: {', '.join(missing)} in none of the archives")
PYTHON
# shellcheck disable=SC2086 # one argument a package
pip install --quiet --no-deps --no-compile --root-user-action=ignore --target "$scratch/made/python" $packages >&2 ||
    skip "cannot install $packages; expected a package index that pip reaches"
PYTHONPATH=$scratch/made/python python3 -c 'import gguf' || skip "gguf doesn't load with $(python3 --version)"
echo "$list" >"$scratch/made/packages"
. "$(dirname "$0")/../own_folder.sh"
own_folder "$folder"
mv "$scratch/made" "$folder"
echo "$folder"
