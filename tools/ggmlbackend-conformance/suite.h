/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/suite.h - making a case, running it on a device, and
 * comparing the result with the reference.
 *
 * A case is made between suite_begin and suite_check: leafs filled with numbers from a
 * generator seeded by the case, views of them, and one node, or a few that follow each
 * other.
 */
#ifndef CONFORMANCE_SUITE_H
#define CONFORMANCE_SUITE_H

#include "tools/common/progress.h"

#include "ggml-backend.h"
#include "ggml.h"

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

enum outcome { PASSED, FAILED, UNSUPPORTED, N_OUTCOMES };

/* How a leaf is filled. */
enum fill {
    FILL_UNIFORM,  /* floats in [low, high] */
    FILL_INTEGERS, /* whole numbers in [low, high) */
    FILL_DISTINCT, /* each value of a row once, in random order */
    FILL_HIDING,   /* a mask: runs of floats, as above, and of -infinity; a
                      quarter of the rows are nothing else */
};

struct leaf {
    struct ggml_tensor *tensor;
    enum fill fill;
    double low, high;
};

enum { MAX_LEAFS = 16, MAX_BESIDE = 3 };

struct suite {
    ggml_backend_t backend;
    const char *only;  /* name of the operation to check, NULL for all */
    uint64_t seed;
    bool verbose;      /* a line for each case, not for failures alone */
    bool loose;        /* leafs' strides are odd where no step is taken */
    uint64_t part, parts; /* cases whose number leaves that remainder are run */
    const regex_t *cases; /* those whose description matches, NULL for all */
    bool is_counting;  /* cases are numbered and not run */
    struct progress bar; /* of numbers of cases */

    /* The case in hand */
    struct ggml_context *ctx;
    struct leaf leafs[MAX_LEAFS];
    int n_leafs;
    struct ggml_tensor *beside[MAX_BESIDE]; /* nodes that the last one does not read */
    int n_beside;
    uint64_t random;

    /* What came of it, by operation; UNARY by function behind the operations. */
    int64_t counts[GGML_OP_COUNT + GGML_UNARY_OP_COUNT][N_OUTCOMES];
    uint64_t n_cases;
};

/* Starts a case of OP, or of one function of UNARY, unless another one was asked
   for; false then. */
bool suite_begin(struct suite *s, enum ggml_op op);
bool suite_begin_unary(struct suite *s, enum ggml_unary_op op);

/* Leafs of the case; NULL-safe builders take them as they come. */
struct ggml_tensor *leaf_4d(struct suite *s, enum ggml_type type, int64_t n0,
                            int64_t n1, int64_t n2, int64_t n3);
struct ggml_tensor *leaf_range(struct suite *s, enum ggml_type type,
                               const int64_t ne[4], double low, double high);
struct ggml_tensor *leaf_filled(struct suite *s, enum ggml_type type,
                                const int64_t ne[4], enum fill fill, double low,
                                double high);

/*
 * Rows of N0 elements, FAR_ROWS of them, so far apart that the last one begins
 * beyond 4 GiB, in memory of which only the rows are touched.
 */
enum { FAR_ROWS = 5 };
struct ggml_tensor *leaf_far(struct suite *s, enum ggml_type type, int64_t n0,
                             double low, double high);
/* The same with N1 rows, 2 or more. */
struct ggml_tensor *leaf_far_rows(struct suite *s, enum ggml_type type,
                                  int64_t n0, int64_t n1, double low,
                                  double high);

/* A whole number in [0, n). */
int64_t suite_random(struct suite *s, int64_t n);

/* Let NODE, and what it reads, stand in front of the case's last node, whether that
 * reads it or not; at most MAX_BESIDE times. */
void suite_beside(struct suite *s, struct ggml_tensor *node);

/*
 * Runs the case, whose last node is NODE, and counts what came of it.  LIMIT is the
 * largest normalised mean squared error of any node; 0 for exact.
 */
void suite_check(struct suite *s, struct ggml_tensor *node, double limit);

/* The largest error that rounding to TYPE may bring about. */
double limit_of_type(enum ggml_type type);

/* The families of cases. */
void cases_elements(struct suite *s);
void cases_layout(struct suite *s);
void cases_copies(struct suite *s);
void cases_products(struct suite *s);
void cases_many_products(struct suite *s);
void cases_cache_types(struct suite *s);
void cases_long_products(struct suite *s);
void cases_networks(struct suite *s);
void cases_attention(struct suite *s);
void cases_sequences(struct suite *s);
void cases_images(struct suite *s);
void cases_single(struct suite *s);
void cases_types(struct suite *s);
void cases_far(struct suite *s);
void cases_chains(struct suite *s);

#endif
