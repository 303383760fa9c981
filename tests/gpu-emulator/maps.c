/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/maps.c - does the emulated driver make tensor maps of what the
 * vendor's does (its header, cuTensorMapEncodeTiled), and refuse all else?
 */
#include "config.h"

#include "backends/cuda/kernels/args.h"
#include "tests/gpu-emulator/open.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { UINT8 = 0, FLOAT32 = 7, TF32_FTZ = 12, SWIZZLE_32 = 1, SWIZZLE_64 = 2 };

/* What the call is given. */
struct call {
    const char *change; /* of what is taken */
    int offset;         /* bytes by which the map is misplaced */
    int type;
    uint32_t rank;
    uint64_t address;
    uint64_t dim[6], stride[5];
    uint32_t box[6], step[6];
    int interleave, swizzle, l2, outside;
};

/* Rows of 100 numbers of two bytes, 208 bytes apart; 64 of 128 rows a box. */
#define TAKEN(...)                                                        \
    { .type = GB_CUDA_MAP_UINT16, .rank = 2, .address = 1 << 20,          \
      .dim = { 100, 1000, 2, 2, 2, 2 },                                   \
      .stride = { 208, 208000, 416000, 832000, 1664000 },                 \
      .box = { 64, 128, 1, 1, 1, 1 }, .step = { 1, 1, 1, 1, 1, 1 },       \
      .swizzle = GB_CUDA_MAP_SWIZZLE_128, .l2 = GB_CUDA_MAP_L2_128,       \
      __VA_ARGS__ }

static int
result_of(const struct call *c)
{
    struct gb_cuda_tensor_map maps[2];

    memset(maps, 0, sizeof(maps));
    return cu.tensor_map((char *)maps + c->offset, c->type, c->rank,
                         (void *)(uintptr_t)c->address, c->dim, c->stride,
                         c->box, c->step, c->interleave, c->swizzle, c->l2,
                         c->outside);
}

static void
check(const struct call *calls, size_t n, int result)
{
    emu_begin_in_context("");
    for (size_t i = 0; i < n; i++)
        if (result_of(&calls[i]) != result)
            fail_msg("%s: %d, not %d", calls[i].change, result_of(&calls[i]),
                     result);
    emu_end();
}

#define CHECK_ALL(calls, result) \
    check(calls, sizeof(calls) / sizeof((calls)[0]), result)

/* Two changes of a member are one, the later. */
#pragma GCC diagnostic ignored "-Woverride-init"

static void
maps_of_what_tma_can_fetch_are_made(void **state)
{
    static const struct call calls[] = {
        TAKEN(.change = "none"),
        TAKEN(.change = "one dimension", .rank = 1),
        TAKEN(.change = "five dimensions", .rank = 5),
        TAKEN(.change = "2^32 rows", .dim = { 100, (uint64_t)1 << 32 }),
        TAKEN(.change = "rows far apart",
              .stride = { ((uint64_t)1 << 40) - 16 }),
        TAKEN(.change = "256 rows", .box = { 64, 256 }),
        TAKEN(.change = "32 bytes", .box = { 16, 8 }, .swizzle = SWIZZLE_32),
        TAKEN(.change = "64 bytes", .box = { 32, 8 }, .swizzle = SWIZZLE_64),
        TAKEN(.change = "512 bytes", .box = { 256, 8 }, .swizzle = 0),
        TAKEN(.change = "every eighth row", .step = { 1, 8 }),
        TAKEN(.change = "NaN outside", .type = FLOAT32, .dim = { 50, 1000 },
              .box = { 32, 8 }, .outside = 1),
        TAKEN(.change = "TF32", .type = TF32_FTZ, .dim = { 50, 1000 },
              .box = { 32, 8 }),
        TAKEN(.change = "bytes", .type = UINT8, .box = { 128, 8 }),
    };

    (void)state;
    CHECK_ALL(calls, GB_CUDA_SUCCESS);
}

static void
others_are_refused(void **state)
{
    static const struct call calls[] = {
        TAKEN(.change = "a map at no multiple of 64", .offset = 32),
        TAKEN(.change = "no type", .type = 16),
        TAKEN(.change = "no dimension", .rank = 0),
        TAKEN(.change = "six dimensions", .rank = 6),
        TAKEN(.change = "an address at no multiple of 16",
              .address = (1 << 20) + 8),
        TAKEN(.change = "no rows", .dim = { 100, 0 }),
        TAKEN(.change = "more than 2^32 rows",
              .dim = { 100, ((uint64_t)1 << 32) + 1 }),
        TAKEN(.change = "a stride of no multiple of 16", .stride = { 216 }),
        TAKEN(.change = "a stride of 2^40", .stride = { (uint64_t)1 << 40 }),
        TAKEN(.change = "rows that overlap", .stride = { 192 }),
        TAKEN(.change = "an empty box", .box = { 64, 0 }),
        TAKEN(.change = "a box of 257 rows", .box = { 64, 257 }),
        TAKEN(.change = "a box of 24 bytes", .box = { 12, 8 }),
        TAKEN(.change = "more than is swizzled", .box = { 72, 8 }),
        TAKEN(.change = "more than is swizzled of 64", .box = { 40, 8 },
              .swizzle = SWIZZLE_64),
        TAKEN(.change = "no step", .step = { 1, 0 }),
        TAKEN(.change = "a step of nine", .step = { 1, 9 }),
        TAKEN(.change = "an unknown swizzling", .swizzle = 7),
        TAKEN(.change = "an unknown size of L2", .l2 = 4),
        TAKEN(.change = "NaN as an integer", .outside = 1),
    };

    (void)state;
    CHECK_ALL(calls, GB_CUDA_INVALID_VALUE);
}

static void
cards_without_tma_have_no_maps(void **state)
{
    static const struct call taken = TAKEN(.change = "none");

    (void)state;
    emu_begin_in_context("ARCH=89");
    assert_int_equal(result_of(&taken), GB_CUDA_INVALID_VALUE);
    emu_end();
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_of_what_tma_can_fetch_are_made),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(cards_without_tma_have_no_maps),
    };

    return cmocka_run_group_tests_name("tensor maps of the emulated driver",
                                       tests, emu_open, NULL);
}
