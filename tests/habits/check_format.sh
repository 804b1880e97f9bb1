#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_format.sh ROOT: every C file is as clang-format leaves it. Tables keep their hand alignment between off and on.
cd "${1:?root of the tree}" || exit 1
command -v clang-format >/dev/null || { echo "no clang-format"; exit 77; }
git rev-parse --git-dir >/dev/null 2>&1 || { echo "not a git tree"; exit 77; }
git ls-files -z '*.c' '*.h' | xargs -0 -r clang-format --dry-run -Werror 2>&1 | grep 'error:' | cut -d: -f1 | sort | uniq -c >&2
git ls-files -z '*.c' '*.h' | xargs -0 -r clang-format --dry-run -Werror >/dev/null 2>&1
