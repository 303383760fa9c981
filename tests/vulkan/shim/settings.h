/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/settings.h - what the environment asks of the shim.
 *
 *     GGMLBACKEND_TEST_VK_LOADER   the loader's file; what is looked for else is
 *                                  libvulkan.so.1 in the system's folders
 *     GGMLBACKEND_TEST_VK_NULL     1: a driver of the shim's own, that runs nothing
 *     GGMLBACKEND_TEST_VK_FAIL     NAME:N:RESULT, as shim_fail
 *     GGMLBACKEND_TEST_VK_LOSE     N, as shim_lose
 *     GGMLBACKEND_TEST_VK_HANG     N, as shim_hang
 *     GGMLBACKEND_TEST_VK_LATE     1: a submission begins when it is waited for
 *     GGMLBACKEND_TEST_VK_CARDS    how often each physical device is listed
 *     GGMLBACKEND_TEST_VK_LIMITS   NAME:VALUE,...: false limits, see limits.c
 *     GGMLBACKEND_TEST_VK_WITHOUT  NAME,...: functions without "vk", extensions
 *                                  and features that are not there; uuid: copies are one
 *                                  GPU; any-uuid: each UUID is zeros
 *     GGMLBACKEND_TEST_VK_COUNTS   a file to which the counts are added when the
 *                                  process ends
 */
#ifndef GB_VULKAN_SHIM_SETTINGS_H
#define GB_VULKAN_SHIM_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The value of GGMLBACKEND_TEST_VK_<NAME>; NULL where it is empty. */
const char *shim_setting(const char *name);

/* It as a number; 0 where it is none. */
uint64_t shim_setting_number(const char *name);

/* Has GGMLBACKEND_TEST_VK_WITHOUT the word NAME? */
bool shim_is_without(const char *name);

/* The value that GGMLBACKEND_TEST_VK_LIMITS has for NAME; false: none. */
bool shim_limit(const char *name, uint64_t *value);

#endif
