/* SPDX-License-Identifier: MIT */
/*
 * loader/folder.h - folders with modules in them, good and bad ones.
 *
 * Paths of files are the functions' own until the 32nd next call.
 */
#ifndef GB_TESTS_LOADER_FOLDER_H
#define GB_TESTS_LOADER_FOLDER_H

#include <stddef.h>

/* Where the module NAME of modules/local.mk is. */
const char *module_path(const char *name);

/* A new empty folder in the build folder; removed with all that it has. */
char *folder_make(void);
void folder_remove(char *folder);

/* FOLDER/FILE. */
const char *folder_path(const char *folder, const char *file);

/* Put the module NAME, or SIZE bytes, there as FILE. */
const char *folder_add(const char *folder, const char *file, const char *name);
const char *folder_write(
    const char *folder, const char *file, const void *data, size_t size);

/*
 * The bytes of the module NAME, their count in SIZE; freed with free.
 */
unsigned char *module_read(const char *name, size_t *size);

#endif
