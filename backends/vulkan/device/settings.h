/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/settings.h - what the environment asks of the backend.
 */
#ifndef GB_VULKAN_DEVICE_SETTINGS_H
#define GB_VULKAN_DEVICE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

/* The variable NAME: NULL where it is not set, empty, or 0. */
const char *gb_vk_setting(const char *name);

/* Is the variable NAME, which is on or off, on?  Where it is not set it is, and
 * where it is anything else, which is told. */
bool gb_vk_setting_is_on(const char *name);

/* The variable NAME as bytes, a number that K, M or G may follow, in either case;
 * OTHERWISE where it is not set, or 0, or is no such number, which is logged
 * once. */
size_t gb_vk_setting_bytes(const char *name, size_t otherwise);

/* Has GGMLBACKEND_VULKAN_TEST, words with commas between them, WORD? */
bool gb_vk_test_has(const char *word);

/*
 * Read "2,0" into OUT: numbers below N, each once, at most CAPACITY of them.  The
 * count; -1 for text that is anything else.
 */
int gb_vk_read_list(const char *text, int n, int capacity, int *out);

#endif
