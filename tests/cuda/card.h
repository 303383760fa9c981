/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/card.h - what the parts of tests/cuda/card share: the cards,
 * tensors with numbers by chance, and one product.  All of it is for children
 * of the test: what cannot be done ends them.
 */
#ifndef GB_TESTS_CUDA_CARD_H
#define GB_TESTS_CUDA_CARD_H

#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml-cuda.h"
#include "ggml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the emulated card; a real one has what it has. */
#define CARD_MEMORY "EMU_MEMORY=268435456"

enum { KiB = 1 << 10, MiB = 1 << 20 };

/* RUN in a child; a part that is left out is told. */
void card_run(void (*run)(void), const char *variables);
/* A part cannot be done here, for WHY; false. */
bool card_leave_out(const char *why);

/* The emulated driver is the one that is found from then on; false where a
 * module is named. */
bool card_open_emulator(void);
/* The module, which has a card. */
void card_load(void);
/* False: there are no two cards that are alike, and none was to be two. */
bool card_load_two(void);
ggml_backend_t card_backend(int device);
/* Of the first card, in bytes. */
size_t card_free_memory(void);
size_t card_total_memory(void);
/* LARGE is for cards, whose memory tells them from the emulated one. */
int64_t card_size(int64_t small, int64_t large);

/* To be freed by the caller. */
void *card_room(size_t size);
float *card_numbers(int64_t n, uint64_t seed);
void *card_numbers_as(enum ggml_type type, int64_t per_row, int64_t n_rows,
                      uint64_t seed);
float *card_get(const struct ggml_tensor *tensor);

struct ggml_context *card_context(void);
void card_set(struct ggml_tensor *tensor, const void *data);
/* Twice: the second time what was recorded is run. */
void card_compute(ggml_backend_t backend, struct ggml_cgraph *graph);

/* Weights of M rows of K values, times N columns. */
struct card_given {
    enum ggml_type type;
    int64_t k, m, n;
    void *weights;
    float *x;
};

struct card_given
card_given_make(enum ggml_type type, int64_t k, int64_t m, int64_t n);
void card_given_free(struct card_given *given);
/* The normalised mean squared error of some columns is below 1e-3; OUT has N of
 * them. */
bool card_is_right(const struct card_given *given, const float *out, int64_t n);

struct card_product {
    struct ggml_context *weights_ctx, *ctx;
    struct ggml_tensor *weights, *x, *result;
    ggml_backend_buffer_t weights_buffer, buffer;
    struct ggml_cgraph *graph;
};

/* On the first device, but for its weights; without numbers if memory is not to
 * be had. */
struct card_product card_product_make(ggml_backend_buffer_type_t weights,
                                      const struct card_given *given);
bool card_has_memory(const struct card_product *p);
void card_product_free(struct card_product *p);
/* Its values, to be freed by the caller. */
float *card_product_of(ggml_backend_buffer_type_t weights,
                       const struct card_given *given);

/* The tests of the program. */
void memory_is_the_same_after_100_rounds(void **state);
void too_large_is_told_and_goes_on(void **state);
void rows_over_two_devices(void **state);
void layers_over_two_devices(void **state);
void copies_between_devices_are_right(void **state);
void a_programs_own_cuda_goes_on(void **state);

#endif
