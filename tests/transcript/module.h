/* SPDX-License-Identifier: Apache-2.0 */
/* The one function of the library that is opened and closed. */
#ifndef TESTS_TRANSCRIPT_MODULE_H
#define TESTS_TRANSCRIPT_MODULE_H

__attribute__((visibility("default"))) int module_answer(void);

#endif
