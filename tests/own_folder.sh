# SPDX-License-Identifier: Apache-2.0
# Sourced by scripts that are given a folder to work in: own_folder FOLDER removes what is there, unless that can't be a
# test's own. An argument that is shifted by one names a source tree or a build as readily as a scratch folder.
own_folder()
{
    case ${1:-} in
    /*/*/*) ;;
    *) echo "$0: '${1:-}' is no folder of a test: expected a full path; nothing removed" >&2; exit 99 ;;
    esac
    for own_of_others in .git CMakeLists.txt CMakeCache.txt; do
        if [ -e "$1/$own_of_others" ]; then
            echo "$0: $1 has a $own_of_others, so it is no folder of a test; nothing removed" >&2
            exit 99
        fi
    done
    rm -rf --one-file-system "$1"
}
