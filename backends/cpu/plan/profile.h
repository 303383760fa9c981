/* SPDX-License-Identifier: MIT */
/*
 * cpu/plan/profile.h - what the threads' time was spent on, for a client.
 *
 * Each thread adds up its own nanoseconds by phase, chains and waves being what they
 * are without a profile; what is left of a thread's time it waited, or looked for
 * work.  Who asks pays two looks at the clock for each run of tiles, about 50 ns.
 */
#ifndef GB_CPU_PLAN_PROFILE_H
#define GB_CPU_PLAN_PROFILE_H

#include "backends/cpu/plan/plan.h"

#include "ggmlbackend.h"

/* The function of that name of the registration. */
void gb_cpu_set_profile(ggmlbackend_profile_callback callback, void *data);

/* N_PHASES counters of zero for each thread of PLAN, which gb_cpu_profile_end
 * frees; NULL where nobody asks, or without memory, which is warned of. */
int64_t *gb_cpu_profile_begin(const struct gb_cpu_plan *plan);

/* Tell the client what is in TIMES, of a graph that began at START by the
 * timeline's clock. */
void gb_cpu_profile_end(
    const struct gb_cpu_plan *plan, int64_t *times, int64_t start);

#endif
