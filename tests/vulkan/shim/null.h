/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/null.h - the null driver: a card that runs nothing, and whose
 * submissions are done when they are made.
 *
 * For the host's own time, and for memory that nobody touches.
 */
#ifndef GB_VULKAN_SHIM_NULL_H
#define GB_VULKAN_SHIM_NULL_H

#include "tests/vulkan/shim/shim.h"

/* What each part adds to shim_driver. */
void shim_null_card(void);
void shim_null_memory(void);
void shim_null_queue(void);

/* Memory types of the card. */
enum { NULL_TYPE_LOCAL, NULL_TYPE_HOST, NULL_TYPE_BAR, NULL_TYPES };

#endif
