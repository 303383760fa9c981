/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/settings.c - what the environment asks of the backend.
 */
#include "backends/cuda/device/settings.h"

#include "ggml-impl.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *
gb_cuda_setting(const char *name)
{
    const char *value = ggmlbackend_env_value(name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

const char *
gb_cuda_setting_if_on(const char *name)
{
    const char *value = gb_cuda_setting(name);

    return value != NULL && strcmp(value, "0") != 0 ? value : NULL;
}

/* Is NAME new?  With room for all variables that there are. */
static bool
note_refused(const char *name)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const char *names[16];
    bool is_new = false;

    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i] == NULL) {
            names[i] = name;
            is_new = true;
        }
        if (strcmp(names[i], name) == 0)
            break;
    }
    pthread_mutex_unlock(&lock);
    return is_new;
}

void
gb_cuda_setting_refuse(const char *name, const char *is_what)
{
    if (note_refused(name))
        GGML_LOG_WARN("%s: %s is %s, and not used\n", name,
                      gb_cuda_setting(name), is_what);
}

bool
gb_cuda_setting_is(const char *name, const char *on)
{
    const char *value = gb_cuda_setting(name);
    char text[32];

    if (value == NULL || strcmp(value, on) == 0)
        return true;
    if (strcmp(value, "off") == 0 || strcmp(value, "0") == 0)
        return false;
    snprintf(text, sizeof(text), "neither %s nor off", on);
    gb_cuda_setting_refuse(name, text);
    return true;
}

bool
gb_cuda_read_bytes(const char *text, size_t *bytes)
{
    static const char units[] = "KMG";
    const char *unit;
    char *end;
    unsigned long long n;
    int shift = 0;

    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    n = strtoull(text, &end, 10);
    if (*end != '\0') {
        unit = strchr(units, toupper((unsigned char)*end));
        if (unit == NULL || end[1] != '\0')
            return false;
        shift = 10 * (int)(unit - units + 1);
    }
    if (errno != 0 || n > SIZE_MAX >> shift)
        return false;
    *bytes = (size_t)n << shift;
    return true;
}

size_t
gb_cuda_setting_bytes(const char *name, size_t otherwise)
{
    const char *value = gb_cuda_setting_if_on(name);
    size_t bytes = 0;

    if (value != NULL && !gb_cuda_read_bytes(value, &bytes))
        gb_cuda_setting_refuse(name, "no number of bytes");
    return bytes > 0 ? bytes : otherwise;
}

/* One number of the list; *TEXT is what stands behind it. */
static bool
read_index(const char **text, int n, int *out)
{
    char *end;
    long index;

    if (!isdigit((unsigned char)**text))
        return false;
    errno = 0;
    index = strtol(*text, &end, 10);
    if (errno != 0 || index >= n)
        return false;
    *text = end;
    *out = (int)index;
    return true;
}

int
gb_cuda_read_list(const char *text, int n, int capacity, int *out)
{
    int count = 0;

    for (;;) {
        int index;

        if (count == capacity || !read_index(&text, n, &index))
            return -1;
        out[count++] = index;
        if (*text == '\0')
            return count;
        if (*text++ != ',')
            return -1;
    }
}
