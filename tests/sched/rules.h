/* SPDX-License-Identifier: MIT */
/*
 * tests/sched/rules.h - the rules by which tensors get their backends, written
 * down once more, tensor by tensor and with searches, as simply as possible.
 */
#ifndef GB_TESTS_SCHED_RULES_H
#define GB_TESTS_SCHED_RULES_H

#include "tests/sched/rig.h"

#include <stdint.h>

struct rules {
    const struct rig *rig;
    struct ggml_tensor *tensors[1000];
    int backends[1000]; /* of these, -1 for none */
    int n;
};

/*
 * Where the rules put the tensors of the rig's graph, which has no places yet.
 * They say nothing of nodes that write to memory of other tensors.
 */
void rules_apply(struct rules *rules, const struct rig *rig);

/* Fails the test when the scheduler put a tensor elsewhere. */
void rules_compare(const struct rules *rules, uint64_t seed);

#endif
