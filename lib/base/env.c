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
static atomic_bool is_warned[GB_ENV_COUNT];

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

/*
 * The log asks for a variable itself, so what was lost is said when all have
 * been read.  Relaxed: nothing else hangs on who of several threads says it.
 */
static void
ensure_read(void)
{
    int index;

    gb_once(&is_read, GB_LOCK_ENV, read_all);
    if (atomic_load_explicit(&lost, memory_order_relaxed) == 0)
        return;
    index = atomic_exchange_explicit(&lost, 0, memory_order_relaxed) - 1;
    if (index >= 0)
        gb_log(GGML_LOG_LEVEL_ERROR,
               "environment: no memory, %s counts as unset",
               table[index].name);
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

static bool
parse_int(const char *text, int *out)
{
    char *end;
    long value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0)
        return false;
    if (value < INT_MIN || value > INT_MAX)
        return false;
    *out = (int)value;
    return true;
}

int
gb_env_int(enum gb_env id)
{
    const char *text = gb_env_string(id);
    int value = 0;

    if (parse_int(text, &value))
        return value;
    /* Relaxed: nothing else hangs on who of several threads says it. */
    if (!atomic_exchange_explicit(&is_warned[id], true, memory_order_relaxed))
        gb_log(GGML_LOG_LEVEL_WARN, "%s: '%s' is no number, using %s",
               table[id].name, text, table[id].default_value);
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
