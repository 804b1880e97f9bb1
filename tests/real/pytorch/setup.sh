#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a virtual environment of exactly the packages of a list, by default that of the PyTorch test (about 1.5 GB), none of
# NVIDIA's libraries among them. Does nothing if it is there already. Prints its Python as the last line.
# Usage: setup.sh [FOLDER [LIST]]   (default: $ROOFTAP_CACHE or .deps of the source tree, and venv-torch in it)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
. "$here/../../own_folder.sh"
folder=${1:-${ROOFTAP_CACHE:-$root/.deps}/venv-torch}
list=${2:-$here/requirements.txt}
stamp=$folder/rooftap-requirements.txt

if [ -f "$stamp" ] && cmp -s "$list" "$stamp" && "$folder/bin/python" -c '' 2>/dev/null; then
    echo "$folder/bin/python"
    exit 0
fi

# The wheels are for these Pythons; Debian 12's own is 3.11.
python=
for candidate in ${PYTHON:-} python3 python3.11 python3.12 python3.13 /usr/bin/python3; do
    if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    echo "setup.sh: no Python 3.11 to 3.13 found; install python3 or set PYTHON" >&2
    exit 2
fi

echo "setup.sh: making $folder with $("$python" --version)" >&2
own_folder "$folder"
mkdir -p "$(dirname "$folder")"
if ! "$python" -m venv "$folder" >/dev/null 2>&1; then
    own_folder "$folder"
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "setup.sh: installing python3-venv" >&2
        apt-get -qq update && apt-get -qq install -y --no-install-recommends python3-venv python3-pip >/dev/null
        "$python" -m venv "$folder"
    else
        echo "setup.sh: $python cannot make virtual environments; install python3-venv" >&2
        exit 2
    fi
fi
# --no-deps: every package is listed, and the vendor's libraries, which torch asks for, must stay out.
size=$(sed -n 's/^# Download: //p' "$list")
echo "setup.sh: installing the packages of $list, a download of ${size:-700 MB}" >&2
"$folder/bin/python" -m pip --disable-pip-version-check --no-input install --quiet --no-deps --no-cache-dir \
    -r "$list" >&2
if ls -d "$folder"/lib/python3*/site-packages/nvidia >/dev/null 2>&1; then
    echo "setup.sh: $folder holds packages of NVIDIA's, which the simulator's libraries would clash with" >&2
    exit 1
fi
cp "$list" "$stamp"
echo "setup.sh: done" >&2
echo "$folder/bin/python"
