/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/control.h - what tests ask of the shim besides what a loader has.
 *
 * The functions are in the shim's libvulkan.so.1: dlsym finds them.  Any thread.
 * Variables, which settings.c lists, say how it begins.
 */
#ifndef GB_VULKAN_SHIM_CONTROL_H
#define GB_VULKAN_SHIM_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

/* All counts become 0, and no call is to fail any more.  What is there is still
 * counted, and a device that was lost stays so. */
void shim_reset(void);

/* Calls since, by name without "vk"; "any": of all that have a result; "tell": of
 * all by which a device may tell that it was lost. */
uint64_t shim_calls(const char *name);

/* Let the N-th call from now fail with RESULT, a VkResult.  NAME is as above. */
void shim_fail(const char *name, uint64_t n, int result);

/* How many calls were made to fail, those of lost devices not counted. */
uint64_t shim_failures(void);

/* Let a device be lost with the N-th call of "tell": each of them fails from then
 * on.  A new device works. */
void shim_lose(uint64_t n);

/* Let the N-th submission and all behind it never end; 0: no more. */
void shim_hang(uint64_t n);

/* Objects that were made and not destroyed, but for instances and their
 * messengers. */
uint64_t shim_live(void);

/* Bytes of memory that was allocated and not freed. */
uint64_t shim_bytes(void);

/* Write of which kinds objects are there: "2 buffers, 1 pipeline". */
void shim_describe(char *text, size_t size);

/* What was done that no program may do, by the shim's own book: memory mapped that
 * the false limits have unmapped, say. */
uint64_t shim_reports(void);

#pragma GCC visibility pop

#endif
