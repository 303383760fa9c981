/* SPDX-License-Identifier: MIT */
/*
 * base/env.c - the table of environment variables; the only reader of them.
 *
 * All are read together, on first use: a program that changes its environment
 * later, in whatever thread, changes nothing for the library.
 */
#include "config.h"

#include "lib/base/env.h"

#include "ggmlbackend.h"

#include "lib/base/lock.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/auxv.h>
#endif

#define TYPE_BOOL   "bool"
#define TYPE_INT    "int"
#define TYPE_STRING "string"
#define TYPE_PATH   "path"

struct variable {
    const char *name;
    const char *type;
    const char *default_value;
    const char *help;
};

static const struct variable table[GB_ENV_COUNT] = {
#define GB_ENV(id, name, type, default_value, help) \
    [GB_ENV_##id] = { name, TYPE_##type, default_value, help },
#include "lib/base/env.def"
#undef GB_ENV
};

static atomic_bool is_read;
static char *values[GB_ENV_COUNT]; /* NULL: unset */

/* Has somebody looked for values that mean nothing, to warn of them? */
static atomic_bool is_checked;

/* A value that found no memory, until that is said; 0 is none. */
static atomic_int lost;

bool
gb_env_is_privileged(void)
{
#if defined(__linux__)
    if (getauxval(AT_SECURE) != 0)
        return true;
#endif
    return getuid() != geteuid() || getgid() != getegid();
}

/* A value that finds no memory counts as unset. */
static void
read_all(void)
{
    if (gb_env_is_privileged())
        return;
    for (int i = 0; i < GB_ENV_COUNT; i++) {
        const char *value = getenv(table[i].name);

        if (value == NULL)
            continue;
        values[i] = gb_mem_strdup(value);
        if (values[i] == NULL)
            atomic_store_explicit(&lost, i + 1, memory_order_relaxed);
    }
}

/* Digits of an int; strtol takes blanks and signs as well. */
static bool
parse_int(const char *text, int *out)
{
    long value;

    if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0')
        return false;
    errno = 0;
    value = strtol(text, NULL, 10);
    if (errno != 0 || value > INT_MAX)
        return false;
    *out = (int)value;
    return true;
}

/* What VALUE should be for a variable, or NULL where it is that. */
static const char *
what_is_wanted(const struct variable *v, const char *value)
{
    int number;

    if (v == &table[GB_ENV_LOG])
        return gb_log_is_level(value)
            ? NULL : "none of debug, info, warn, error and none";
    if (strcmp(v->type, TYPE_INT) == 0)
        return parse_int(value, &number) ? NULL : "no number";
    if (strcmp(v->type, TYPE_BOOL) == 0)
        return strcmp(value, "0") == 0 || strcmp(value, "1") == 0
            ? NULL : "neither 0 nor 1";
    return NULL;
}

/* The value that counts instead of one that means nothing. */
static const char *
used_instead(const struct variable *v)
{
    return strcmp(v->type, TYPE_BOOL) == 0 ? "1" : v->default_value;
}

/* Warn of each value that means nothing; an empty one counts as unset. */
static void
check_all(void)
{
    for (int i = 0; i < GB_ENV_COUNT; i++) {
        const struct variable *v = &table[i];
        const char *value = values[i];
        const char *wrong = value == NULL || value[0] == '\0'
            ? NULL : what_is_wanted(v, value);

        if (wrong != NULL)
            gb_log(GGML_LOG_LEVEL_WARN, "%s: '%s' is %s, using %s", v->name,
                   value, wrong, used_instead(v));
    }
}

static void
say_lost(void)
{
    const int index =
        atomic_exchange_explicit(&lost, 0, memory_order_relaxed) - 1;

    if (index >= 0)
        gb_log(GGML_LOG_LEVEL_ERROR,
               "environment: no memory, %s counts as unset",
               table[index].name);
}

/*
 * The log asks for a variable itself, so messages follow when all have been
 * read.  Relaxed: nothing else hangs on who of several threads says it.
 */
static void
ensure_read(void)
{
    gb_once(&is_read, GB_LOCK_ENV, read_all);
    if (atomic_load_explicit(&lost, memory_order_relaxed) != 0)
        say_lost();
    if (!atomic_load_explicit(&is_checked, memory_order_relaxed) &&
        !atomic_exchange_explicit(&is_checked, true, memory_order_relaxed))
        check_all();
}

const char *
gb_env_string(enum gb_env id)
{
    ensure_read();
    return values[id] != NULL ? values[id] : table[id].default_value;
}

bool
gb_env_bool(enum gb_env id)
{
    const char *value = gb_env_string(id);

    return strcmp(value, "") != 0 && strcmp(value, "0") != 0;
}

int
gb_env_int(enum gb_env id)
{
    int value = 0;

    if (!parse_int(gb_env_string(id), &value))
        parse_int(table[id].default_value, &value);
    return value;
}

size_t
ggmlbackend_env_count(void)
{
    return GB_ENV_COUNT;
}

bool
ggmlbackend_env_get(size_t index, struct ggmlbackend_env_entry *entry)
{
    GB_NEED_OR(false, entry != NULL, "env_get: the entry is NULL");
    if (index >= GB_ENV_COUNT)
        return false;
    ensure_read();
    entry->name = table[index].name;
    entry->type = table[index].type;
    entry->default_value = table[index].default_value;
    entry->help = table[index].help;
    entry->value = values[index];
    return true;
}

const char *
ggmlbackend_env_value(const char *name)
{
    GB_NEED_OR(NULL, name != NULL, "env_value: the name is NULL");
    for (int i = 0; i < GB_ENV_COUNT; i++) {
        if (strcmp(table[i].name, name) == 0) {
            ensure_read();
            return values[i];
        }
    }
    return NULL;
}
