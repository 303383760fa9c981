/* SPDX-License-Identifier: MIT */
/*
 * tests/base/clock.c - time, and which library this is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ggmlbackend.h"

static void
time_never_goes_back(void **state)
{
    int64_t last = ggml_time_us();

    (void)state;
    ggml_time_init();
    for (int i = 0; i < 10000; i++) {
        const int64_t now = ggml_time_us();

        assert_true(now >= last);
        last = now;
    }
    assert_true(last > 0);
}

static void
milliseconds_are_a_thousand_microseconds(void **state)
{
    const int64_t before = ggml_time_us() / 1000;
    const int64_t now = ggml_time_ms();

    (void)state;
    assert_true(now >= before && now <= ggml_time_us() / 1000);
}

static void
work_takes_cycles(void **state)
{
    const int64_t begin = ggml_cycles();

    (void)state;
    assert_true(ggml_cycles_per_ms() > 0);
    while (ggml_cycles() == begin)
        ;
    assert_true(ggml_cycles() > begin);
}

static void
the_version_is_the_headers(void **state)
{
    char text[64];

    (void)state;
    snprintf(text, sizeof(text), "%d.%d.%d", GGMLBACKEND_VERSION_MAJOR,
             GGMLBACKEND_VERSION_MINOR, GGMLBACKEND_VERSION_PATCH);
    assert_string_equal(ggmlbackend_version(), text);
    assert_int_equal(ggmlbackend_api_level(), 202503);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_never_goes_back),
        cmocka_unit_test(milliseconds_are_a_thousand_microseconds),
        cmocka_unit_test(work_takes_cycles),
        cmocka_unit_test(the_version_is_the_headers),
    };

    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
