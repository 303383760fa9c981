/* SPDX-License-Identifier: MIT */
/*
 * base/file.h - opening files, sizes and offsets beyond 4 GiB.
 */
#ifndef GB_BASE_FILE_H
#define GB_BASE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes in the file; false when it cannot be asked (a pipe). */
bool gb_file_size(FILE *file, uint64_t *out);
bool gb_file_tell(FILE *file, uint64_t *out);
bool gb_file_seek(FILE *file, uint64_t offset);

#endif
