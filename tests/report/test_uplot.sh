#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_uplot.sh SOURCE CMAKE CC: where uPlot is from, and that a build without it goes on and says so.
set -u
source=$1 cmake=$2 compiler=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
fail() {
    echo "FAILED: $*"
    failed=1
}
python=$(command -v python3)

# ---- fetching it: nothing is left where it fails ----
mkdir bin
cat >bin/python3 <<SCRIPT
#!/bin/bash
# Stands for pip: puts \$WHEEL where a download goes, or fails as it does without an index.
[ "\${2-}" = pip ] || exec "$python" "\$@"
[ -n "\${WHEEL-}" ] || { echo "ERROR: no index" >&2; exit 1; }
while [ "\$1" != --dest ]; do shift; done
mkdir -p "\$2" && cp "\$WHEEL" "\$2/youplot-1.0.0-py3-none-any.whl"
SCRIPT
chmod +x bin/python3
fetch() { PATH=$work/bin:$PATH "$source/report/page/fetch_uplot.sh" "$work/to/uplot" >out 2>&1; }
fetch && fail "a download that failed is no error"
grep -q "cannot download youplot==1.0.0; expected a package index" out || fail "$(cat out)"
mkdir -p youplot/vendor && echo "var uPlot;" >youplot/vendor/uplot.iife.min.js && echo "" >youplot/vendor/uplot.min.css
"$python" -m zipfile -c wrong.whl youplot/
WHEEL=$work/wrong.whl fetch && fail "other files than the pinned ones are taken"
grep -q "uplot.iife.min.js of youplot has SHA-256 [0-9a-f]*, expected 2d27e8ad.*; not used" out || fail "$(cat out)"
[ -z "$(ls -A to)" ] || fail "a failed download leaves $(ls -A to)"

# ---- a build ----
configure() { # OPTION...
    rm -rf "$work/build"
    "$cmake" -S "$source" -B build -DCMAKE_C_COMPILER="$compiler" -DROOFTAP_TESTS=OFF -DROOFTAP_SIM=OFF "$@" >out 2>&1
}
page() { "$cmake" --build build --target rooftap_page >out 2>&1 || fail "no page: $(tail -5 out)"; }
template=build/report/page/page_template.c.html

configure -DROOFTAP_UPLOT=OFF || fail "configuring without uPlot: $(tail -5 out)"
[ "$(grep -c "will show a still picture, without hover or zoom" out)" = 1 ] || fail "without uPlot CMake does not say so: $(cat out)"
page
grep -q '@picture@' $template || fail "a page without uPlot has no place for the picture"
grep -qi 'drawn by uPlot\|\.uplot {' $template && fail "a page without uPlot has some of it"

mkdir own && echo "var uPlot = 'own copy';" >own/uplot.iife.min.js && echo ".uplot { color: red }" >own/uplot.min.css
configure -DROOFTAP_UPLOT="$work/own" || fail "configuring with a copy of uPlot: $(tail -5 out)"
page
grep -q "own copy" $template && grep -q 'drawn by uPlot, MIT licence' $template || fail "a copy of uPlot is not put in with its notice"
echo "var uPlot = 'newer copy';" >own/uplot.iife.min.js
page
grep -q "newer copy" $template || fail "a copy that changed is not put in"

configure -DROOFTAP_UPLOT="$work/no" && fail "a folder without uPlot is taken"
grep -q "ROOFTAP_UPLOT is $work/no, which lacks uplot" out || fail "$(cat out)"
exit $failed
