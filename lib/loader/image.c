/* SPDX-License-Identifier: MIT */
/*
 * loader/image.c - files that can be given to the system's loader.
 *
 * dlopen(3) says of a file for another machine that there is no such file, and
 * ends the process over one that was cut short or damaged.  So the file is
 * looked at before (elf.c, elf-dynamic.c).  What the machine is need not be
 * known: the file must say the same as the library's own header.
 *
 * The file is opened once.  What was looked at is then loaded by the name that
 * the system has for an open file, and known by its path afterwards.  Where
 * there is no such name, and for a file that looks for others beside its path,
 * the path is opened once more: it is compared with the open file just before.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dlinfo */
#endif
#include "config.h"

#include "lib/loader/image.h"

#include "lib/base/attr.h"
#include "lib/base/lock.h"
#if defined(HAVE_LINK_H)
#include "lib/loader/elf.h"
#endif

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where a reason is written. */
struct answer {
    char *reason;
    size_t size;
};

GB_PRINTF(2, 3)
static bool
no(const struct answer *answer, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(answer->reason, answer->size, fmt, args);
    va_end(args);
    return false;
}

#if defined(HAVE_LINK_H)
static const char *
check_bytes(struct gb_elf_bytes *bytes, bool *has_origin)
{
    struct gb_elf elf;
    const char *wrong = gb_elf_open(&elf, bytes);

    *has_origin = false;
    if (wrong == NULL)
        wrong = gb_elf_check_dynamic(&elf, has_origin);
    gb_elf_close(&elf);
    return wrong;
}

static const char *
check_file(struct gb_image *image, uint64_t size)
{
    struct gb_elf_bytes bytes;

    bytes.fd = image->fd;
    bytes.size = size;
    bytes.window_at = 0;
    bytes.window_size = 0;
    return check_bytes(&bytes, &image->has_origin);
}

const char *
gb_image_check(const void *bytes, size_t size)
{
    struct gb_elf_bytes in_memory;
    bool has_origin;

    in_memory.fd = -1;
    in_memory.memory = bytes;
    in_memory.size = size;
    return check_bytes(&in_memory, &has_origin);
}
#else
static const char *
check_file(struct gb_image *image, uint64_t size)
{
    (void)size;
    image->has_origin = true; /* nothing is known, so the path is kept */
    return NULL;
}

const char *
gb_image_check(const void *bytes, size_t size)
{
    (void)bytes, (void)size;
    return NULL;
}
#endif

static bool
is_ordinary(const struct stat *status, const struct answer *answer)
{
    if (S_ISDIR(status->st_mode))
        return no(answer, "is a folder");
    if (!S_ISREG(status->st_mode))
        return no(answer, "is no ordinary file");
    if (status->st_size == 0)
        return no(answer, "is empty");
    return true;
}

bool
gb_image_open(
    const char *path, struct gb_image *out, char *reason, size_t size)
{
    const struct answer answer = { reason, size };
    struct gb_image image = { .path = path, .fd = -1 };
    struct stat status;
    const char *wrong;

    /* What is no file is not opened: that alone may do something. */
    if (stat(path, &status) != 0)
        return no(&answer, "cannot be found: %s", strerror(errno));
    if (!is_ordinary(&status, &answer))
        return false;
    image.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (image.fd < 0 || fstat(image.fd, &status) != 0) {
        no(&answer, "cannot be read: %s", strerror(errno));
        goto close_image;
    }
    if (!is_ordinary(&status, &answer))
        goto close_image;
    wrong = check_file(&image, (uint64_t)status.st_size);
    if (wrong != NULL) {
        no(&answer, "is %s", wrong);
        goto close_image;
    }
    *out = image;
    return true;

close_image:
    gb_image_close(&image);
    return false;
}

void
gb_image_close(struct gb_image *image)
{
    if (image->fd >= 0)
        close(image->fd);
    image->fd = -1;
}

/* ---- loading ---- */

static bool
is_same_file(const struct gb_image *image, const char *path)
{
    struct stat ours, other;

    return fstat(image->fd, &ours) == 0 && stat(path, &other) == 0 &&
           ours.st_dev == other.st_dev && ours.st_ino == other.st_ino &&
           ours.st_size == other.st_size;
}

#if defined(HAVE_LINK_H) && defined(RTLD_NOLOAD) && \
    (defined(__GLIBC__) || defined(RTLD_DI_LINKMAP))
enum { MAX_NAME = 1024 };

/* Files that the loader knows by such names, which it never forgets. */
static atomic_uint n_named;

/*
 * The name of the open file, written so that it never meant another file: the
 * loader takes equal names for one.  False where there is no such name.
 */
static bool
name_open_file(const struct gb_image *image, char *name)
{
    static const char folder[] = "/proc/self/fd/";
    const unsigned n_more =
        atomic_load_explicit(&n_named, memory_order_relaxed);
    const size_t n = sizeof(folder) - 1 + n_more;

    if (n > MAX_NAME - 16)
        return false;
    memcpy(name, folder, sizeof(folder) - 1);
    memset(name + sizeof(folder) - 1, '/', n_more);
    snprintf(name + n, MAX_NAME - n, "%d", image->fd);
    return is_same_file(image, name);
}

/*
 * PATH, for the loader, which frees it with free.  Behind it stands the name
 * before, which somebody may have asked for and kept: nothing is lost.
 */
static char *
path_and_before(const char *path, char *before)
{
    const size_t size = strlen(path) + 1;
    const size_t padded =
        (size + sizeof(before) - 1) / sizeof(before) * sizeof(before);
    char *copy = malloc(padded + sizeof(before));

    if (copy == NULL)
        return NULL;
    memcpy(copy, path, size);
    memcpy(copy + padded, &before, sizeof(before));
    return copy;
}

/* Debuggers, and modules that look for themselves, shall find the path.  Threads
 * that load one module at once have one MAP. */
static void
put_path(void *handle, const char *name, const char *path)
{
    struct link_map *map;
    char *copy = NULL;

    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return;
    gb_lock(GB_LOCK_REGISTRY);
    if (strcmp(map->l_name, name) == 0) {
        atomic_fetch_add_explicit(&n_named, 1, memory_order_relaxed);
        copy = path_and_before(path, map->l_name);
    }
    if (copy != NULL)
        map->l_name = copy;
    gb_unlock(GB_LOCK_REGISTRY);
}

void *
gb_image_load(const struct gb_image *image)
{
    const int flags = RTLD_NOW | RTLD_LOCAL;
    void *handle = dlopen(image->path, flags | RTLD_NOLOAD);
    char name[MAX_NAME];

    if (handle != NULL)
        return handle;
    if (image->has_origin || !name_open_file(image, name))
        return is_same_file(image, image->path) ? dlopen(image->path, flags)
                                                : NULL;
    handle = dlopen(name, flags);
    if (handle != NULL)
        put_path(handle, name, image->path);
    return handle;
}
#else
void *
gb_image_load(const struct gb_image *image)
{
    return is_same_file(image, image->path)
               ? dlopen(image->path, RTLD_NOW | RTLD_LOCAL)
               : NULL;
}
#endif
