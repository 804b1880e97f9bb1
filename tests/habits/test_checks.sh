#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The checks themselves: each must find the fault that is planted for it, and accept the tree without it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failed=0

make_tree() {
    rm -rf tree && mkdir -p tree/trace tree/cupti tree/cli tree/sim/core && cd tree || exit 1
    printf '/* SPDX-License-Identifier: Apache-2.0 */\n/* Its job. */\n#include <stdio.h>\n' >trace/trace.h
    printf '/* SPDX-License-Identifier: Apache-2.0 */\n/* Its job. */\n#include "trace/trace.h"\n' >cupti/timing.c
    printf '/* SPDX-License-Identifier: Apache-2.0 */\n/* Its job. */\n#include "preload/settings.h"\n' >cli/main.c
    printf '/* SPDX-License-Identifier: Apache-2.0 */\n/* Its job. */\n#include <cuda.h>\n' >sim/core/core.c
    for folder in trace cupti cli sim sim/core; do echo "# $folder" >$folder/README.md; done
    git init -q . && git add . && cd ..
}
accepts() { # CHECK...
    "$@" "$scratch/tree" >out 2>&1 || { echo "refuses a good tree: $*"; cat out; failed=1; }
}
refuses() { # WHAT CHECK...
    local what=$1
    shift
    git -C tree add .
    "$@" "$scratch/tree" >out 2>&1 && { echo "does not see $what"; failed=1; }
    make_tree
}

make_tree
accepts "$here/check_includes.py"
accepts "$here/check_tree.py"
echo '#include "cupti/timing.h"' >>tree/trace/trace.h; refuses "an include upwards" "$here/check_includes.py"
echo '#include "preload/wrappers.h"' >>tree/cli/main.c; refuses "preload/ in cli/" "$here/check_includes.py"
echo '#include "trace/trace.h"' >>tree/sim/core/core.c; refuses "trace/ in sim/" "$here/check_includes.py"
echo '#include <cublas_v2.h>' >>tree/cupti/timing.c; refuses "a vendor header in the core" "$here/check_includes.py"
echo '#include "timing.h"' >>tree/cupti/timing.c; refuses "a name without its folder" "$here/check_includes.py"
echo 'int x;' >tree/trace/a.c; refuses "a missing SPDX line" "$here/check_tree.py"
printf '# SPDX-License-Identifier: Apache-2.0\nfolder=$1\nrm -rf "$folder" && mkdir "$folder"\n' >tree/cli/a.sh; refuses "a removed argument" "$here/check_tree.py"
sed -i '/job/d' tree/trace/trace.h; refuses "a missing opening comment" "$here/check_tree.py"
rm tree/trace/README.md; refuses "a missing README" "$here/check_tree.py"
printf '/* TO''DO */\n' >>tree/trace/trace.h; refuses "an open end" "$here/check_tree.py"
printf '/* /hom''e/me/x */\n' >>tree/trace/trace.h; refuses "a machine path" "$here/check_tree.py"
printf 'int x; ' >>tree/trace/trace.h; refuses "no newline at the end" "$here/check_tree.py"
mkdir -p build && echo 'add_test(a_test "true")' >build/CTestTestfile.cmake
failures() { # ROW
    mkdir -p tree/tests && echo "/* X01 */" >tree/tests/a.c && echo "$1" >tree/tests/FAILURES.md
    "$here/check_failures.py" tree build >out 2>&1
}
failures "| X01 | what | a_test | tests/a.c |" || { echo "refuses a good table of failures"; cat out; failed=1; }
for row in "" "| X01 | what | no_test | tests/a.c |" "| X01 | what | a_test | tests/b.c |" "| X02 | what | a_test | tests/a.c |" \
    "| X01 | what | a_test |"; do
    failures "$row" && { echo "does not see a wrong table of failures: $row"; failed=1; }
done
if command -v clang-format >/dev/null; then
    accepts "$here/check_format.sh"
    echo 'int   x ;' >>tree/trace/trace.h; refuses "a badly formatted line" "$here/check_format.sh"
fi

# The page's sources: a good page, then one fault at a time.
make_page() {
    rm -rf page && mkdir -p page/report/page
    printf '<!-- SPDX-License-Identifier: Apache-2.0 -->\n<link rel="stylesheet" href="a.css">\n<script src="a.js"></script>\n<script src="sample.js"></script>\n' >page/report/page/page.html
    printf '/* SPDX-License-Identifier: Apache-2.0 */\n/* Its job: no innerHTML. */\n"use strict";\nvar a = b ? .5 : c.textContent;\n' >page/report/page/a.js
    printf '/* SPDX-License-Identifier: Apache-2.0 */\na { color: red }\n' >page/report/page/a.css
}
page_refuses() { # WHAT FILE LINE
    echo "$3" >>"page/report/page/$2"
    "$here/check_page.py" page >out 2>&1 && { echo "does not see $1 in the page: $3"; failed=1; }
    make_page
}
make_page
"$here/check_page.py" page >out 2>&1 || { echo "refuses a good page"; cat out; failed=1; }
for line in 'a.innerHTML = b;' 'a.insertAdjacentHTML("x", b);' 'document.write(a);' 'eval (a);' 'new Function(a);' 'setTimeout("a", 1);' \
    'a.setAttribute("onclick", b);' 'a.setAttribute("style", b);' 'a = b.toLocaleString();' 'new Intl.NumberFormat();' 'localStorage.a = 1;' \
    'fetch(a);' 'new XMLHttpRequest();' 'a = "https://example.com/";' 'a = b?.c;' 'a = b ?? c;' 'try { a(); } catch { b(); }' 'a.replaceAll(b, c);'; do
    page_refuses "a forbidden call" a.js "$line"
done
page_refuses "a URL" a.css 'b { background: url(x.png) }'
page_refuses "a style attribute" page.html '<p style="x"></p>'
page_refuses "a handler" page.html '<p onclick="x"></p>'
page_refuses "a script of its own" page.html '<script>a()</script>'
page_refuses "a part that is not there" page.html '<script src="b.js"></script>'
page_refuses "a part that is named twice" page.html '<script src="a.js"></script>'
page_refuses "a part that is not named" b.js "$(cat page/report/page/a.js)"
sed -i 1d page/report/page/a.css; page_refuses "a missing SPDX line" a.css ""
if command -v node >/dev/null; then page_refuses "wrong syntax" a.js 'var = ;'; fi
exit $failed
