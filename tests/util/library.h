/* SPDX-License-Identifier: MIT */
/*
 * tests/util/library.h - libraries that a test opens itself.
 */
#ifndef GB_TESTS_UTIL_LIBRARY_H
#define GB_TESTS_UTIL_LIBRARY_H

/* The file PATH of the build's folder; until the next call. */
const char *gb_built(const char *path);

/* MEMBER, a pointer to a function, gets the address of NAME in LIBRARY, which
 * dlopen gave.  Ends the process where there is none. */
void gb_look_up(void *library, void *member, const char *name);

#endif
