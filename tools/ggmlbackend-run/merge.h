/* SPDX-License-Identifier: MIT */
/*
 * run/merge.h - joining neighbouring symbols, the best pair first.
 *
 * Both tokenizers begin with small symbols and join pairs until none can be
 * joined; they differ only in which pairs join and which is better.
 */
#ifndef TOOLS_RUN_MERGE_H
#define TOOLS_RUN_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A stretch of the text, which may be a token. */
struct symbol {
    size_t begin;
    size_t size;  /* 0 when it was joined to one before it */
    int32_t id;   /* TOKEN_NONE when it is no token */
    size_t prev, next; /* neighbours' indices, SYMBOL_NONE at the ends */
};

#define SYMBOL_NONE SIZE_MAX

/*
 * May the neighbours LEFT and RIGHT join?  Then their token, and how good that
 * is: the smallest COST joins first, of equal ones the leftmost.
 */
typedef bool (*merge_rate_fn)(const void *vocab, const char *text,
                              const struct symbol *left,
                              const struct symbol *right, int32_t *id,
                              double *cost);

/* Working memory, used again and again; zeroed is empty. */
struct merge {
    struct symbol *symbols;
    size_t n_symbols, symbols_room;
    struct merge_pair *heap;
    size_t n_pairs, pairs_room;
};

/* Forget all symbols; then append one of SIZE > 0 bytes after the last. */
void merge_begin(struct merge *merge);
bool merge_add(struct merge *merge, size_t size, int32_t id);

/* Join what can be joined.  False, after a message, without memory. */
bool merge_run(struct merge *merge, const void *vocab, const char *text,
               merge_rate_fn rate);

void merge_clear(struct merge *merge);

#endif
