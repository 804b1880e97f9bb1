/* SPDX-License-Identifier: Apache-2.0 */
/* Which copies of cuBLAS are in this process, and of which of them nothing was called or given out through this library: a
 * call that is bound past it leaves no other trace than a kernel without a call. */
#ifndef PRELOAD_BLAS_COPIES_H
#define PRELOAD_BLAS_COPIES_H

/* Reads /proc/self/maps, so off the call path only; not by the loader's list, whose lock a forked child would find taken for
 * ever. Writes a note (TRACE_NOTE_BLAS) if something has changed since the last one in this process. */
void blas_copies_note(void);

#endif
