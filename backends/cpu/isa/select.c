/* SPDX-License-Identifier: MIT */
/*
 * cpu/isa/select.c - dispatch by CPU variant: the best table of kernels that
 * this machine can run.
 *
 * A variant is a row of backends/cpu/variants.m4; its table of kernels says
 * which features it needs, which are those that it was compiled for.  The last
 * row whose needs the machine meets is chosen, those for tests left out, unless
 * the environment names another one.  The choice is made on first use, kept for
 * the process and written once,
 * under GB_LOCK_CPU_VARIANT.
 */
#include "config.h"

#include "backends/cpu/kernels/api/kernels.h"
#include "backends/cpu/kernels/api/variant-name.h"
#include "backends/cpu/isa/machine.h"

#include "ggmlbackend.h"

#include "lib/base/env.h"
#include "lib/base/lock.h"
#include "lib/base/log.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* The variants that the compiler could make are a list of config.h. */
#define DECLARE(variant, floats) \
    extern const struct gb_cpu_kernels GB_CPU_NAME(variant, table);
GB_CPU_VARIANTS(DECLARE)

/* In rising order of speed, since the last one that can run is taken; the first
 * one runs on every machine. */
#define ADDRESS(variant, floats) &GB_CPU_NAME(variant, table),
static const struct gb_cpu_kernels *const variants[] = {
    GB_CPU_VARIANTS(ADDRESS)
};

#define N_VARIANTS (sizeof(variants) / sizeof(variants[0]))

/* All of this is constant once is_chosen is set. */
static atomic_bool is_chosen;
static struct gb_cpu_machine machine;
static const struct gb_cpu_kernels *usable[N_VARIANTS + 1];
static const struct gb_cpu_kernels *chosen;
static char reason[160];
static bool is_refused; /* the variant that the environment names */
static atomic_bool is_said;
/* The chosen one, or what gb_cpu_kernels_use put in its place; NULL: not known
 * yet. */
static _Atomic(const struct gb_cpu_kernels *) in_use;

/* Has a machine with FEATURES all that KERNELS need? */
static bool
can_run(const struct gb_cpu_kernels *kernels, uint32_t features)
{
    return kernels == variants[0] || (kernels->needs & ~features) == 0;
}

const struct gb_cpu_kernels *
gb_cpu_kernels_for(uint32_t features)
{
    const struct gb_cpu_kernels *best = variants[0];

    for (size_t i = 0; i < N_VARIANTS; i++) {
        if (can_run(variants[i], features) && !variants[i]->is_for_tests)
            best = variants[i];
    }
    return best;
}

/* The variants that this machine can run, in the order of the table. */
static void
find_usable(void)
{
    size_t n = 0;

    for (size_t i = 0; i < N_VARIANTS; i++) {
        if (can_run(variants[i], machine.features))
            usable[n++] = variants[i];
    }
}

/* The variant that the environment names, NULL when this machine has no
 * such. */
static const struct gb_cpu_kernels *
find_named(const char *name)
{
    for (size_t i = 0; usable[i] != NULL; i++) {
        if (strcmp(usable[i]->variant, name) == 0)
            return usable[i];
    }
    return NULL;
}

/* Chosen without logging, which is done outside of the lock.  A variant that
 * the environment names and this machine does not have is a warning, not a
 * failure. */
static void
choose(void)
{
    const char *name = gb_env_string(GB_ENV_CPU_LEVEL);
    const bool is_named = name != NULL && name[0] != '\0';

    gb_cpu_machine_detect(&machine);
    find_usable();
    chosen = gb_cpu_kernels_for(machine.features);
    snprintf(reason, sizeof(reason), "the best that this machine can run%s%s",
             machine.no_tiles != NULL ? "; " : "",
             machine.no_tiles != NULL ? machine.no_tiles : "");
    if (is_named && find_named(name) != NULL) {
        chosen = find_named(name);
        snprintf(reason, sizeof(reason), "GGMLBACKEND_CPU_LEVEL names it");
    } else if (is_named) {
        snprintf(reason, sizeof(reason),
                 "the best that this machine can run; it cannot run "
                 "\"%.40s\", which GGMLBACKEND_CPU_LEVEL names", name);
        is_refused = true;
    }
}

/* Once, and when the choice is made: the client's sink may compute
 * something. */
static void
say_choice(void)
{
    if (is_refused)
        gb_log(GGML_LOG_LEVEL_WARN, "cpu: no kernels of level \"%.40s\" for "
               "this machine, using %s", gb_env_string(GB_ENV_CPU_LEVEL),
               chosen->variant);
    gb_log(GGML_LOG_LEVEL_INFO, "cpu: %s, kernels of level %s", machine.name,
           chosen->variant);
}

static void
choose_once(void)
{
    gb_once(&is_chosen, GB_LOCK_CPU_VARIANT, choose);
    /* Relaxed: nothing else hangs on who of several threads says it. */
    if (!atomic_exchange_explicit(&is_said, true, memory_order_relaxed))
        say_choice();
}

void
gb_cpu_kernels_use(const struct gb_cpu_kernels *kernels)
{
    atomic_store_explicit(&in_use, kernels, memory_order_relaxed);
}

const struct gb_cpu_kernels *
gb_cpu_kernels(void)
{
    const struct gb_cpu_kernels *kernels =
        atomic_load_explicit(&in_use, memory_order_relaxed);

    if (kernels != NULL)
        return kernels;
    choose_once();
    gb_cpu_kernels_use(chosen);
    return chosen;
}

const char *
gb_cpu_kernels_reason(void)
{
    choose_once();
    return reason;
}

const struct gb_cpu_kernels *const *
gb_cpu_kernels_all(void)
{
    choose_once();
    return usable;
}

const struct gb_cpu_machine *
gb_cpu_machine(void)
{
    choose_once();
    return &machine;
}

const char *
ggmlbackend_cpu_level(void)
{
    return gb_cpu_kernels()->variant;
}

const char *
ggmlbackend_cpu_level_reason(void)
{
    return gb_cpu_kernels_reason();
}

const char *
ggmlbackend_cpu_level_at(size_t index)
{
    const struct gb_cpu_kernels *const *all = gb_cpu_kernels_all();

    for (size_t i = 0; all[i] != NULL; i++) {
        if (i == index)
            return all[i]->variant;
    }
    return NULL;
}
