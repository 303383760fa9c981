/* SPDX-License-Identifier: MIT */
/*
 * levels/backends/layout.h - where a level's headers put the members of the
 * structs that backends fill.
 */
#ifndef GB_TESTS_LEVELS_LAYOUT_H
#define GB_TESTS_LEVELS_LAYOUT_H

#include <stddef.h>

struct layout {
    const char *name; /* "struct.member", or "struct" for its size */
    size_t value;     /* bytes */
};

/* Lists that end with a NULL name. */
extern const struct layout layout_2023[];
extern const struct layout layout_2024[];

#endif
