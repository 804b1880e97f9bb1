/* SPDX-License-Identifier: Apache-2.0 */
/* A library that is opened and closed. Built a second time it needs the shim, and pulls it in. */
#include "module.h"

int module_answer(void)
{
    return 42;
}
