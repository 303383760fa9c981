/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-gguf/types.c - the types that weights of models have.
 */
#include "tools/ggmlbackend-gguf/types.h"

#include "tools/common/tool.h"
#include "tools/ggmlbackend-gguf/model.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/*
 * The numbers are those of general.file_type in the published list of the GGUF
 * format.  They are no numbers of tensor types.  Where the list has a small and a
 * medium mixture of a type, the row has the medium one.
 */
static const struct {
    enum ggml_type type;
    int file_number;
    enum ggml_type smaller; /* for rows that are not whole blocks of TYPE */
} weights[] = {
    { GGML_TYPE_F32, 0, GGML_TYPE_F32 },
    { GGML_TYPE_F16, 1, GGML_TYPE_F16 },
    { GGML_TYPE_BF16, 32, GGML_TYPE_BF16 },
    { GGML_TYPE_Q4_0, 2, GGML_TYPE_Q4_0 },
    { GGML_TYPE_Q4_1, 3, GGML_TYPE_Q4_1 },
    { GGML_TYPE_Q5_0, 8, GGML_TYPE_Q5_0 },
    { GGML_TYPE_Q5_1, 9, GGML_TYPE_Q5_1 },
    { GGML_TYPE_Q8_0, 7, GGML_TYPE_Q8_0 },
    { GGML_TYPE_Q2_K, 10, GGML_TYPE_IQ4_NL },
    { GGML_TYPE_Q3_K, 12, GGML_TYPE_IQ4_NL },
    { GGML_TYPE_Q4_K, 15, GGML_TYPE_Q5_0 },
    { GGML_TYPE_Q5_K, 17, GGML_TYPE_Q5_1 },
    { GGML_TYPE_Q6_K, 18, GGML_TYPE_Q8_0 },
    { GGML_TYPE_IQ1_S, 24, GGML_TYPE_IQ4_NL },
    { GGML_TYPE_IQ1_M, 31, GGML_TYPE_IQ4_NL },
    { GGML_TYPE_IQ2_XXS, 19, GGML_TYPE_IQ4_NL },
    { GGML_TYPE_IQ2_XS, 20, GGML_TYPE_IQ4_NL },
    { GGML_TYPE_IQ2_S, 28, GGML_TYPE_IQ4_NL },
    { GGML_TYPE_IQ3_XXS, 23, GGML_TYPE_IQ4_NL },
    { GGML_TYPE_IQ3_S, 26, GGML_TYPE_IQ4_NL },
    { GGML_TYPE_IQ4_NL, 25, GGML_TYPE_IQ4_NL },
    { GGML_TYPE_IQ4_XS, 30, GGML_TYPE_IQ4_NL },
    { GGML_TYPE_TQ1_0, 36, GGML_TYPE_Q4_0 },
    { GGML_TYPE_TQ2_0, 37, GGML_TYPE_Q4_0 },
};

/* Other programs' names of mixtures that do not begin with the type's name. */
static const struct {
    const char *name;
    enum ggml_type type;
} mixtures[] = {
    { "iq2_m", GGML_TYPE_IQ2_S },
    { "iq3_xs", GGML_TYPE_IQ3_S },
    { "iq3_m", GGML_TYPE_IQ3_S },
};

bool
type_has_floats(enum ggml_type type)
{
    return type == GGML_TYPE_F32 || ggml_get_type_traits(type)->to_float != NULL;
}

/* True if convert writes TYPE. */
static bool
is_written(enum ggml_type type)
{
    return ggml_get_type_traits(type)->blck_size != 0 && type_has_floats(type) &&
        !ggml_quantize_requires_imatrix(type);
}

const char *
type_names(char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (int t = 0; t < GGML_TYPE_COUNT; t++) {
        const enum ggml_type type = (enum ggml_type)t;

        if (is_written(type) && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%s",
                                     used == 0 ? "" : ", ",
                                     ggml_type_name(type));
    }
    return out;
}

/* The type that the mixture NAME, such as q4_K_M, is made of mostly;
 * GGML_TYPE_COUNT if it is none. */
static enum ggml_type
type_of_mixture(const char *name)
{
    for (size_t i = 0; i < N_OF(mixtures); i++)
        if (strcasecmp(name, mixtures[i].name) == 0)
            return mixtures[i].type;
    for (size_t i = 0; i < N_OF(weights); i++) {
        const char *type_name = ggml_type_name(weights[i].type);
        const size_t n = strlen(type_name);

        if (strncasecmp(name, type_name, n) == 0 && name[n] == '_' &&
            is_written(weights[i].type))
            return weights[i].type;
    }
    return GGML_TYPE_COUNT;
}

static bool
say_unknown(const char *name)
{
    const enum ggml_type type = type_of_mixture(name);
    char names[400];

    type_names(names, sizeof(names));
    if (type != GGML_TYPE_COUNT)
        return tool_error("--type: '%s' is a mixture of types; take %s (types: "
                          "%s)", name, ggml_type_name(type), names);
    return tool_error("--type: there is no type '%s'; types: %s", name, names);
}

bool
type_find(const char *name, enum ggml_type *out)
{
    char names[400];

    for (int t = 0; t < GGML_TYPE_COUNT; t++) {
        const enum ggml_type type = (enum ggml_type)t;
        const struct ggml_type_traits *traits = ggml_get_type_traits(type);

        if (traits->blck_size == 0 || strcasecmp(name, traits->type_name) != 0)
            continue;
        if (is_written(type)) {
            *out = type;
            return true;
        }
        return tool_error("--type: %s %s; types: %s", traits->type_name,
                          type_has_floats(type)
                              ? "needs an importance matrix, which convert "
                                "does not take"
                              : "is no type of weights",
                          type_names(names, sizeof(names)));
    }
    return say_unknown(name);
}

enum ggml_type
type_with_smaller_blocks(enum ggml_type type)
{
    for (size_t i = 0; i < N_OF(weights); i++)
        if (weights[i].type == type)
            return weights[i].smaller;
    return type;
}

int
type_file_number(enum ggml_type type)
{
    for (size_t i = 0; i < N_OF(weights); i++)
        if (weights[i].type == type)
            return weights[i].file_number;
    return -1;
}

int
command_types(void)
{
    for (int t = 0; t < GGML_TYPE_COUNT; t++)
        if (is_written((enum ggml_type)t))
            puts(ggml_type_name((enum ggml_type)t));
    return TOOL_OK;
}
