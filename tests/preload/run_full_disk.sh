#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A full disk under the trace: the program sees nothing of it, what was lost is counted. Needs a mount of its own; without
# the right to make one it is skipped (77).    usage: run_full_disk.sh SHIM HOST DUMP FOLDER
set -eu
if [ "${INSIDE_FULL_DISK:-}" != 1 ]; then
    unshare -m true 2>/dev/null || { echo "no right to mount: skipped"; exit 77; }
    INSIDE_FULL_DISK=1 exec unshare -m sh "$0" "$@"
fi
shim=$1 host=$2 dump=$3 folder=$4
. "$(dirname "$0")/../own_folder.sh"
own_folder "$folder"
mkdir -p "$folder"
mount -t tmpfs -o size=4m none "$folder" || { echo "no right to mount: skipped"; exit 77; }
LD_PRELOAD=$shim ROOFTAP_DIR=$folder "$host" threads 4 20000 || { echo "the program failed" >&2; exit 1; }
"$dump" "$folder" >/dev/shm/full_disk.$$ || { rm -f /dev/shm/full_disk.$$; exit 1; }
begun=$(grep -o '"calls_begun":[0-9]*' /dev/shm/full_disk.$$ | tr -dc '0-9\n' | awk '{s += $1} END {print s}')
recorded=$(grep -c '^{"record":"call"' /dev/shm/full_disk.$$)
dropped=$(grep -o '"dropped":[0-9]*' /dev/shm/full_disk.$$ | tr -dc '0-9\n' | awk '{s += $1} END {print s}')
rm -f /dev/shm/full_disk.$$
[ "$begun" -eq 160000 ] || { echo "$begun calls begun, 160000 were made" >&2; exit 1; }
[ "$recorded" -gt 0 ] && [ "$dropped" -gt 0 ] || { echo "$recorded recorded, $dropped dropped: the disk was not full" >&2; exit 1; }
echo "160000 calls: $recorded recorded, $dropped records counted as dropped"
