#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the page's tests drive: Debian's Chromium, and Playwright in a virtual environment of its own. Does nothing if both are
# there. Prints two lines: the environment's Python, the browser. Ends with 77 if something can't be had.
# Usage: setup.sh [--offline] [FOLDER]   (default: venv-browser in $ROOFTAP_CACHE, or in .deps of the source tree)
# $ROOFTAP_BROWSER may name another Chromium.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
. "$here/../own_folder.sh"
. "$root/cmake/need_packages.sh"
list=$here/requirements.txt

offline=
[ "${1-}" != --offline ] || { offline=yes; shift; }
folder=${1:-${ROOFTAP_CACHE:-$root/.deps}/venv-browser}
skip() {
    echo "setup.sh: $*" >&2
    exit 77
}

find_browser() {
    for candidate in ${ROOFTAP_BROWSER:+"$ROOFTAP_BROWSER"} chromium chromium-browser google-chrome; do
        if command -v "$candidate"; then return 0; fi
    done
    return 1
}
# Exactly the versions of the list.
is_made() {
    "$folder/bin/python" - "$list" 2>/dev/null <<'PYTHON'
import importlib.metadata, re, sys

wanted = re.findall(r"^([\w-]+)==(\S+)$", open(sys.argv[1]).read(), re.M)
sys.exit(not wanted or any(importlib.metadata.version(name) != version for name, version in wanted))
PYTHON
}

# One at a time: tests of several builds may begin together.
mkdir -p "$(dirname "$folder")"
exec 9>"$folder.lock"
flock 9

browser=$(find_browser) || {
    [ -z "$offline" ] || skip "no Chromium; tests/page/setup.sh installs it"
    need_packages chromium fonts-dejavu-core >&2 || skip "cannot install chromium"
    browser=$(find_browser) || skip "no Chromium; expected the package chromium, or its path in ROOFTAP_BROWSER"
}
if ! is_made; then
    [ -z "$offline" ] || skip "$folder isn't filled; tests/page/setup.sh does it, a download of 50 MB"
    python=
    for candidate in ${PYTHON:-} python3 python3.11 python3.12 python3.13 /usr/bin/python3; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
            python=$candidate
            break
        fi
    done
    [ -n "$python" ] || skip "no Python from 3.10 on; install python3 or set PYTHON"
    echo "setup.sh: making $folder with $("$python" --version), a download of 50 MB" >&2
    own_folder "$folder"
    "$python" -m venv "$folder" >&2 || skip "$python cannot make virtual environments; install python3-venv"
    "$folder/bin/python" -m pip --disable-pip-version-check --no-input install --quiet --no-deps --no-cache-dir \
        -r "$list" >&2 || skip "cannot install the packages of $list; expected a package index that pip reaches"
    is_made || skip "$folder hasn't the versions of $list"
fi
echo "$folder/bin/python"
echo "$browser"
