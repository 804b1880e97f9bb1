/* SPDX-License-Identifier: Apache-2.0 */
/* A process that ends and used nothing of CUDA: whether its libraries were there, so that a report can say why not. */
#ifndef PRELOAD_UNUSED_LIBRARIES_H
#define PRELOAD_UNUSED_LIBRARIES_H

/* From the thread that exits. Notes the process in FOLDER's unused_cuda if it has a CUDA library loaded; else no system call. */
void unused_libraries_note(const char *folder);

#endif
