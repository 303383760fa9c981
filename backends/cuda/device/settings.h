/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/settings.h - what the environment asks of the backend.
 */
#ifndef GB_CUDA_DEVICE_SETTINGS_H
#define GB_CUDA_DEVICE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

/* The variable NAME: NULL where it is not set, or empty. */
const char *gb_cuda_setting(const char *name);

/* The same, and NULL where it is 0: that is off, for every variable. */
const char *gb_cuda_setting_if_on(const char *name);

static inline bool
gb_cuda_setting_is_on(const char *name)
{
    return gb_cuda_setting_if_on(name) != NULL;
}

/* The variable NAME, which is ON or off; ON where it is not set, or neither,
 * which is told. */
bool gb_cuda_setting_is(const char *name, const char *on);

/* Say, once for each NAME, that its value IS_WHAT, and not used. */
void gb_cuda_setting_refuse(const char *name, const char *is_what);

/*
 * The variable NAME as bytes, a number that K, M or G may follow; OTHERWISE
 * where it is not set or 0.  A value that is no such number is logged, and OTHERWISE
 * returned.
 */
size_t gb_cuda_setting_bytes(const char *name, size_t otherwise);

/*
 * Read "2,0,0" into OUT: numbers below N, at most CAPACITY of them, from TEXT.
 * The count; -1 for text that is anything else.
 */
int gb_cuda_read_list(const char *text, int n, int capacity, int *out);

/* Read "512M" into *BYTES; false, with it untouched, for other text. */
bool gb_cuda_read_bytes(const char *text, size_t *bytes);

#endif
