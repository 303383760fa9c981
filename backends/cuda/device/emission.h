/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/emission.h - what rows of the operation table emit becomes
 * launches of a plan.
 */
#ifndef GB_CUDA_DEVICE_EMISSION_H
#define GB_CUDA_DEVICE_EMISSION_H

#include "backends/cuda/device/plan.h"
#include "backends/cuda/ops/emit.h"

struct gb_cuda_needs;

struct gb_cuda_emission {
    struct gb_cuda_emit emit;
    struct gb_cuda_plan *plan;
    struct gb_cuda_card *card;
    enum ggml_status status;
    bool is_lowered; /* a kernel is missing: begin again */
    bool is_other;   /* launches do not fit in where they should */
    size_t next, end; /* those to change */
};

/* Launches for PLAN, which is emptied; MEMORY has what NEEDS says. */
struct gb_cuda_emission gb_cuda_emission_new(
    struct gb_cuda_plan *plan, struct gb_cuda_card *card,
    const struct gb_cuda_limits *limits, const struct gb_cuda_needs *needs,
    gb_cuda_address memory);

/* Other arguments for launches that PLAN has: next to end. */
struct gb_cuda_emission gb_cuda_emission_change(
    struct gb_cuda_plan *plan, struct gb_cuda_card *card,
    const struct gb_cuda_limits *limits, const struct gb_cuda_needs *needs,
    gb_cuda_address memory);

/* What is computed where node I stands: it, the group of which that is the
 * place, or nothing. */
void gb_cuda_emission_at(
    struct gb_cuda_emission *emission, const struct ggml_cgraph *cgraph, int i);

/* Is NODE one that launches compute? */
bool gb_cuda_needs_work(const struct ggml_tensor *node);

#endif
