/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/cachefile.c - files of compiled pipelines.
 */
#include "backends/vulkan/device/cachefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct header {
    char magic[16];
    struct gb_vk_cache_key key;
    uint64_t size; /* of the data behind it */
    uint64_t sum;  /* of the header, where this is 0, and of the data */
};

_Static_assert(sizeof(struct header) == 16 + 64 + 16,
               "a header has no room between its members");

/* Ends in a byte that conversions of text change. */
static const char magic[16] = "gb-vk-cache 1\r\n";

static bool
refuse(char *reason, size_t size, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(reason, size, fmt, args);
    va_end(args);
    return false;
}

/* ---- the checksum ---- */

/* Each step can be undone, so that another word always gives another sum. */
static uint64_t
add_word(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 29;
}

static uint64_t
add_bytes(uint64_t sum, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint8_t tail[sizeof(uint64_t)] = { 0 };
    uint64_t word;

    for (; size >= sizeof(word); size -= sizeof(word), at += sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        sum = add_word(sum, word);
    }
    tail[0] = (uint8_t)size;
    memcpy(tail + 1, at, size);
    memcpy(&word, tail, sizeof(word));
    return add_word(sum, word);
}

static uint64_t
sum_of(const struct header *header, const void *data)
{
    struct header copy = *header;

    copy.sum = 0;
    return add_bytes(add_bytes(1, &copy, sizeof(copy)), data,
                     (size_t)header->size);
}

/* ---- reading ---- */

static bool
read_all(int fd, void *to, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = read(fd, (char *)to + done, size - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* Whoever may write the file could have the driver run what it likes. */
static bool
is_trusted(const struct stat *info)
{
    return (info->st_uid == geteuid() || info->st_uid == 0) &&
           (info->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* The file's bytes, *SIZE of them, at least a header. */
static void *
read_file(int fd, size_t *size, char *reason, size_t reason_size)
{
    struct stat info;
    void *bytes = NULL;

    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        refuse(reason, reason_size, "it is no file");
    } else if (!is_trusted(&info)) {
        refuse(reason, reason_size, "others may write it");
    } else if (info.st_size < (off_t)sizeof(struct header) ||
               info.st_size > (off_t)GB_VK_CACHE_MOST) {
        refuse(reason, reason_size, "it has %lld bytes",
               (long long)info.st_size);
    } else if ((bytes = malloc((size_t)info.st_size)) == NULL) {
        refuse(reason, reason_size, "there is no memory for it");
    } else if (!read_all(fd, bytes, (size_t)info.st_size)) {
        refuse(reason, reason_size, "it cannot be read");
        free(bytes);
        bytes = NULL;
    }
    if (bytes != NULL)
        *size = (size_t)info.st_size;
    return bytes;
}

static bool
check(const uint8_t *bytes, size_t size, const struct gb_vk_cache_key *key,
      char *reason, size_t reason_size)
{
    struct header header;

    memcpy(&header, bytes, sizeof(header));
    if (memcmp(header.magic, magic, sizeof(magic)) != 0)
        return refuse(reason, reason_size, "it is something else");
    if (header.size != size - sizeof(header) ||
        header.sum != sum_of(&header, bytes + sizeof(header)))
        return refuse(reason, reason_size, "it is damaged");
    if (memcmp(&header.key, key, sizeof(*key)) != 0)
        return refuse(reason, reason_size,
                      "it is of another driver, device or library");
    return true;
}

bool
gb_vk_cache_read(const char *path, const struct gb_vk_cache_key *key,
                 void **data, size_t *size, char *reason, size_t reason_size)
{
    /* A pipe would wait for somebody to write. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    uint8_t *bytes;
    size_t all;

    if (fd < 0)
        return refuse(reason, reason_size, "%s",
                      errno == ENOENT ? "" : strerror(errno));
    bytes = read_file(fd, &all, reason, reason_size);
    close(fd);
    if (bytes == NULL)
        return false;
    if (!check(bytes, all, key, reason, reason_size)) {
        free(bytes);
        return false;
    }
    *size = all - sizeof(struct header);
    memmove(bytes, bytes + sizeof(struct header), *size);
    *data = bytes;
    return true;
}

/* ---- writing ---- */

/* Folders above the file PATH, which is changed and comes back as it was. */
static void
make_folders(char *path)
{
    for (char *at = path + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(path, 0700); /* what is missing then is told by open */
        *at = '/';
    }
}

static bool
write_all(int fd, const void *from, size_t size)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = write(fd, (const char *)from + done, size - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* The first failure's errno; 0: none. */
static int
write_file(int fd, const struct header *header, const void *data)
{
    int failure = 0;

    if (!write_all(fd, header, sizeof(*header)) ||
        !write_all(fd, data, (size_t)header->size))
        failure = errno != 0 ? errno : ENOSPC;
    if (close(fd) != 0 && failure == 0)
        failure = errno;
    return failure;
}

/* A file that only this process writes.  One of that name was left by a process
 * that ended while it wrote. */
static int
create(const char *path)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    int fd = open(path, flags, 0600);

    if (fd < 0 && errno == EEXIST && unlink(path) == 0)
        fd = open(path, flags, 0600);
    return fd;
}

static int
write_and_move(char *path, char *temporary, const struct header *header,
               const void *data)
{
    int fd, failure;

    make_folders(path);
    fd = create(temporary);
    if (fd < 0)
        return errno;
    failure = write_file(fd, header, data);
    if (failure == 0 && rename(temporary, path) != 0)
        failure = errno;
    if (failure != 0)
        unlink(temporary);
    return failure;
}

bool
gb_vk_cache_write(const char *path, const struct gb_vk_cache_key *key,
                  const void *data, size_t size, char *reason,
                  size_t reason_size)
{
    const size_t length = strlen(path) + 1;
    struct header header = { .key = *key, .size = size };
    char *names;
    int failure;

    if (size > GB_VK_CACHE_MOST - sizeof(header))
        return refuse(reason, reason_size, "%zu bytes are too many", size);
    names = malloc(2 * length + 32);
    if (names == NULL)
        return refuse(reason, reason_size, "there is no memory for its name");
    memcpy(header.magic, magic, sizeof(magic));
    header.sum = sum_of(&header, data);
    memcpy(names, path, length);
    snprintf(names + length, length + 32, "%s.%ld", path, (long)getpid());
    errno = 0;
    failure = write_and_move(names, names + length, &header, data);
    free(names);
    return failure == 0 ? true
                        : refuse(reason, reason_size, "%s", strerror(failure));
}
