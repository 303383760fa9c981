/* SPDX-License-Identifier: MIT */
/*
 * tests/base/file.c - sizes and places of files.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/base/file.h"

#include "ggml.h"

#include "tests/util/sink.h"

#include <unistd.h>

static void
the_size_is_told_from_any_place(void **state)
{
    FILE *file = tmpfile();
    uint64_t size = 0, at = 0;

    (void)state;
    assert_non_null(file);
    fputs("twelve bytes", file);
    assert_true(gb_file_seek(file, 5));
    assert_true(gb_file_size(file, &size));
    assert_int_equal(size, 12);
    assert_true(gb_file_tell(file, &at));
    assert_int_equal(at, 5);
    assert_int_equal(fgetc(file), 'e');
    fclose(file);
}

static void
places_beyond_four_gib_are_places(void **state)
{
    const uint64_t far_away = UINT64_C(5) << 30;
    FILE *file = tmpfile();
    uint64_t size = 0;

    (void)state;
    assert_true(gb_file_seek(file, far_away));
    fputc('x', file);
    assert_true(gb_file_size(file, &size));
    assert_true(size == far_away + 1);
    fclose(file);
}

static void
a_place_beyond_the_systems_range_is_refused(void **state)
{
    FILE *file = tmpfile();

    (void)state;
    assert_false(gb_file_seek(file, UINT64_MAX));
    assert_false(gb_file_seek(file, (uint64_t)INT64_MAX + 1));
    fclose(file);
}

static void
a_pipe_has_no_size(void **state)
{
    int ends[2];
    uint64_t size = 7;
    FILE *file;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    file = fdopen(ends[0], "r");
    assert_false(gb_file_size(file, &size));
    assert_int_equal(size, 7);
    fclose(file);
    close(ends[1]);
}

static void
a_directory_has_no_size(void **state)
{
    FILE *file = ggml_fopen("/", "rb");
    uint64_t size = 7;

    (void)state;
    assert_non_null(file);
    assert_false(gb_file_size(file, &size));
    assert_int_equal(size, 7);
    fclose(file);
}

static void
memory_read_as_a_file_has_a_size(void **state)
{
    char text[] = "hello";
    FILE *file = fmemopen(text, 5, "rb");
    uint64_t size = 0;

    (void)state;
    assert_true(gb_file_size(file, &size));
    assert_int_equal(size, 5);
    fclose(file);
}

static void
what_cannot_be_opened_gives_null(void **state)
{
    static struct gb_sink sink;

    (void)state;
    assert_null(ggml_fopen("/no such folder/file", "rb"));
    gb_sink_begin(&sink);
    assert_null(ggml_fopen(NULL, "rb"));
    assert_null(ggml_fopen("/", NULL));
    gb_sink_end();
    assert_int_equal(sink.n, 2);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_size_is_told_from_any_place),
        cmocka_unit_test(places_beyond_four_gib_are_places),
        cmocka_unit_test(a_place_beyond_the_systems_range_is_refused),
        cmocka_unit_test(a_pipe_has_no_size),
        cmocka_unit_test(a_directory_has_no_size),
        cmocka_unit_test(memory_read_as_a_file_has_a_size),
        cmocka_unit_test(what_cannot_be_opened_gives_null),
    };

    return cmocka_run_group_tests_name("files", tests, NULL, NULL);
}
