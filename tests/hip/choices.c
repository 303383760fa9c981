/* SPDX-License-Identifier: MIT */
/*
 * tests/hip/choices.c - which code object fits a card.
 */
#include "config.h"

#include "backends/cuda/device/image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char usual[] =
    "gfx906 gfx90a gfx942 gfx1030 gfx1100 gfx11-generic gfx9-generic";

struct choice {
    const char *images;
    int arch, driver;
    const char *chosen; /* "" for none */
    enum gb_cuda_variant variant;
};

static const struct choice choices[] = {
    { usual, 0x906, 5020, "gfx906", GB_CUDA_DP4A },
    { usual, 0x90a, 5020, "gfx90a", GB_CUDA_MFMA },
    { usual, 0x942, 7000, "gfx942", GB_CUDA_MFMA },
    { "gfx908 gfx1200", 0x908, 5020, "gfx908", GB_CUDA_MFMA },
    { "gfx908 gfx1200", 0x1200, 7000, "gfx1200", GB_CUDA_WMMA },
    { usual, 0x1030, 6020, "gfx1030", GB_CUDA_DP4A },
    /* Its own before the generic one, in whatever order they stand. */
    { usual, 0x1100, 6030, "gfx1100", GB_CUDA_WMMA },
    { "gfx11-generic gfx1100", 0x1100, 6030, "gfx1100", GB_CUDA_WMMA },
    { "gfx1100 gfx11-generic", 0x1100, 6030, "gfx1100", GB_CUDA_WMMA },
    /* Generic targets, where the run time knows them. */
    { usual, 0x1103, 6030, "gfx11-generic", GB_CUDA_WMMA },
    { usual, 0x1103, 6020, "", GB_CUDA_PLAIN },
    { usual, 0x900, 7000, "gfx9-generic", GB_CUDA_PLAIN },
    { "gfx10-1-generic", 0x1012, 7000, "gfx10-1-generic", GB_CUDA_PLAIN },
    { "gfx10-1-generic", 0x1030, 7000, "", GB_CUDA_PLAIN },
    { "gfx10-3-generic", 0x1036, 7000, "gfx10-3-generic", GB_CUDA_DP4A },
    { "gfx12-generic", 0x1201, 7000, "gfx12-generic", GB_CUDA_WMMA },
    /* Without products of four bytes. */
    { "gfx900 gfx1010", 0x900, 5020, "gfx900", GB_CUDA_PLAIN },
    { "gfx900 gfx1010", 0x1010, 5020, "gfx1010", GB_CUDA_PLAIN },
    /* A neighbour's code does not run; an unknown card has none. */
    { usual, 0x908, 5020, "", GB_CUDA_PLAIN },
    { usual, 0x1031, 5020, "", GB_CUDA_PLAIN },
    { usual, 0, 7000, "", GB_CUDA_PLAIN },
    /* Words that are no architectures are passed over. */
    { "", 0x906, 5020, "", GB_CUDA_PLAIN },
    { "90a gfx gfxyz gfx90a-generic sm_90 gfx11-generics", 0x90a, 7000, "",
      GB_CUDA_PLAIN },
    { "a-very-long-word-that-is-none gfx906", 0x906, 5020, "gfx906",
      GB_CUDA_DP4A },
};

static void
the_code_object_that_fits_is_chosen(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        const struct choice *c = &choices[i];
        const struct gb_cuda_target target = { .arch = c->arch,
                                               .driver = c->driver };
        struct gb_cuda_image image = { .name = "" };
        const bool is_found =
            gb_cuda_image_choose(c->images, &target, &image);

        assert_int_equal(is_found, c->chosen[0] != '\0');
        if (strcmp(image.name, c->chosen) != 0)
            fail_msg("[%s] for %x, run time %d: %s, not %s", c->images,
                     (unsigned)c->arch, c->driver, image.name, c->chosen);
        if (is_found)
            assert_int_equal(gb_cuda_image_variant(&image), c->variant);
    }
}

static void
variants_have_the_names_of_the_manual(void **state)
{
    static const char *const names[] = { "plain", "dot4", "mfma", "wmma" };
    enum gb_cuda_variant variant = GB_CUDA_WGMMA;

    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_true(gb_cuda_variant_of_name(names[i], &variant));
        assert_int_equal(variant, i);
        assert_string_equal(gb_cuda_variant_name(variant), names[i]);
    }
    assert_false(gb_cuda_variant_of_name("dp4a", &variant));
    assert_int_equal(variant, GB_CUDA_WMMA);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_code_object_that_fits_is_chosen),
        cmocka_unit_test(variants_have_the_names_of_the_manual),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
