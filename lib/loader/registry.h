/* SPDX-License-Identifier: MIT */
/*
 * loader/registry.h - what the registry shares with the table of built-in
 * backends, and with those who load modules.
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
const char *gb_builtin_name(size_t index);

/* What the open module HANDLE is registered as; NULL when it is not. */
ggml_backend_reg_t gb_registry_loaded(const void *handle);

enum gb_registry_answer {
    GB_REGISTRY_ADDED,
    GB_REGISTRY_NAME_TAKEN, /* by another registration */
    GB_REGISTRY_NO_MEMORY,
    GB_REGISTRY_OF_ANOTHER, /* built in, or what another module gave */
    GB_REGISTRY_BROKEN,     /* it lacks something, or a device of it does */
};

/*
 * Register REG, which the open module HANDLE gave, with its devices.  Unless it
 * was added, nothing is changed.  What is BROKEN is said in REASON, which has
 * room for GB_REASON_SIZE bytes.
 */
enum gb_registry_answer gb_registry_add_module(
    void *handle, const char *path, ggml_backend_reg_t reg, char *reason);

/*
 * Remember why the module at PATH was refused, once.  Without memory it is not
 * remembered.
 */
void gb_registry_refuse(const char *path, const char *reason);

#endif
