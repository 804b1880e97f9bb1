/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptors of a process that works beside the target. */
#ifndef COLLECT_DESCRIPTORS_H
#define COLLECT_DESCRIPTORS_H

/* Nothing but KEPT stays open, and 0, 1 and 2 lead nowhere: a pipe that somebody reads to its end must not wait for this
 * process. */
void descriptors_close_others(int kept);

#endif
