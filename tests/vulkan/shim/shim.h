/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/shim.h - a call's way: the function that the client got (wrap.c),
 * which counts it and may have it fail; what changes its meaning, if something is
 * to (inner); the driver's, or the null driver's.
 */
#ifndef GB_VULKAN_SHIM_H
#define GB_VULKAN_SHIM_H

#include "backends/vulkan/driver/later.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum shim_call {
#define GB_SHIM_MAKE(name, kind, made, parameters, arguments) SHIM_##name,
#define GB_SHIM_MANY(name, kind, n, made, parameters, arguments) SHIM_##name,
#define GB_SHIM_DROP(name, kind, dropped, parameters, arguments) SHIM_##name,
#define GB_SHIM_CALL(name, parameters, arguments) SHIM_##name,
#define GB_SHIM_TELL(name, parameters, arguments) SHIM_##name,
#define GB_SHIM_VOID(name, parameters, arguments) SHIM_##name,
#include "tests/vulkan/shim/calls.def"
    SHIM_CALLS
};

struct shim_table {
#define GB_SHIM_MAKE(name, kind, made, parameters, arguments) PFN_vk##name name;
#define GB_SHIM_MANY(name, kind, n, made, parameters, arguments) PFN_vk##name name;
#define GB_SHIM_DROP(name, kind, dropped, parameters, arguments) PFN_vk##name name;
#define GB_SHIM_CALL(name, parameters, arguments) PFN_vk##name name;
#define GB_SHIM_TELL(name, parameters, arguments) PFN_vk##name name;
#define GB_SHIM_VOID(name, parameters, arguments) PFN_vk##name name;
#include "tests/vulkan/shim/calls.def"
};

/* The driver's functions; NULL where it has none.  The null driver has those that
 * do something, and all that make objects. */
extern struct shim_table shim_driver;

/* What the wrapping functions call: the driver's, or what stands for it. */
extern struct shim_table shim_inner;

struct shim_row {
    const char *name; /* without "vk" */
    PFN_vkVoidFunction wrapping;
    size_t offset;    /* of the member in a table */
    bool has_result;
    bool tells;       /* that a device was lost */
};

extern const struct shim_row shim_rows[SHIM_CALLS];

/* The row called NAME; SHIM_CALLS: there is none. */
enum shim_call shim_find(const char *name);

/* Let FUNCTION stand for the driver's. */
void shim_override(enum shim_call call, PFN_vkVoidFunction function);

/* ---- parts ---- */

/* Is a null driver asked for? */
bool shim_is_null(void);

/* Fill shim_driver with the null driver's functions. */
void shim_null_init(void);

#endif
