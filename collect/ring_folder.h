/* SPDX-License-Identifier: Apache-2.0 */
/* Making and removing the folder of rings. */
#ifndef COLLECT_RING_FOLDER_H
#define COLLECT_RING_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RING_FOLDER_BYTES = 96 };

/* A new one in /dev/shm for the session in SESSION_FOLDER, with its control page; its name in FOLDER. False with errno set:
 * there is no memory-backed file system, no right or no room. */
bool ring_folder_make(char folder[RING_FOLDER_BYTES], uint64_t ring_bytes, const char *session_folder);
/* Most that one process may write into the session's folder itself while nobody drains its ring; before any process begins. */
void ring_folder_limit_more(const char *folder, uint64_t bytes);
/* Control page, what is half made, and the folder. False: rings are left, and it stays. */
bool ring_folder_remove(const char *folder);

#endif
