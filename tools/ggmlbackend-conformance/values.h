/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/values.h - a tensor's values in double precision.
 */
#ifndef CONFORMANCE_VALUES_H
#define CONFORMANCE_VALUES_H

#include "ggml.h"

#include <stdbool.h>
#include <stdint.h>

/* All values in index order, whatever the tensor's type and strides. */
struct values {
    int64_t ne[4];
    double *v;
    double terms; /* of sums: the sum of all terms' squares, which do not cancel
                     each other; else 0 */
};

/* Room for values of that shape, zeroed.  Ends the program without memory. */
struct values values_new(const int64_t ne[4]);
struct values values_copy(const struct values *values);
void values_free(struct values *values);

/* The values of T, whose root's bytes are at DATA. */
struct values values_read(const struct ggml_tensor *t, const uint8_t *data);

static inline int64_t
values_count(const struct values *x)
{
    return x->ne[0] * x->ne[1] * x->ne[2] * x->ne[3];
}

static inline double *
at(const struct values *x, int64_t i0, int64_t i1, int64_t i2, int64_t i3)
{
    return &x->v[((i3 * x->ne[2] + i2) * x->ne[1] + i1) * x->ne[0] + i0];
}

/* Walking through all elements in index order. */
struct index {
    int64_t i0, i1, i2, i3;
};

static inline struct index
index_first(void)
{
    const struct index i = { 0, 0, 0, 0 };

    return i;
}

/* False behind the last element, and at once where there is none. */
static inline bool
index_inside(const struct values *x, const struct index *i)
{
    return i->i3 < x->ne[3] && values_count(x) > 0;
}

static inline void
index_next(const struct values *x, struct index *i)
{
    if (++i->i0 < x->ne[0])
        return;
    i->i0 = 0;
    if (++i->i1 < x->ne[1])
        return;
    i->i1 = 0;
    if (++i->i2 < x->ne[2])
        return;
    i->i2 = 0;
    i->i3++;
}

/* Memory or the end of the program. */
void *must_alloc(size_t count, size_t size);

#endif
