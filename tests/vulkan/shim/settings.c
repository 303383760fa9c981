/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/settings.c - what the environment asks of the shim.
 */
#include "tests/vulkan/shim/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *
shim_setting(const char *name)
{
    char whole[64];
    const char *value;

    snprintf(whole, sizeof(whole), "GGMLBACKEND_TEST_VK_%s", name);
    value = getenv(whole);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

uint64_t
shim_setting_number(const char *name)
{
    const char *value = shim_setting(name);

    return value != NULL ? strtoull(value, NULL, 0) : 0;
}

/* What stands behind WORD in TEXT, words with commas between them; NULL. */
static const char *
behind(const char *text, const char *word)
{
    const size_t length = strlen(word);

    while (text != NULL) {
        if (strncmp(text, word, length) == 0 &&
            (text[length] == '\0' || text[length] == ',' ||
             text[length] == ':'))
            return text + length;
        text = strchr(text, ',');
        text = text != NULL ? text + 1 : NULL;
    }
    return NULL;
}

bool
shim_is_without(const char *name)
{
    return behind(shim_setting("WITHOUT"), name) != NULL;
}

bool
shim_limit(const char *name, uint64_t *value)
{
    const char *at = behind(shim_setting("LIMITS"), name);

    if (at == NULL)
        return false;
    *value = *at == ':' ? strtoull(at + 1, NULL, 0) : 1;
    return true;
}
