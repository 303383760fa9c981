/* SPDX-License-Identifier: MIT */
/*
 * tests/sched/graphs.h - random graphs for a rig.
 *
 * Graphs made from equal seeds are equal, whatever backends the rig has.
 */
#ifndef GB_TESTS_SCHED_GRAPHS_H
#define GB_TESTS_SCHED_GRAPHS_H

#include "tests/sched/rig.h"
#include "tests/util/random.h"

#define GRAPHS_INPUTS 3
#define GRAPHS_DATA   16 /* tensors with data, four in each memory */
#define GRAPHS_WIDTH  8  /* all tensors are vectors of so many floats */
#define GRAPHS_MADE   60

struct graphs {
    struct gb_random random;
    struct rig *rig;
    bool chooses; /* the client has wishes */
    bool writes;  /* operations work in place, on inputs too */
    bool writes_data; /* some of the graph at hand do so on data, if any do */
    int host; /* the memory of data that is the host's: what each of four is in */
    struct ggml_tensor *data[GRAPHS_DATA];
    struct ggml_tensor *step; /* parameters of a step of AdamW */
    struct ggml_tensor *made[GRAPHS_MADE]; /* the inputs first */
    int n_made;
};

/*
 * Data for the graphs of the rig, with few backends also in memory of a device
 * that is none of them; every other tensor has the usage WEIGHTS.
 */
void graphs_add_data(struct graphs *g, struct rig *rig);

/* A graph in the rig, which has none yet. */
void graphs_make(struct graphs *g, uint64_t seed);

/* Numbers for the data, and for the inputs, which have their places. */
void graphs_fill_data(const struct graphs *g, uint64_t seed);
void graphs_fill_inputs(const struct graphs *g, uint64_t seed);

/*
 * All bytes of the graph's outputs, and of the data, which it may have written;
 * how many they are.
 */
size_t graphs_read(const struct graphs *g, unsigned char *out);
#define GRAPHS_BYTES (400 * GRAPHS_WIDTH * sizeof(float))

/*
 * Is there a node that no backend of the rig can run where it has to write?
 * Its operation is not for those that can use the memory.
 */
bool graphs_are_refused(const struct graphs *g);

#endif
