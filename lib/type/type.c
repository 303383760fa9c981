/* SPDX-License-Identifier: MIT */
/*
 * type/type.c - the table of data types, and what the interface asks of it.
 */
#include "config.h"

#include "lib/type/type.h"

#include "lib/base/checked.h"
#include "lib/base/status.h"
#include "lib/type/format.h"
#include "lib/type/half.h"
#include "lib/type/iq.h"

const struct gb_type gb_types[GGML_TYPE_COUNT + 1] = {
#define GB_TYPE(id, type_name, n_values, n_bytes, reader, writer, quantiser, \
                needs, kind, at, count)                                      \
    [GGML_TYPE_##id] = {                                                     \
        .name = type_name,                                                   \
        .block = n_values,                                                   \
        .bytes = n_bytes,                                                    \
        .to_float = reader,                                                  \
        .from_float = writer,                                                \
        .quantize = quantiser,                                               \
        .needs_imatrix = needs,                                              \
        .check = GB_CHECK_##kind,                                            \
        .check_at = at,                                                      \
        .check_count = count,                                                \
    },
#define GB_RETIRED(number, old_name) [number] = { .name = old_name },
#include "lib/type/type.def"
#undef GB_RETIRED
#undef GB_TYPE
    [GGML_TYPE_COUNT] = { .name = "NONE" },
};

/* The same as the interface shows it. */
static const struct ggml_type_traits traits[GGML_TYPE_COUNT] = {
#define GB_TYPE(id, name, n_values, n_bytes, reader, writer, quantiser, needs, \
                kind, at, count)                                               \
    [GGML_TYPE_##id] = {                                                       \
        .type_name = name,                                                     \
        .blck_size = n_values,                                                 \
        .type_size = n_bytes,                                                  \
        .is_quantized = (n_values) > 1,                                        \
        .to_float = reader,                                                    \
        .from_float_ref = writer,                                              \
    },
#define GB_RETIRED(number, name) [number] = { .type_name = name },
#include "lib/type/type.def"
#undef GB_RETIRED
#undef GB_TYPE
};

/* Which type most of a file's weights have.  A row says that it is one, since
 * F32 is 0 like a gap. */
static const struct {
    bool known;
    enum ggml_type type;
} file_types[] = {
#define FILE_TYPE(file, type) [GGML_FTYPE_##file] = { true, GGML_TYPE_##type }
    FILE_TYPE(ALL_F32, F32),
    FILE_TYPE(MOSTLY_F16, F16),
    FILE_TYPE(MOSTLY_Q4_0, Q4_0),
    FILE_TYPE(MOSTLY_Q4_1, Q4_1),
    FILE_TYPE(MOSTLY_Q8_0, Q8_0),
    FILE_TYPE(MOSTLY_Q5_0, Q5_0),
    FILE_TYPE(MOSTLY_Q5_1, Q5_1),
    FILE_TYPE(MOSTLY_Q2_K, Q2_K),
    FILE_TYPE(MOSTLY_Q3_K, Q3_K),
    FILE_TYPE(MOSTLY_Q4_K, Q4_K),
    FILE_TYPE(MOSTLY_Q5_K, Q5_K),
    FILE_TYPE(MOSTLY_Q6_K, Q6_K),
    FILE_TYPE(MOSTLY_IQ2_XXS, IQ2_XXS),
    FILE_TYPE(MOSTLY_IQ2_XS, IQ2_XS),
    FILE_TYPE(MOSTLY_IQ3_XXS, IQ3_XXS),
    FILE_TYPE(MOSTLY_IQ1_S, IQ1_S),
    FILE_TYPE(MOSTLY_IQ4_NL, IQ4_NL),
    FILE_TYPE(MOSTLY_IQ3_S, IQ3_S),
    FILE_TYPE(MOSTLY_IQ2_S, IQ2_S),
    FILE_TYPE(MOSTLY_IQ4_XS, IQ4_XS),
    FILE_TYPE(MOSTLY_IQ1_M, IQ1_M),
    FILE_TYPE(MOSTLY_BF16, BF16),
#undef FILE_TYPE
};

#define N_FILE_TYPES (sizeof(file_types) / sizeof(file_types[0]))

static bool
in_range(enum ggml_type type)
{
    return (unsigned)type < GGML_TYPE_COUNT;
}

const struct ggml_type_traits *
ggml_get_type_traits(enum ggml_type type)
{
    static const struct ggml_type_traits none = { .type_name = "NONE" };

    GB_NEED_OR(&none, in_range(type), "type %d is not known", (int)type);
    return &traits[type];
}

int64_t
ggml_blck_size(enum ggml_type type)
{
    return ggml_get_type_traits(type)->blck_size;
}

size_t
ggml_type_size(enum ggml_type type)
{
    return ggml_get_type_traits(type)->type_size;
}

size_t
ggml_row_size(enum ggml_type type, int64_t ne)
{
    const struct gb_type *t = gb_type_get(type);
    size_t bytes;

    GB_NEED_OR(0, t->block > 0, "type %d has no rows", (int)type);
    GB_NEED_OR(0, ne >= 0 && ne % t->block == 0,
               "row of %s: %lld values are not whole blocks of %lld", t->name,
               (long long)ne, (long long)t->block);
    if (!gb_mul_size((size_t)(ne / t->block), t->bytes, &bytes)) {
        gb_fail(GGML_STATUS_FAILED, "row of %s: %lld values are too many",
                t->name, (long long)ne);
        return 0;
    }
    return bytes;
}

double
ggml_type_sizef(enum ggml_type type)
{
    const struct ggml_type_traits *t = ggml_get_type_traits(type);

    if (t->blck_size == 0)
        return 0.0;
    return (double)t->type_size / (double)t->blck_size;
}

const char *
ggml_type_name(enum ggml_type type)
{
    return gb_type_get(type)->name;
}

bool
ggml_is_quantized(enum ggml_type type)
{
    return ggml_get_type_traits(type)->is_quantized;
}

enum ggml_type
ggml_ftype_to_ggml_type(enum ggml_ftype ftype)
{
    const unsigned i = (unsigned)ftype;

    GB_NEED_OR(GGML_TYPE_COUNT, i < N_FILE_TYPES && file_types[i].known,
               "file type %d stands for no single type", (int)ftype);
    return file_types[i].type;
}
