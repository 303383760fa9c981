/* SPDX-License-Identifier: MIT */
/*
 * loader/image.c - can a file be given to the system's loader?
 *
 * dlopen(3) says of a file for another machine that there is no such file, and
 * ends the process with SIGBUS over one that was cut short.  So the headers are
 * looked at before.  What the machine is need not be known: the file must say
 * the same as the library's own header.
 */
#include "config.h"

#include "lib/loader/image.h"

#include "ggml.h"

#include "lib/base/attr.h"
#include "lib/base/file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#if defined(HAVE_LINK_H)
#include <link.h>
#endif

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
/* The header of the library, or of the program that it is linked into. */
extern const ElfW(Ehdr) __ehdr_start
    __attribute__((weak, visibility("hidden")));

static bool
is_for_this_machine(const ElfW(Ehdr) *header)
{
    const ElfW(Ehdr) *own = &__ehdr_start;

    return own == NULL ||
           (header->e_ident[EI_CLASS] == own->e_ident[EI_CLASS] &&
            header->e_ident[EI_DATA] == own->e_ident[EI_DATA] &&
            header->e_machine == own->e_machine);
}

/* Do SIZE bytes at OFFSET lie in a file of END bytes? */
static bool
lies_within(uint64_t offset, uint64_t size, uint64_t end)
{
    return offset <= end && size <= end - offset;
}

/* Is everything that will be mapped in the file? */
static bool
is_whole(FILE *file, const ElfW(Ehdr) *header, uint64_t end)
{
    ElfW(Phdr) part;

    if (header->e_phentsize != sizeof(part) || header->e_phnum == 0 ||
        !lies_within(header->e_phoff,
                     (uint64_t)header->e_phnum * sizeof(part), end) ||
        !gb_file_seek(file, header->e_phoff))
        return false;
    for (int i = 0; i < header->e_phnum; i++) {
        if (fread(&part, sizeof(part), 1, file) != 1)
            return false;
        if (part.p_type == PT_LOAD &&
            !lies_within(part.p_offset, part.p_filesz, end))
            return false;
    }
    return true;
}

static bool
check_content(FILE *file, uint64_t end, const struct answer *answer)
{
    ElfW(Ehdr) header;
    const size_t n = fread(&header, 1, sizeof(header), file);

    if (n < SELFMAG || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return no(answer, "is no ELF file");
    if (n < sizeof(header))
        return no(answer, "is cut short");
    if (!is_for_this_machine(&header))
        return no(answer, "is for another machine");
    if (header.e_type != ET_DYN)
        return no(answer, "is no shared object");
    if (!is_whole(file, &header, end))
        return no(answer, "is cut short");
    return true;
}
#else
static bool
check_content(FILE *file, uint64_t end, const struct answer *answer)
{
    (void)file, (void)end, (void)answer;
    return true;
}
#endif

bool
gb_image_check(const char *path, char *reason, size_t size)
{
    const struct answer answer = { reason, size };
    struct stat status;
    FILE *file;
    bool is_good;

    if (stat(path, &status) != 0)
        return no(&answer, "cannot be found: %s", strerror(errno));
    if (S_ISDIR(status.st_mode))
        return no(&answer, "is a folder");
    if (!S_ISREG(status.st_mode))
        return no(&answer, "is no ordinary file");
    if (status.st_size == 0)
        return no(&answer, "is empty");
    file = ggml_fopen(path, "rb");
    if (file == NULL)
        return no(&answer, "cannot be read: %s", strerror(errno));
    is_good = check_content(file, (uint64_t)status.st_size, &answer);
    fclose(file);
    return is_good;
}
