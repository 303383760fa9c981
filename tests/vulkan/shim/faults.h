/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/faults.h - calls that fail, and devices that are lost.
 */
#ifndef GB_VULKAN_SHIM_FAULTS_H
#define GB_VULKAN_SHIM_FAULTS_H

#include "tests/vulkan/shim/shim.h"

/* Count CALL, which belongs to OWNER; true: it is to have *RESULT. */
bool shim_fails(enum shim_call call, const void *owner, VkResult *result);

/* Count a call that has no result. */
void shim_passes(enum shim_call call);

/* Is the submission that is made now one that never ends? */
bool shim_hangs(void);

/* What the environment asks for. */
void shim_faults_init(void);

#endif
