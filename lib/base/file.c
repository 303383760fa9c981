/* SPDX-License-Identifier: MIT */
/*
 * base/file.c - opening files, sizes and offsets beyond 4 GiB.
 */
#include "config.h"

#include "lib/base/file.h"

#include "lib/base/status.h"

#include <sys/stat.h>
#include <sys/types.h>

FILE *
ggml_fopen(const char *fname, const char *mode)
{
    GB_NEED_OR(NULL, fname != NULL && mode != NULL,
               "fopen: the name or the mode is NULL");
    return fopen(fname, mode);
}

/* Directories can be opened, and some systems say that they end at 2^63. */
static bool
is_directory(FILE *file)
{
    struct stat info;
    const int fd = fileno(file);

    return fd >= 0 && fstat(fd, &info) == 0 && S_ISDIR(info.st_mode);
}

bool
gb_file_tell(FILE *file, uint64_t *out)
{
    const off_t at = ftello(file);

    if (at < 0)
        return false;
    *out = (uint64_t)at;
    return true;
}

bool
gb_file_seek(FILE *file, uint64_t offset)
{
    const off_t at = (off_t)offset;

    if (at < 0 || (uint64_t)at != offset)
        return false;
    return fseeko(file, at, SEEK_SET) == 0;
}

/* By seeking, since streams over memory have no descriptor to ask. */
bool
gb_file_size(FILE *file, uint64_t *out)
{
    uint64_t at, end;

    if (is_directory(file) || !gb_file_tell(file, &at))
        return false;
    if (fseeko(file, 0, SEEK_END) != 0)
        return false;
    if (!gb_file_tell(file, &end))
        return false;
    if (!gb_file_seek(file, at))
        return false;
    *out = end;
    return true;
}
