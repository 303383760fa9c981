/* SPDX-License-Identifier: MIT */
/*
 * bench/library.h - files that the library's functions come from.
 */
#ifndef TOOLS_BENCH_LIBRARY_H
#define TOOLS_BENCH_LIBRARY_H

/* The file that this process has ggml_init from; static, never NULL. */
const char *library_here(void);

/* The file that what is at ADDRESS belongs to; NULL for none. */
const char *library_of(const void *address);

/*
 * The file of LIBRARY, a path or a name, and those that it brings along, with
 * colons between them; it has the functions of functions.def.  The caller frees
 * it; NULL after a message.
 *
 * A process of its own looks at them, since a library may do anything when it is
 * loaded.
 */
char *library_files(const char *library);

#endif
