#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# decode_loop compiles with the vendor's headers too. Skipped (77) where there are none.
# Usage: check_headers.sh CC SOURCES INCLUDE
set -eu
cc=$1 sources=$2 include=$3
if [ ! -e "$include/cublasLt.h" ]; then
    echo "skipped: no cublasLt.h in $include"
    exit 77
fi
exec "$cc" -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only -I"$sources" -isystem "$include" "$sources"/*.c
