/* SPDX-License-Identifier: MIT */
/*
 * loader/image.h - files that can be given to the system's loader.
 */
#ifndef GB_LOADER_IMAGE_H
#define GB_LOADER_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

/* A file that is open and was looked at. */
struct gb_image {
    const char *path; /* the caller's */
    int fd;
    bool has_origin; /* it names files beside it, by $ORIGIN */
};

/*
 * False, with the reason in REASON (SIZE bytes), when the file at PATH cannot
 * be read, or is no whole shared object for this machine.
 */
bool gb_image_open(
    const char *path, struct gb_image *out, char *reason, size_t size);
void gb_image_close(struct gb_image *image);

/*
 * What dlopen gives for the open file, which stays as it was looked at even
 * when PATH means another by now.  NULL, with the reason from dlerror.
 */
void *gb_image_load(const struct gb_image *image);

/* What is wrong with SIZE bytes as a file; NULL for nothing. */
const char *gb_image_check(const void *bytes, size_t size);

#endif
