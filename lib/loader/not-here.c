/* SPDX-License-Identifier: MIT */
/*
 * loader/not-here.c - why a backend gave no registration.
 */
#include "config.h"

#include "lib/loader/not-here.h"

#include "ggmlbackend.h"

#include "lib/base/quote.h"
#include "lib/base/status.h"

#include <stdio.h>

static _Thread_local char said[GB_REASON_SIZE];

void
gb_not_here_clear(void)
{
    said[0] = '\0';
}

const char *
gb_not_here_reason(void)
{
    return said[0] != '\0' ? said : "ggml_backend_init gave nothing";
}

struct ggml_backend_reg *
ggmlbackend_not_here(const char *fmt, ...)
{
    char text[GB_REASON_SIZE];
    va_list args;

    GB_NEED_OR(NULL, fmt != NULL, "not_here: no reason");
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    gb_quote(text, "", said, sizeof(said));
    return NULL;
}
