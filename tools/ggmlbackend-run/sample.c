/* SPDX-License-Identifier: MIT */
/*
 * run/sample.c - choosing the next token.
 */
#include "tools/ggmlbackend-run/sample.h"

#include "tools/common/tool.h"
#include "tools/model/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift
   generators, scrambled" (arXiv 1402.6246), section 3.  In [0, 1). */
static double
next_random(uint64_t *state)
{
    uint64_t x = *state;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return (double)((x * 0x2545f4914f6cdd1du) >> 11) * 0x1p-53;
}

/* One step of splitmix64: near seeds are far apart, and none is 0. */
static uint64_t
spread(uint64_t seed)
{
    uint64_t z = seed + 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return z == 0 ? 1 : z;
}

bool
sampler_open(struct sampler *s, size_t n_vocab, double temperature,
             size_t top_k, double top_p, uint64_t seed)
{
    memset(s, 0, sizeof(*s));
    s->temperature = temperature;
    s->top_k = top_k == 0 || top_k > n_vocab ? n_vocab : top_k;
    s->top_p = top_p;
    s->state = spread(seed);
    s->n_vocab = n_vocab;
    s->candidates = new_zeroed(s->top_k, sizeof(*s->candidates));
    return s->candidates != NULL;
}

void
sampler_close(struct sampler *s)
{
    free(s->candidates);
    memset(s, 0, sizeof(*s));
}

/* Is A less likely than B?  Of equal ones the later id is: a total order. */
static bool
is_worse(const struct candidate *a, const struct candidate *b)
{
    return a->logit < b->logit || (a->logit == b->logit && a->id > b->id);
}

/* Let the candidate at the root of a heap, the worst on top, sink. */
static void
sink(struct candidate *heap, size_t n)
{
    const struct candidate own = heap[0];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < n) {
        if (child + 1 < n && is_worse(&heap[child + 1], &heap[child]))
            child++;
        if (!is_worse(&heap[child], &own))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = own;
}

static void
rise(struct candidate *heap, size_t i)
{
    const struct candidate own = heap[i];

    while (i > 0 && is_worse(&own, &heap[(i - 1) / 2])) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = own;
}

/* The top_k best, best first; how many there are. */
static size_t
find_best(struct sampler *s, const float *logits)
{
    struct candidate *heap = s->candidates;
    size_t n = 0;

    for (size_t id = 0; id < s->n_vocab; id++) {
        const struct candidate c = { (int32_t)id, logits[id] };

        if (isnan(c.logit) || c.logit == -INFINITY)
            continue;
        if (n < s->top_k) {
            heap[n] = c;
            rise(heap, n++);
        } else if (is_worse(&heap[0], &c)) {
            heap[0] = c;
            sink(heap, n);
        }
    }
    for (size_t left = n; left > 1; left--) {
        const struct candidate worst = heap[0];

        heap[0] = heap[left - 1];
        sink(heap, left - 1);
        heap[left - 1] = worst;
    }
    return n;
}

/* exp((logit - best) / temperature), which is 1 for the best. */
static double
weight(const struct sampler *s, const struct candidate *c)
{
    if (c->logit == s->candidates[0].logit)
        return 1.0;
    return exp(((double)c->logit - s->candidates[0].logit) / s->temperature);
}

/* One of the N candidates, of which the likeliest top_p are left. */
static int32_t
draw(struct sampler *s, size_t n)
{
    double all = 0.0, kept = 0.0, at;
    size_t n_kept = 0, i;

    for (i = 0; i < n; i++)
        all += weight(s, &s->candidates[i]);
    while (n_kept < n && (n_kept == 0 || kept < s->top_p * all))
        kept += weight(s, &s->candidates[n_kept++]);
    at = next_random(&s->state) * kept;
    for (i = 0; i + 1 < n_kept; i++) {
        at -= weight(s, &s->candidates[i]);
        if (at < 0.0)
            break;
    }
    return s->candidates[i].id;
}

/* The id of the largest logit; of equal ones the first. */
static int32_t
best_of(const float *logits, size_t n)
{
    int32_t best = -1;

    for (size_t id = 0; id < n; id++)
        if (logits[id] > (best < 0 ? -INFINITY : logits[best]))
            best = (int32_t)id;
    return best;
}

bool
sampler_pick(struct sampler *s, const float *logits, int32_t *id)
{
    int32_t best = -1;

    if (s->temperature == 0.0) {
        best = best_of(logits, s->n_vocab);
    } else {
        const size_t n = find_best(s, logits);

        if (n > 0)
            best = draw(s, n);
    }
    if (best < 0)
        return tool_error("the model's logits are not numbers");
    *id = best;
    return true;
}
