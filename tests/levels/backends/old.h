/* SPDX-License-Identifier: MIT */
/*
 * levels/backends/old.h - the test backends of older levels, as the tests see
 * them.  It suits all levels.
 */
#ifndef GB_TESTS_LEVELS_OLD_H
#define GB_TESTS_LEVELS_OLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ggml_backend;
struct ggml_backend_reg;

/* How the next backend of 2023 is made, and what has become of all. */
struct old_2023 {
    /* Members that it lacks, by bit; 0 is one with all. */
    unsigned missing;
    size_t alignment;
    size_t misplaced; /* bytes by which its memory is off the alignment */
    size_t padding;   /* bytes that each tensor takes besides its data */
    int allocs_left;  /* buffers until one cannot be had; -1: no end */
    int inits_left;   /* backends until one cannot be had; -1: no end */
    size_t withheld;  /* bytes by which buffers are smaller than asked for */
    bool has_no_base; /* buffers answer NULL */
    bool is_broken;   /* computing tells of a failure */
    bool has_no_name; /* backends answer NULL */
    bool has_no_plan; /* for any graph */

    int n_backends, n_buffers, n_extras; /* that live now */
    int n_init_tensor, n_free_tensor;    /* calls so far, as all below */
    int n_compute, n_plan_compute;
    int n_from, n_to;
    int n_synchronize, n_supports_op;
    int n_idlers;  /* nodes that no core of 2023 made */
    int n_strange; /* tensors that no backend of this kind holds */
    int n_foreign; /* sources in memory of others */
};

extern struct old_2023 old_2023;

/* Bits of missing, in the order of the tables. */
enum old_2023_member {
    OLD_FREE_BUFFER       = 1 << 0,
    OLD_GET_BASE          = 1 << 1,
    OLD_GET_ALLOC_SIZE    = 1 << 2,
    OLD_INIT_TENSOR       = 1 << 3,
    OLD_FREE_TENSOR       = 1 << 4,
    OLD_GET_NAME          = 1 << 5,
    OLD_FREE              = 1 << 6,
    OLD_ALLOC_BUFFER      = 1 << 7,
    OLD_GET_ALIGNMENT     = 1 << 8,
    OLD_SET_TENSOR_ASYNC  = 1 << 9,
    OLD_GET_TENSOR_ASYNC  = 1 << 10,
    OLD_SYNCHRONIZE       = 1 << 11,
    OLD_CPY_TENSOR_FROM   = 1 << 12,
    OLD_CPY_TENSOR_TO     = 1 << 13,
    OLD_GRAPH_PLAN_CREATE = 1 << 14,
    OLD_GRAPH_PLAN_FREE    = 1 << 15,
    OLD_GRAPH_PLAN_COMPUTE = 1 << 16,
    OLD_GRAPH_COMPUTE     = 1 << 17,
    OLD_SUPPORTS_OP       = 1 << 18
};

/* Everything as it is at first. */
void old_2023_reset(void);

/* A backend of 2023: the function that its registration names. */
struct ggml_backend *old_2023_init(void);

/*
 * What sources of that level did without a table: computing one node in PASS
 * (0 to 2: before, computing, after) as thread ITH, false for a node that is
 * not theirs; the bytes of rows that a device gets; a sum by a plan, with the
 * status and what it is; N values rounded to TYPE; a number kept in GGUF.
 */
struct ggml_tensor;
bool old_2023_compute_forward(int pass, int ith, struct ggml_tensor *node);
size_t old_2023_split_bytes(const struct ggml_tensor *tensor, int n_rows);
int old_2023_add(float x, float y, float *sum);
bool old_2023_round(int type, const float *from, float *to, int n);
int old_2023_key(int value);

/* What the backend of 2024-10 did so far. */
struct old_2024 {
    int n_init_tensor, n_compute;
    int n_buffers; /* that live now */
};

extern struct old_2024 old_2024;

/* Its registration, of that level, and putting it into the registry. */
struct ggml_backend_reg *old_2024_reg(void);
void old_2024_register(void);

/*
 * What the functions of that level say of a registration, which may be of
 * either: its name, its devices, and whether it has a function of that name.
 */
const char *old_2024_name_of(struct ggml_backend_reg *reg);
size_t old_2024_count_of(struct ggml_backend_reg *reg);
void *old_2024_device_of(struct ggml_backend_reg *reg);
bool old_2024_has_function(struct ggml_backend_reg *reg, const char *name);

/* Another device of the same registration, put into the registry by itself. */
void old_2024_register_second(void);

#endif
