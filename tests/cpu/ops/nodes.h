/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/ops/nodes.h - a good node of each operation, and the memory of its
 * tensors between pages that are not there.
 *
 * A sample says what its sources are and which builder makes a node of them, so
 * that a test may build it from other sources, or change it afterwards.
 */
#ifndef GB_TESTS_CPU_OPS_NODES_H
#define GB_TESTS_CPU_OPS_NODES_H

#include "tests/util/random.h"

#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the samples ---- */

struct source {
    enum ggml_type type;
    int64_t ne[GGML_MAX_DIMS];
};

typedef struct ggml_tensor *(*sample_fn)(
    struct ggml_context *ctx, struct ggml_tensor *const *s);

struct sample {
    const char *name;
    enum ggml_op op;
    struct source sources[GGML_MAX_SRC]; /* ne[3] is 0 behind the last */
    sample_fn build;
};

static inline void
map_rows(const int n, float *dst, const float *a)
{
    memcpy(dst, a, (size_t)n * sizeof(*dst));
}

static inline void
map_two_rows(const int n, float *dst, const float *a, const float *b)
{
    for (int i = 0; i < n; i++)
        dst[i] = a[i] + b[i];
}

/* Clients look at what they are given, which is there. */
static inline void
map_one(struct ggml_tensor *dst, const struct ggml_tensor *a)
{
    memset(dst->data, a->ne[0] > 0, ggml_nbytes(dst));
}

static inline void
map_two(struct ggml_tensor *dst, const struct ggml_tensor *a,
        const struct ggml_tensor *b)
{
    memset(dst->data, a->ne[0] > b->ne[0], ggml_nbytes(dst));
}

static inline void
map_three(struct ggml_tensor *dst, const struct ggml_tensor *a,
          const struct ggml_tensor *b, const struct ggml_tensor *c)
{
    memset(dst->data, a->ne[0] > b->ne[0] + c->ne[0], ggml_nbytes(dst));
}

static inline void
share_one(struct ggml_tensor *dst, const struct ggml_tensor *a, int ith,
          int nth, void *data)
{
    (void)nth;
    (void)data;
    if (ith == 0)
        map_one(dst, a);
}

static inline void
share_two(struct ggml_tensor *dst, const struct ggml_tensor *a,
          const struct ggml_tensor *b, int ith, int nth, void *data)
{
    (void)nth;
    (void)data;
    if (ith == 0)
        map_two(dst, a, b);
}

static inline void
share_three(struct ggml_tensor *dst, const struct ggml_tensor *a,
            const struct ggml_tensor *b, const struct ggml_tensor *c, int ith,
            int nth, void *data)
{
    (void)nth;
    (void)data;
    if (ith == 0)
        map_three(dst, a, b, c);
}

/* The deprecated builders are part of the interface. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define SAMPLE(name, op, call, ...)                                       \
    static inline struct ggml_tensor *                                    \
    name##_sample(struct ggml_context *ctx, struct ggml_tensor *const *s) \
    {                                                                     \
        (void)s;                                                          \
        return call;                                                      \
    }
#include "tests/op/operations.def"
#pragma GCC diagnostic pop

#define F32(...)  { GGML_TYPE_F32, { __VA_ARGS__ } }
#define F16(...)  { GGML_TYPE_F16, { __VA_ARGS__ } }
#define I32(...)  { GGML_TYPE_I32, { __VA_ARGS__ } }
#define NO_SOURCES { GGML_TYPE_F32, { 0 } }
#define Q4_0(...) { GGML_TYPE_Q4_0, { __VA_ARGS__ } }
#define Q8_0(...) { GGML_TYPE_Q8_0, { __VA_ARGS__ } }

static const struct sample samples[] = {
#define SAMPLE(name, op, call, ...) \
    { #name, GGML_OP_##op, { __VA_ARGS__ }, name##_sample },
#include "tests/op/operations.def"
};

#undef F32
#undef F16
#undef I32
#undef Q4_0
#undef Q8_0
#undef NO_SOURCES

#define N_SAMPLES (sizeof(samples) / sizeof(samples[0]))

static inline int
n_sources(const struct sample *sample)
{
    int n = 0;

    while (n < GGML_MAX_SRC && sample->sources[n].ne[3] != 0)
        n++;
    return n;
}

/* ---- memory ---- */

/* A tensor's bytes and no more: where they end, or begin, a page follows that
 * is not there.  The other end has one as well, less than a page away. */
struct room {
    char *map;
    size_t mapped;
};

struct rooms {
    struct room room[GGML_MAX_SRC + 1];
    int n;
};

/* SIZE bytes at a multiple of ALIGN, as near to the page behind them as that
 * allows. */
static inline void *
rooms_add(struct rooms *rooms, size_t size, size_t align)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t whole = (size + page - 1) / page * page;
    struct room *room = &rooms->room[rooms->n];

    assert_true(rooms->n <= GGML_MAX_SRC);
    room->mapped = whole + 2 * page;
    room->map = mmap(NULL, room->mapped, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(room->map != MAP_FAILED);
    if (whole > 0)
        assert_int_equal(mprotect(room->map + page, whole,
                                  PROT_READ | PROT_WRITE), 0);
    rooms->n++;
    return room->map + page + (whole - size) / align * align;
}

static inline void
rooms_free(struct rooms *rooms)
{
    for (int i = 0; i < rooms->n; i++)
        munmap(rooms->room[i].map, rooms->room[i].mapped);
    rooms->n = 0;
}

/* Values that every operation can work on: numbers about 1, indices 0 to 2,
 * scales about 1. */
static inline void
fill_tensor(struct ggml_tensor *t, struct gb_random *r)
{
    const size_t bytes = ggml_nbytes(t);

    switch ((int)t->type) {
    case GGML_TYPE_F32:
        for (size_t i = 0; i < bytes / sizeof(float); i++)
            ((float *)t->data)[i] = gb_random_float(r, 0.5f, 1.5f);
        break;
    case GGML_TYPE_F16:
        for (size_t i = 0; i < bytes / sizeof(ggml_fp16_t); i++)
            ((ggml_fp16_t *)t->data)[i] =
                ggml_fp32_to_fp16(gb_random_float(r, 0.5f, 1.5f));
        break;
    case GGML_TYPE_I32:
        for (size_t i = 0; i < bytes / sizeof(int32_t); i++)
            ((int32_t *)t->data)[i] = (int32_t)i % 3;
        break;
    default: /* blocks: a half, 0.0035, in the beginning, then anything */
        memset(t->data, 0x1B, bytes);
        break;
    }
}

#endif
