/* SPDX-License-Identifier: MIT */
/*
 * cpu/api/traits.c - rounding to a type, and products of rows of it, by type.
 *
 * The interface's functions carry no type, so each type has functions of its
 * own, which hand on to the kernels of the variant in use.  They and the table
 * are made of two lists: traits.def, and the formats that can be multiplied.
 */
#include "config.h"

#include "backends/cpu/kernels/api/kernels.h"

#include "ggml-cpu.h"

#include "lib/type/format.h"

/* Q4_0: q4_0_from_float */
#define GB_BY_KERNEL(type, name, activation, call)                    \
    static void name##_from_float(const float *x, void *y, int64_t n) \
    {                                                                 \
        call;                                                         \
    }
#define GB_BY_REFERENCE(type, name, activation)
#define GB_READ_ONLY(type, name, activation)
#include "backends/cpu/api/traits.def"
#undef GB_BY_KERNEL
#undef GB_BY_REFERENCE
#undef GB_READ_ONLY

/* Q4_0: dot_q4_0.  One product: strides, and pairs of rows, matter only to those
 * who do several. */
#define GB_FORMAT(group, type, name)                                     \
    static void dot_##name(                                              \
        int n, float *restrict s, size_t bs, const void *restrict x,     \
        size_t bx, const void *restrict y, size_t by, int nrc)           \
    {                                                                    \
        (void)bs, (void)bx, (void)by, (void)nrc;                         \
        *s = gb_cpu_kernels()->dot(GGML_TYPE_##type, n, x, y);           \
    }
#include "backends/cpu/kernels/format/formats.def"
#undef GB_FORMAT

/* Types that neither list has have no function. */
static const struct ggml_type_traits_cpu traits[GGML_TYPE_COUNT] = {
#define ROW(type, function, activation)                       \
    [GGML_TYPE_##type].from_float = (function),               \
    [GGML_TYPE_##type].vec_dot_type = GGML_TYPE_##activation, \
    [GGML_TYPE_##type].nrows = 1,
#define GB_BY_KERNEL(type, name, activation, call) \
    ROW(type, name##_from_float, activation)
#define GB_BY_REFERENCE(type, name, activation) \
    ROW(type, gb_##name##_from_float, activation)
#define GB_READ_ONLY(type, name, activation) ROW(type, NULL, activation)
#include "backends/cpu/api/traits.def"
#undef GB_BY_KERNEL
#undef GB_BY_REFERENCE
#undef GB_READ_ONLY
#undef ROW
#define GB_FORMAT(group, type, name) [GGML_TYPE_##type].vec_dot = dot_##name,
#include "backends/cpu/kernels/format/formats.def"
#undef GB_FORMAT
};

const struct ggml_type_traits_cpu *
ggml_get_type_traits_cpu(enum ggml_type type)
{
    static const struct ggml_type_traits_cpu none;

    return (unsigned)type < GGML_TYPE_COUNT ? &traits[type] : &none;
}
