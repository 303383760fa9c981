/* SPDX-License-Identifier: MIT */
/*
 * sim/config.c - what a device is like, and the settings that say so.
 *
 * Settings are a list with commas, "name=value".  Sizes may end in K, M or G;
 * lists in a setting have a + between their items:
 *
 *     devices=4              how many there are
 *     memory=64M             of each
 *     max_buffer=1M          largest buffer
 *     alignment=256          of tensors
 *     padding=32             bytes behind each tensor
 *     delay=100              microseconds until queued work runs by itself;
 *                            "never": only when somebody waits for it
 *     offload=32             rows that make an operation worth it; 0: none is
 *     without=events+plans   members that are missing (members.def)
 *     with=from_host_ptr     members that are there
 *     without_ops=MUL_MAT    operations that are not supported
 *     without_types=q4_0     types that are not
 *
 * What is wrong is refused as a whole.
 */
#include "backends/sim/state.h"

#include "ggmlbackend.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct parsing {
    int n_devices;
    struct gb_sim_config config;
};

/* Where a setting goes. */
struct setting {
    const char *name;
    bool (*read)(const char *value, void *to);
    size_t offset; /* in struct parsing */
};

static const char *const members[GB_SIM_MEMBER_COUNT] = {
#define GB_SIM_MEMBER(id, name) [GB_SIM_##id] = name,
#include "backends/sim/members.def"
#undef GB_SIM_MEMBER
};

void
gb_sim_default(struct gb_sim_config *out)
{
    memset(out, 0, sizeof(*out));
    out->memory = SIZE_MAX > UINT32_MAX ? (size_t)(UINT64_C(8) << 30)
                                        : (size_t)2 << 30;
    out->max_buffer = out->memory;
    out->alignment = 128;
    out->delay_us = -1;
    out->offload_min = 32;
    out->without[GB_SIM_FROM_HOST_PTR] = true;
}

bool
gb_sim_config_is_good(const struct gb_sim_config *config)
{
    const size_t a = config->alignment;

    return a > 0 && (a & (a - 1)) == 0 && a <= 4096 && config->max_buffer > 0;
}

/* ---- values ---- */

/* A decimal number; *end is what stands behind it. */
static bool
read_number(const char *text, const char **end, unsigned long long *out)
{
    char *stop;

    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    *out = strtoull(text, &stop, 10);
    *end = stop;
    return errno == 0;
}

static bool
read_size(const char *value, void *to)
{
    static const char units[] = "KMG";
    unsigned long long n;
    const char *end, *unit;
    int shift = 0;

    if (!read_number(value, &end, &n))
        return false;
    if (*end != '\0') {
        unit = strchr(units, toupper((unsigned char)*end));
        if (unit == NULL || end[1] != '\0')
            return false;
        shift = 10 * (int)(unit - units + 1);
    }
    if (n > SIZE_MAX >> shift)
        return false;
    *(size_t *)to = (size_t)n << shift;
    return true;
}

static bool
read_int64(const char *value, void *to)
{
    unsigned long long n;
    const char *end;

    if (!read_number(value, &end, &n) || *end != '\0' || n > INT64_MAX / 2)
        return false;
    *(int64_t *)to = (int64_t)n;
    return true;
}

static bool
read_delay(const char *value, void *to)
{
    if (strcmp(value, "never") != 0)
        return read_int64(value, to);
    *(int64_t *)to = -1;
    return true;
}

static bool
read_devices(const char *value, void *to)
{
    int64_t n;

    if (!read_int64(value, &n) || n < 1 || n > GB_SIM_MAX_DEVICES)
        return false;
    *(int *)to = (int)n;
    return true;
}

/* ---- lists ---- */

static const char *
member_name(int i)
{
    return members[i];
}

static const char *
op_name(int i)
{
    return ggml_op_name((enum ggml_op)i);
}

static const char *
type_name(int i)
{
    return ggml_type_name((enum ggml_type)i);
}

/* Set what the items of VALUE name, of COUNT that there are. */
static bool
read_list(const char *value, const char *(*name_of)(int), int count, bool set,
          bool *out)
{
    for (;;) {
        const size_t n = strcspn(value, "+");
        int i = 0;

        while (i < count && (name_of(i) == NULL || strlen(name_of(i)) != n ||
                             memcmp(name_of(i), value, n) != 0))
            i++;
        if (i == count || n == 0)
            return false;
        out[i] = set;
        if (value[n] == '\0')
            return true;
        value += n + 1;
    }
}

static bool
read_without(const char *value, void *to)
{
    return read_list(value, member_name, GB_SIM_MEMBER_COUNT, true, to);
}

static bool
read_with(const char *value, void *to)
{
    return read_list(value, member_name, GB_SIM_MEMBER_COUNT, false, to);
}

static bool
read_ops(const char *value, void *to)
{
    return read_list(value, op_name, GGML_OP_COUNT, true, to);
}

static bool
read_types(const char *value, void *to)
{
    return read_list(value, type_name, GGML_TYPE_COUNT, true, to);
}

/* ---- settings ---- */

#define AT(field) offsetof(struct parsing, field)

static const struct setting settings[] = {
    { "devices", read_devices, AT(n_devices) },
    { "memory", read_size, AT(config.memory) },
    { "max_buffer", read_size, AT(config.max_buffer) },
    { "alignment", read_size, AT(config.alignment) },
    { "padding", read_size, AT(config.padding) },
    { "delay", read_delay, AT(config.delay_us) },
    { "offload", read_int64, AT(config.offload_min) },
    { "without", read_without, AT(config.without) },
    { "with", read_with, AT(config.without) },
    { "without_ops", read_ops, AT(config.without_op) },
    { "without_types", read_types, AT(config.without_type) },
};

/* One setting, which is cut at its =. */
static bool
read_setting(char *text, struct parsing *parsing)
{
    char *value = strchr(text, '=');

    if (value == NULL)
        return false;
    *value++ = '\0';
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (strcmp(settings[i].name, text) == 0)
            return settings[i].read(value,
                                    (char *)parsing + settings[i].offset);
    }
    return false;
}

bool
gb_sim_parse(
    const char *list, int *n_devices, struct gb_sim_config *config)
{
    struct parsing parsing = { *n_devices, *config };
    const char *text = list;

    while (*text != '\0') {
        const size_t n = strcspn(text, ",");
        char one[256];

        if (n >= sizeof(one))
            return false;
        memcpy(one, text, n);
        one[n] = '\0';
        if (!read_setting(one, &parsing))
            return false;
        text += n;
        /* A comma has a setting behind it. */
        if (*text == ',' && *++text == '\0')
            return false;
    }
    if (!gb_sim_config_is_good(&parsing.config))
        return false;
    *n_devices = parsing.n_devices;
    *config = parsing.config;
    return true;
}
