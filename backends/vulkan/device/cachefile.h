/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/cachefile.h - files of compiled pipelines.
 *
 * A file is one device's and one driver's, which its header names, and has a
 * checksum: what was damaged, cut or written by another never gets to a driver,
 * which may trust what it reads.  Files are written beside their place and moved
 * there, so that a reader sees all of one or nothing.
 */
#ifndef GB_VULKAN_DEVICE_CACHEFILE_H
#define GB_VULKAN_DEVICE_CACHEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a file at most. */
#define GB_VK_CACHE_MOST ((size_t)64 << 20)

enum { GB_VK_UUID = 16 };

/* Whose the file is.  There is no room between members. */
struct gb_vk_cache_key {
    uint32_t vendor, device, driver; /* numbers; the driver's version */
    uint32_t unused;
    uint8_t device_uuid[GB_VK_UUID];
    uint8_t cache_uuid[GB_VK_UUID]; /* of what the driver writes */
    char version[16];               /* this library's; 0 behind it */
};

/*
 * Read the file PATH, of KEY, into *DATA, *SIZE bytes to be freed.  False where
 * that cannot be: REASON then says why, and is "" where there is no file.
 */
bool gb_vk_cache_read(
    const char *path, const struct gb_vk_cache_key *key, void **data,
    size_t *size, char *reason, size_t reason_size);

/*
 * Write SIZE bytes of DATA as the file PATH, of KEY; its folder is made.  False,
 * with the reason, and what was there is as it was.
 */
bool gb_vk_cache_write(
    const char *path, const struct gb_vk_cache_key *key, const void *data,
    size_t size, char *reason, size_t reason_size);

#endif
