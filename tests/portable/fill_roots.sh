#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts the C libraries of other releases into FOLDER/RELEASE, each with its headers, for test_roots.py: three packages of
# each, unpacked, nothing installed, no root rights needed. Packages come from where this system's apt gets its own, signed
# by keys that it trusts; RELEASE=URI names another place, as for a release that has gone to an archive or one of
# another distribution whose key is in /etc/apt/trusted.gpg.d.
# What is there already stays. 77 where apt isn't what this system is made of.
# usage: fill_roots.sh FOLDER [RELEASE[=URI]...]      (default: bullseye trixie)
set -eu
folder=${1:?usage: fill_roots.sh FOLDER [RELEASE[=URI]...]}
shift
[ $# -gt 0 ] || set -- bullseye trixie
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || { echo "skipped: no apt-get and dpkg-deb"; exit 77; }
architecture=$(dpkg --print-architecture)
# The archive that this system's own release is in: the first that has a plain name of a release, no "-updates".
own=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' | awk '$2 !~ /-|^$/ {print $1; exit}')
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fill() { # RELEASE URI
    state=$scratch/$1
    mkdir -p "$state/lists/partial" "$state/archives/partial" "$state/packages"
    : >"$state/status"
    echo "deb [arch=$architecture] $2 $1 main" >"$state/sources.list"
    set -- "$1" -q -o Dir::Etc::SourceList="$state/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$state/lists" -o Dir::State::Status="$state/status" -o Dir::Cache="$state" \
        -o Dir::Cache::Archives="$state/archives" -o Acquire::Languages=none -o APT::Sandbox::User=root \
        -o APT::Architecture="$architecture" -o APT::Architectures::="$architecture"
    release=$1
    shift
    apt-get "$@" update >"$state/log" 2>&1 || { cat "$state/log" >&2; return 1; }
    (cd "$state/packages" && apt-get "$@" download libc6 libc6-dev linux-libc-dev) >"$state/log" 2>&1 ||
        { cat "$state/log" >&2; return 1; }
    rm -rf "$folder/$release.new"
    mkdir "$folder/$release.new"
    # Newer releases have /lib as a part of /usr: older packages' files come to lie there as well.
    for link in lib lib64; do
        mkdir -p "$folder/$release.new/usr/$link"
        ln -s "usr/$link" "$folder/$release.new/$link"
    done
    for package in "$state"/packages/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$folder/$release.new"
    done
    # Links of theirs that start at / would lead out to this system's files.
    find "$folder/$release.new" -type l -lname '/*' | while read -r link; do
        ln -sfnr "$folder/$release.new$(readlink "$link")" "$link"
    done
    rm -rf "${folder:?}/$release"
    mv "$folder/$release.new" "$folder/$release"
}

for release in "$@"; do
    [ ! -d "$folder/${release%%=*}" ] || continue
    case $release in
    *=*) fill "${release%%=*}" "${release#*=}" ;;
    *)
        [ -n "$own" ] || { echo "fill_roots.sh: apt names no archive: give RELEASE=URI" >&2; exit 2; }
        fill "$release" "$own"
        ;;
    esac
    name=${release%%=*}
    echo "$name: glibc $("$folder/$name"/lib64/ld-linux-x86-64.so.2 "$folder/$name"/lib/x86_64-linux-gnu/libc.so.6 |
        sed -n '1s/.*version \([0-9.]*[0-9]\).*/\1/p')"
done
