/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/choices.c - which image fits a card, and what the environment's
 * lists and sizes mean.
 */
#include "config.h"

#include "backends/cuda/device/image.h"
#include "backends/cuda/device/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char usual[] = "75 80 86 89 90 90a 100 120 ptx75 ptx90";

struct choice {
    const char *images;
    int arch, driver, compiler;
    const char *chosen; /* "" for none */
    enum gb_cuda_variant variant;
};

static const struct choice choices[] = {
    { usual, 75, 13000, 13000, "75", GB_CUDA_MMA },
    { usual, 80, 13000, 13000, "80", GB_CUDA_MMA8 },
    { usual, 86, 13000, 13000, "86", GB_CUDA_MMA8 },
    { usual, 87, 13000, 13000, "86", GB_CUDA_MMA8 },
    { usual, 89, 13000, 13000, "89", GB_CUDA_MMA8 },
    { usual, 90, 13000, 13000, "90a", GB_CUDA_WGMMA },
    { usual, 103, 13000, 13000, "100", GB_CUDA_MMA8 },
    { usual, 110, 13000, 13000, "ptx90", GB_CUDA_MMA8 },
    { usual, 121, 13000, 13000, "120", GB_CUDA_MMA8 },
    { usual, 130, 13000, 13000, "ptx90", GB_CUDA_MMA8 },
    /* Below all of them. */
    { usual, 70, 13000, 13000, "", GB_CUDA_PLAIN },
    { "60 61 70", 60, 12020, 12000, "60", GB_CUDA_PLAIN },
    { "60 61 70", 61, 12020, 12000, "61", GB_CUDA_DP4A },
    { "60 61 70", 62, 12020, 12000, "61", GB_CUDA_DP4A },
    { "60 61 70", 72, 12020, 12000, "70", GB_CUDA_DP4A },
    /* Code of another major version, or a higher minor one, does not run. */
    { "86", 80, 13000, 13000, "", GB_CUDA_PLAIN },
    { "80", 90, 13000, 13000, "", GB_CUDA_PLAIN },
    { "80 ptx75", 90, 13000, 13000, "ptx75", GB_CUDA_MMA },
    /* What is for one architecture alone. */
    { "90a", 90, 13000, 13000, "90a", GB_CUDA_WGMMA },
    { "90a", 91, 13000, 13000, "", GB_CUDA_PLAIN },
    { "90a 90", 91, 13000, 13000, "90", GB_CUDA_MMA8 },
    /* Drivers: any of the compiler's major version; for PTX none older. */
    { usual, 90, 13010, 13020, "90a", GB_CUDA_WGMMA },
    { usual, 90, 12090, 13000, "", GB_CUDA_PLAIN },
    { "ptx75", 90, 13010, 13020, "", GB_CUDA_PLAIN },
    { "ptx75", 90, 13020, 13020, "ptx75", GB_CUDA_MMA },
    { "ptx75", 90, 11000, 0, "ptx75", GB_CUDA_MMA },
    /* Words that are no architectures are passed over. */
    { "", 90, 13000, 13000, "", GB_CUDA_PLAIN },
    { "ptx a 9 90b 80,90", 90, 13000, 13000, "", GB_CUDA_PLAIN },
    { "  junk   90  ", 90, 13000, 13000, "90", GB_CUDA_MMA8 },
};

static void
text_of(const struct gb_cuda_image *image, char *text, size_t size)
{
    snprintf(text, size, "%s%d%s", image->is_ptx ? "ptx" : "", image->arch,
             image->is_specific ? "a" : "");
}

static void
the_best_image_that_fits_is_chosen(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        const struct choice *c = &choices[i];
        const struct gb_cuda_target target = { c->arch, c->driver,
                                               c->compiler };
        struct gb_cuda_image image = { .arch = 7 };
        const bool is_found =
            gb_cuda_image_choose(c->images, &target, &image);
        char text[16] = "";

        if (is_found)
            text_of(&image, text, sizeof(text));
        else
            assert_int_equal(image.arch, 7);
        if (strcmp(text, c->chosen) != 0)
            fail_msg("[%s] for %d, driver %d, compiler %d: %s, not %s",
                     c->images, c->arch, c->driver, c->compiler, text,
                     c->chosen);
        if (is_found)
            assert_int_equal(gb_cuda_image_variant(&image), c->variant);
    }
}

static void
variants_have_the_names_of_the_manual(void **state)
{
    static const struct {
        enum gb_cuda_variant variant;
        const char *name;
    } names[] = {
        { GB_CUDA_PLAIN, "plain" }, { GB_CUDA_DP4A, "dp4a" },
        { GB_CUDA_MMA, "mma" },     { GB_CUDA_MMA8, "mma8" },
        { GB_CUDA_WGMMA, "wgmma" },
    };
    enum gb_cuda_variant variant = GB_CUDA_MMA;

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_true(gb_cuda_variant_of_name(names[i].name, &variant));
        assert_int_equal(variant, names[i].variant);
        assert_string_equal(gb_cuda_variant_name(variant), names[i].name);
    }
    /* Another vendor's. */
    assert_false(gb_cuda_variant_of_name("mfma", &variant));
    assert_false(gb_cuda_variant_of_name("mma9", &variant));
    assert_int_equal(variant, GB_CUDA_WGMMA);
}

static void
a_variant_that_is_missing_leaves_the_one_below(void **state)
{
    static const int below[] = {
        [GB_CUDA_PLAIN] = -1,
        [GB_CUDA_DP4A] = GB_CUDA_PLAIN,
        [GB_CUDA_MFMA] = GB_CUDA_DP4A,
        [GB_CUDA_WMMA] = GB_CUDA_DP4A,
        [GB_CUDA_MMA] = GB_CUDA_DP4A,
        [GB_CUDA_MMA8] = GB_CUDA_MMA,
        [GB_CUDA_WGMMA] = GB_CUDA_MMA8,
    };

    (void)state;
    for (int i = 0; i <= GB_CUDA_WGMMA; i++) {
        const struct gb_cuda_limits limits = {
            .variant = (enum gb_cuda_variant)i,
        };

        assert_int_equal(gb_cuda_variant_below(limits.variant), below[i]);
        assert_int_equal(gb_cuda_has_variant(&limits, GB_CUDA_MFMA),
                         i == GB_CUDA_MFMA || i == GB_CUDA_WMMA);
        assert_int_equal(gb_cuda_has_variant(&limits, GB_CUDA_MMA),
                         i >= GB_CUDA_MMA);
    }
}

static void
sizes_have_units(void **state)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } sizes[] = {
        { "0", 0 }, { "7", 7 }, { "2K", 2048 }, { "3m", 3 << 20 },
#if SIZE_MAX > UINT32_MAX
        { "6G", UINT64_C(6) << 30 },
#endif
    };
    static const char *const wrong[] = { "", "G", "1T", "1GB", "-1", " 1",
                                         "99999999999999999999",
                                         "18446744073709551615G" };
    size_t bytes = 5;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_false(gb_cuda_read_bytes(wrong[i], &bytes));
        assert_int_equal(bytes, 5);
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_true(gb_cuda_read_bytes(sizes[i].text, &bytes));
        assert_int_equal(bytes, sizes[i].bytes);
    }
}

static void
lists_of_cards_may_repeat_and_lie_within_bounds(void **state)
{
    static const char *const wrong[] = { "", "2", "0,", ",0", "0,,1", "a",
                                         "-1", "0;1", "0,0,0,0" };
    int list[3] = { 9, 9, 9 };

    (void)state;
    assert_int_equal(gb_cuda_read_list("1,0,0", 2, 3, list), 3);
    assert_int_equal(list[0], 1);
    assert_int_equal(list[1], 0);
    assert_int_equal(list[2], 0);
    assert_int_equal(gb_cuda_read_list("1", 2, 3, list), 1);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(gb_cuda_read_list(wrong[i], 2, 3, list), -1);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_image_that_fits_is_chosen),
        cmocka_unit_test(variants_have_the_names_of_the_manual),
        cmocka_unit_test(a_variant_that_is_missing_leaves_the_one_below),
        cmocka_unit_test(sizes_have_units),
        cmocka_unit_test(lists_of_cards_may_repeat_and_lie_within_bounds),
    };

    return cmocka_run_group_tests_name("images and settings", tests, NULL,
                                       NULL);
}
