/* SPDX-License-Identifier: MIT */
/*
 * tests/loader/image.c - files with headers that lie.
 *
 * What is refused over a whole module is in module.c; here nothing is opened.
 */
#include "tests/loader/in-child.h"

#include "tests/loader/folder.h"

#include "lib/loader/image.h"

#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

/* A copy of a good module, for cases to write to. */
static char *folder;
static const char *path;
static int fd;
static ElfW(Ehdr) header;
static ElfW(Phdr) first; /* the first part that is mapped */
static off_t first_at;

static int
make_copy(void **state)
{
    size_t size;
    unsigned char *data = module_read("good", &size);

    (void)state;
    folder = folder_make();
    path = folder_write(folder, "copy.so", data, size);
    fd = open(path, O_RDWR);
    memcpy(&header, data, sizeof(header));
    for (int i = 0; i < header.e_phnum; i++) {
        first_at = (off_t)(header.e_phoff + (size_t)i * sizeof(first));
        memcpy(&first, data + first_at, sizeof(first));
        if (first.p_type == PT_LOAD)
            break;
    }
    free(data);
    return fd < 0;
}

static int
remove_copy(void **state)
{
    (void)state;
    close(fd);
    folder_remove(folder);
    return 0;
}

static void
put(const void *data, size_t size, off_t offset)
{
    assert_int_equal(pwrite(fd, data, size, offset), size);
}

static bool
check_file(char *reason, size_t size)
{
    struct gb_image image;

    if (!gb_image_open(path, &image, reason, size))
        return false;
    gb_image_close(&image);
    return true;
}

static void
assert_said(const char *what)
{
    char reason[64] = "nothing";

    assert_int_equal(check_file(reason, sizeof(reason)), what == NULL);
    if (what != NULL)
        assert_string_equal(reason, what);
}

static void
a_whole_file_is_accepted(void **state)
{
    (void)state;
    assert_said(NULL);
}

static void
parts_that_are_not_in_the_file_are_noticed(void **state)
{
    const ElfW(Off) offsets[] = { (ElfW(Off))-1, (ElfW(Off))1 << 31 };
    ElfW(Phdr) part = first;
    ElfW(Ehdr) changed = header;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        part = first;
        part.p_offset = offsets[i];
        put(&part, sizeof(part), first_at);
        assert_said("is cut short");
        part = first;
        part.p_filesz = offsets[i];
        put(&part, sizeof(part), first_at);
        assert_said("is cut short");
        put(&first, sizeof(first), first_at);
        changed.e_phoff = offsets[i];
        put(&changed, sizeof(changed), 0);
        assert_said("is cut short");
        put(&header, sizeof(header), 0);
    }
    assert_said(NULL);
}

/* The last part that is mapped: variables, and behind their bytes the zeros. */
static ElfW(Phdr)
find_last(off_t *at)
{
    ElfW(Phdr) part, last = first;

    *at = first_at;
    for (int i = 0; i < header.e_phnum; i++) {
        const off_t here = (off_t)(header.e_phoff + (size_t)i * sizeof(part));

        assert_int_equal(pread(fd, &part, sizeof(part), here), sizeof(part));
        if (part.p_type == PT_LOAD) {
            last = part;
            *at = here;
        }
    }
    return last;
}

/*
 * A part that goes on in the file fills variables that must begin as zeros, such
 * as pthread_once_t, with whatever follows there: whoever uses them may wait
 * for ever.
 */
static void
zeros_that_the_file_would_fill_are_noticed(void **state)
{
    off_t at;
    const ElfW(Phdr) last = find_last(&at);
    ElfW(Phdr) part = last;

    (void)state;
    assert_true(last.p_memsz > last.p_filesz);
    part.p_filesz = last.p_memsz;
    put(&part, sizeof(part), at);
    assert_said("is damaged: a section is not mapped as it says");
    put(&last, sizeof(last), at);
    assert_said(NULL);
}

static void
a_table_of_another_shape_is_noticed(void **state)
{
    ElfW(Ehdr) changed = header;

    (void)state;
    changed.e_phentsize--;
    put(&changed, sizeof(changed), 0);
    assert_said("is cut short");
    changed = header;
    changed.e_phnum = 0;
    put(&changed, sizeof(changed), 0);
    assert_said("is cut short");
    changed.e_phnum = 0xffff;
    put(&changed, sizeof(changed), 0);
    assert_said("is cut short");
}

/* Whatever the answer is, there is one. */
static void
any_byte_of_the_headers_may_be_wrong(void **state)
{
    const size_t n = sizeof(header) + header.e_phnum * sizeof(first);
    char reason[64];

    (void)state;
    for (size_t i = 0; i < n; i++) {
        unsigned char byte, wrong;

        assert_int_equal(pread(fd, &byte, 1, (off_t)i), 1);
        for (int bit = 0; bit < 8; bit++) {
            wrong = (unsigned char)(byte ^ 1 << bit);
            put(&wrong, 1, (off_t)i);
            check_file(reason, sizeof(reason));
        }
        put(&byte, 1, (off_t)i);
    }
    assert_said(NULL);
}

static void
a_long_reason_is_cut(void **state)
{
    struct gb_image image;
    char reason[8];

    (void)state;
    assert_false(gb_image_open("/", &image, reason, sizeof(reason)));
    assert_string_equal(reason, "is a fo");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_copy, remove_copy)

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(a_whole_file_is_accepted),
        CASE(parts_that_are_not_in_the_file_are_noticed),
        CASE(zeros_that_the_file_would_fill_are_noticed),
        CASE(a_table_of_another_shape_is_noticed),
        CASE(any_byte_of_the_headers_may_be_wrong),
        CASE(a_long_reason_is_cut),
    };

    return cmocka_run_group_tests_name("headers of modules", tests, NULL,
                                       NULL);
}
