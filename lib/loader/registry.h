/* SPDX-License-Identifier: MIT */
/*
 * loader/registry.h - the table of built-in backends, for the registry.
 */
#ifndef GB_LOADER_REGISTRY_H
#define GB_LOADER_REGISTRY_H

#include "ggml-backend.h"

/*
 * The registration of the INDEX-th built-in backend, in the order in which they
 * are registered; NULL behind the last, and for one that does not work on this
 * machine.
 */
size_t gb_builtin_count(void);
ggml_backend_reg_t gb_builtin_reg(size_t index);

#endif
