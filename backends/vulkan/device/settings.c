/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/settings.c - what the environment asks of the backend.
 */
#include "backends/vulkan/device/settings.h"

#include "ggml-impl.h"
#include "ggmlbackend.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const char *
gb_vk_setting(const char *name)
{
    const char *value = ggmlbackend_env_value(name);

    return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0
               ? value : NULL;
}

/* Is it the first time that the value of NAME is refused?  With room for all
 * variables of this file. */
static bool
note_refused(const char *name)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const char *names[8];
    size_t i = 0;
    bool is_new = false;

    pthread_mutex_lock(&lock);
    while (i < sizeof(names) / sizeof(names[0]) && names[i] != NULL &&
           strcmp(names[i], name) != 0)
        i++;
    if (i < sizeof(names) / sizeof(names[0]) && names[i] == NULL) {
        names[i] = name;
        is_new = true;
    }
    pthread_mutex_unlock(&lock);
    return is_new;
}

/* 0 is off too. */
bool
gb_vk_setting_is_on(const char *name)
{
    const char *value = ggmlbackend_env_value(name);

    if (value == NULL || value[0] == '\0' || strcmp(value, "on") == 0)
        return true;
    if (strcmp(value, "off") == 0 || strcmp(value, "0") == 0)
        return false;
    if (note_refused(name))
        GGML_LOG_WARN("%s: %s is neither on nor off, and not used\n", name,
                      value);
    return true;
}

/* Of K, M, G, in either case, and the end of the text; -1 for what else is written. */
static int
shift_of(const char *unit)
{
    static const char units[] = "KMG";
    const char *found;

    if (unit[0] == '\0')
        return 0;
    found = strchr(units, toupper((unsigned char)unit[0]));
    return found != NULL && unit[1] == '\0' ? 10 * (int)(found - units + 1)
                                            : -1;
}

size_t
gb_vk_setting_bytes(const char *name, size_t otherwise)
{
    const char *value = gb_vk_setting(name);
    unsigned long long bytes;
    char *end;
    int shift;

    if (value == NULL)
        return otherwise;
    errno = 0;
    bytes = strtoull(value, &end, 10);
    shift = shift_of(end);
    if (errno == 0 && isdigit((unsigned char)value[0]) && shift >= 0 &&
        bytes <= SIZE_MAX >> shift)
        return bytes > 0 ? (size_t)bytes << shift : otherwise;
    if (note_refused(name))
        GGML_LOG_WARN("%s: %s is no number of bytes, and not used\n", name,
                      value);
    return otherwise;
}

bool
gb_vk_test_has(const char *word)
{
    const char *text = gb_vk_setting("GGMLBACKEND_VULKAN_TEST");
    const size_t length = strlen(word);

    while (text != NULL) {
        if (strncmp(text, word, length) == 0 &&
            (text[length] == '\0' || text[length] == ','))
            return true;
        text = strchr(text, ',');
        if (text != NULL)
            text++;
    }
    return false;
}

static bool
is_listed(const int *list, int n, int number)
{
    for (int i = 0; i < n; i++)
        if (list[i] == number)
            return true;
    return false;
}

int
gb_vk_read_list(const char *text, int n, int capacity, int *out)
{
    int count = 0;

    for (;;) {
        char *end;
        long number;

        if (!isdigit((unsigned char)*text))
            return -1;
        errno = 0;
        number = strtol(text, &end, 10);
        if (errno != 0 || number >= n || count == capacity ||
            is_listed(out, count, (int)number))
            return -1;
        out[count++] = (int)number;
        if (*end == '\0')
            return count;
        if (*end != ',')
            return -1;
        text = end + 1;
    }
}
