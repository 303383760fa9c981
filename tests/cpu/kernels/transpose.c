/* SPDX-License-Identifier: MIT */
/*
 * Rows become columns, on every variant, for elements of every size.
 */
#include "backends/cpu/kernels/api/kernels.h"

#include "tests/cpu/kernels/guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>


/* Byte B of element J of row I. */
static uint8_t
byte_of(int64_t i, int64_t j, size_t b)
{
    return (uint8_t)(i * 37 + j * 11 + (int64_t)b * 5 + i * j);
}

/* COLS rows of ROWS elements, each row FAR bytes behind the end of the one
 * before it; nothing may follow the last one. */
static void
check(const struct gb_cpu_kernels *k, size_t size, int64_t rows, int64_t cols,
      size_t far)
{
    const size_t from_pitch = (size_t)rows * size + far;
    const size_t to_pitch = (size_t)cols * size + far;
    struct guarded in = guarded_new((size_t)cols * from_pitch - far);
    struct guarded out = guarded_new((size_t)rows * to_pitch - far);
    uint8_t *from = in.data;
    uint8_t *to = out.data;

    for (int64_t i = 0; i < cols; i++)
        for (size_t b = 0; b < (size_t)rows * size; b++)
            from[(size_t)i * from_pitch + b] =
                byte_of(i, (int64_t)(b / size), b % size);
    memset(to, 0xaa, (size_t)rows * to_pitch - far);
    k->transpose(size, rows, cols, to, to_pitch, from, from_pitch);
    for (int64_t i = 0; i < rows; i++) {
        const size_t end = i + 1 < rows ? to_pitch : to_pitch - far;

        for (size_t b = 0; b < end; b++) {
            const uint8_t want =
                b < (size_t)cols * size
                    ? byte_of((int64_t)(b / size), i, b % size) : 0xaa;

            if (to[(size_t)i * to_pitch + b] != want)
                fail_msg("%s, %d bytes, %d by %d: byte %d of row %d", k->variant,
                         (int)size, (int)rows, (int)cols, (int)b, (int)i);
        }
    }
    guarded_free(&in);
    guarded_free(&out);
}

static void
every_shape_is_turned(void **state)
{
    static const size_t sizes[] = { 1, 2, 4, 8 };
    static const int64_t lengths[] = { 1, 3, 4, 8, 15, 16, 17, 32, 47, 70 };
    const int n = sizeof(lengths) / sizeof(lengths[0]);

    (void)state;
    for (const struct gb_cpu_kernels *const *k = gb_cpu_kernels_all();
         *k != NULL; k++)
        for (int s = 0; s < 4; s++)
            for (int r = 0; r < n; r++)
                for (int c = 0; c < n; c++)
                    check(*k, sizes[s], lengths[r], lengths[c],
                          sizes[s] * (size_t)((r + c) % 3));
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_is_turned),
    };

    return cmocka_run_group_tests_name("turning", tests, NULL, NULL);
}
