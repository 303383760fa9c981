/* SPDX-License-Identifier: MIT */
/*
 * loader/image.h - can a file be given to the system's loader?
 */
#ifndef GB_LOADER_IMAGE_H
#define GB_LOADER_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * False, with the reason in REASON (SIZE bytes), when the file at PATH cannot
 * be read, or is no whole shared object for this machine.
 */
bool gb_image_check(const char *path, char *reason, size_t size);

#endif
