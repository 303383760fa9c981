/* SPDX-License-Identifier: MIT */
/*
 * cpu/plan/waves.h - phases that need not wait for each other.
 *
 * A wave is a run of phases whose tiles are given out together, without a
 * barrier between them.  Within it a chain is a run of phases that have the
 * same rows and are done tile by tile (fused tiles): a tile of the second one
 * finds in the cache what the same tile of the one before it has left there.
 *
 * A graph's nodes stand in an order in which each may be computed when those
 * before it have been.  Here a phase is moved ahead of its neighbours where
 * there is no hazard: where nothing that it reads is written, and nothing that
 * it writes is read or written, by what it passes.  That is asked of addresses,
 * since an allocator gives the same memory to several tensors.
 */
#ifndef GB_CPU_PLAN_WAVES_H
#define GB_CPU_PLAN_WAVES_H

#include "backends/cpu/plan/plan.h"

/*
 * Put PHASE, whose tiles are more than one, among the N that are at PHASES,
 * which has room for it: into a chain, into a wave, or behind all as a wave of
 * its own.  The phases of a step are put one after another.
 */
void gb_cpu_wave_add(
    struct gb_cpu_phase *phases, int64_t n, struct gb_cpu_phase phase);

/* True if A and B share bytes, or if either has no address yet. */
bool gb_cpu_overlaps(
    const struct ggml_tensor *a, const struct ggml_tensor *b);

#endif
