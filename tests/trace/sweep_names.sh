#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sweep_names.sh TEST_KERNEL_SIGNATURE FILE...: every mangled name of a function in the FILEs (libraries with kernels, lists
# of names) must be spelled as c++filt spells it, except expressions, which are "?". Prints counts and the first names that
# are not. Not part of the suite: it is for a new library of kernels.
set -eu
test=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
strings -n 6 "$@" | grep -o '^_Z[A-Za-z0-9_]*$' | sort -u >"$work/names"
c++filt <"$work/names" >"$work/wanted"
"$test" --spell <"$work/names" >"$work/seen"
paste "$work/names" "$work/wanted" "$work/seen" | awk -F'\t' '
$1 == $2 || $2 !~ /\)( const)?$/ || $2 ~ /^guard variable/ { next }
{ all++ }
$2 == $3 { same++; next }
$3 ~ /[<({, ]\?/ { expressions++; next }
{ if (++wrong <= 10) print "name   " $1 "\nwanted " $2 "\nseen   " $3 }
END { printf "%d names, %d spelled alike, %d with expressions, %d wrong\n", all, same, expressions, wrong; exit wrong > 0 || !same }'
