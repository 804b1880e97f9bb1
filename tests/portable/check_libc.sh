#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A library asks for nothing that glibc 2.28 had in libdl or libpthread: linked here, such a name is looked for in libc.so.6,
# and loaders before 2.30 end the program when it isn't there. What libc had of pthread_*: glibc 2.28,
# sysdeps/unix/sysv/linux/x86_64/64/libc.abilist.
# usage: check_libc.sh LIBRARY
set -eu
in_libc='dl_iterate_phdr|pthread_(attr_(destroy|init|(get|set)(detachstate|inheritsched|schedparam|schedpolicy|scope))|cond_(broadcast|destroy|init|signal|timedwait|wait)|condattr_(destroy|init)|equal|exit|[gs]etschedparam|mutex_(destroy|init|lock|unlock)|self|setcancel(state|type))'
asked=$(readelf --dyn-syms -W "$1" | awk '$7 == "UND" && $8 != "" {sub("@.*", "", $8); print $8}')
[ "$(echo "$asked" | wc -l)" -gt 20 ] || { echo "$1 asks for next to nothing: is it the library?" >&2; exit 1; }
if echo "$asked" | grep -E '^(dl|pthread_|sem_|timer_|mq_|aio_|shm_)' | grep -vxE "$in_libc" >&2; then
    echo "$1: these were not in libc.so.6 of glibc 2.28; preload/glibc_compat.c looks such functions up" >&2
    exit 1
fi
echo "$(echo "$asked" | wc -l) names, all of libc"
