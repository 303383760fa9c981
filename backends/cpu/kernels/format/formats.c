/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/formats.c - from a data type to its kernels.
 */
#include "backends/cpu/kernels/api/prototypes.h"

#define GB_FORMAT(set, type, name) \
    extern const struct gb_format_kernels GB_K_OF(set, name##_kernels);
#include "backends/cpu/kernels/format/formats.def"
#undef GB_FORMAT

static const struct gb_format_kernels *const formats[GGML_TYPE_COUNT] = {
#define GB_FORMAT(set, type, name) \
    [GGML_TYPE_##type] = &GB_K_OF(set, name##_kernels),
#include "backends/cpu/kernels/format/formats.def"
#undef GB_FORMAT
};

/* Types that can be repacked (api/repacked.h). */
#define GB_REPACKED(set, type, name) \
    extern const struct gb_format_kernels GB_K_OF(set, name##_repacked);
#include "backends/cpu/kernels/format/repacked.def"
#undef GB_REPACKED

static const struct gb_format_kernels *const repacked[GGML_TYPE_COUNT] = {
#define GB_REPACKED(set, type, name) \
    [GGML_TYPE_##type] = &GB_K_OF(set, name##_repacked),
#include "backends/cpu/kernels/format/repacked.def"
#undef GB_REPACKED
};

void
GB_K(floats)(enum ggml_type type, int64_t n, float *dst, const void *src)
{
    formats[type]->floats(n, dst, src);
}

const struct gb_format_kernels *
GB_K(format)(enum ggml_type type)
{
    return (unsigned)type < GGML_TYPE_COUNT ? formats[type] : NULL;
}

const struct gb_format_kernels *
GB_K(repacked)(enum ggml_type type)
{
    return (unsigned)type < GGML_TYPE_COUNT ? repacked[type] : NULL;
}
