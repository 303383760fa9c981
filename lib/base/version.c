/* SPDX-License-Identifier: MIT */
/*
 * base/version.c - which library this is, and which interface it serves.
 */
#include "config.h"

#include "ggmlbackend.h"

#define TEXT_OF(x)  #x
#define VALUE_OF(x) TEXT_OF(x)

const char *
ggmlbackend_version(void)
{
    return VALUE_OF(GGMLBACKEND_VERSION_MAJOR) "." VALUE_OF(
        GGMLBACKEND_VERSION_MINOR) "." VALUE_OF(GGMLBACKEND_VERSION_PATCH);
}

int
ggmlbackend_api_level(void)
{
    return GGML_API_LEVEL;
}
