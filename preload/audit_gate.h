/* SPDX-License-Identifier: Apache-2.0 */
/* Where the library that the loader asks (preload/audit/, LD_AUDIT) meets this one. It lies in a namespace of its own, with
 * no C library, and calls these two by address. The loader may call it in any thread at any time, also before this library
 * is relocated: no lock, no call of the loader, and until the constructor has run nothing but a store. */
#ifndef PRELOAD_AUDIT_GATE_H
#define PRELOAD_AUDIT_GATE_H

#include <stdbool.h>

#define AUDIT_GATE_LOADED  "rooftap_audit_loaded"
#define AUDIT_GATE_BINDING "rooftap_audit_binding"

/* The loader is asked, and a library of NVIDIA's has been mapped, or this one has. */
typedef void audit_gate_loaded(void);
audit_gate_loaded rooftap_audit_loaded;

/* What stands in front of REAL, the function NAME of one of NVIDIA's libraries, for a caller that is about to be bound to
 * it past this library. NULL: nothing. */
typedef void *audit_gate_binding(const char *name, void *real);
audit_gate_binding rooftap_audit_binding;

/* Whether the loader is asked in this process. */
bool audit_gate_is_attached(void);

#endif
