/* SPDX-License-Identifier: MIT */
/*
 * base/guid.c - comparing the identifiers of kinds of backends.
 */
#include "config.h"

#include "lib/base/status.h"

#include <string.h>

bool
ggml_guid_matches(ggml_guid_t guid_a, ggml_guid_t guid_b)
{
    GB_NEED_OR(false, guid_a != NULL && guid_b != NULL,
               "guid_matches: an identifier is NULL");
    return memcmp(guid_a, guid_b, sizeof(ggml_guid)) == 0;
}
