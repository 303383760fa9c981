/* SPDX-License-Identifier: MIT */
/*
 * base/env.h - environment variables, read once.
 */
#ifndef GB_BASE_ENV_H
#define GB_BASE_ENV_H

#include <stdbool.h>

enum gb_env {
#define GB_ENV(id, name, type, default_value, help) GB_ENV_##id,
#include "lib/base/env.def"
#undef GB_ENV
    GB_ENV_COUNT
};

/*
 * The value in force.  The environment is read on the first call of any of
 * them; later changes are not seen.  A privileged program sees the defaults
 * only.
 *
 * A boolean is false for "" and "0" and true for anything else.  An integer is
 * digits; another value counts as unset.  The first call of all warns of values
 * that mean nothing.  Strings live as long as the process.  Any thread.
 */
bool gb_env_bool(enum gb_env id);
int gb_env_int(enum gb_env id);
const char *gb_env_string(enum gb_env id);

/* Has the program more rights than the user who started it?  Any thread. */
bool gb_env_is_privileged(void);

#endif
