/* SPDX-License-Identifier: MIT */
/*
 * fuzz/guard.c - memory for tensors between pages that nobody may touch.
 */
#include "fuzz/guard.h"

#include "fuzz/fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct piece {
    char *memory;
    ggml_backend_buffer_t buffer;
    size_t begin, end; /* what a tensor got of it */
    char kept[GUARD_BYTES];
} pieces[GUARD_PIECES];
static unsigned n_used;

static uint32_t fills[GUARD_FILLS][GUARD_BYTES / sizeof(uint32_t)];

/* Word I of pattern FILL: zeros, small numbers and such as nobody expects. */
static uint32_t
word(unsigned fill, uint32_t i)
{
    static const uint32_t same[] = {
        0x00000000u, 0xFFFFFFFFu /* NaN, -1 */, 0x7F800000u /* infinity */,
        0x00000001u /* denormal, 1 */, 0x80000000u /* -0, INT_MIN */,
        0x7F7FFFFFu /* the largest */, 0x3C003C00u /* 1 as f16 */,
    };
    const float small = (float)(i % 13) - 4.5f;
    uint32_t bits;

    if (fill < sizeof(same) / sizeof(same[0]))
        return same[fill];
    switch (fill) {
    case 7:
        return i % 3;
    case 8:
        return i % 40;
    case 9: /* anything */
        return (i + 1) * 2654435761u;
    case 10: /* good numbers, few bad ones among them */
        if (i % 7 == 3)
            return same[i / 7 % (sizeof(same) / sizeof(same[0]))];
        /* fall through */
    default:
        memcpy(&bits, &small, sizeof(bits));
        return bits;
    }
}

void
guard_open(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t step = GUARD_BYTES + page;
    char *all = mmap(NULL, GUARD_PIECES * step + page, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (all == MAP_FAILED || GUARD_BYTES % page != 0)
        fuzz_stop("no memory between pages");
    for (unsigned i = 0; i < GUARD_PIECES; i++) {
        pieces[i].memory = all + page + i * step;
        if (mprotect(pieces[i].memory, GUARD_BYTES, PROT_READ | PROT_WRITE) !=
            0)
            fuzz_stop("no memory between pages");
        pieces[i].buffer =
            ggml_backend_cpu_buffer_from_ptr(pieces[i].memory, GUARD_BYTES);
        if (pieces[i].buffer == NULL)
            fuzz_stop("no buffer");
    }
    for (unsigned fill = 0; fill < GUARD_FILLS; fill++) {
        for (uint32_t i = 0; i < GUARD_BYTES / sizeof(uint32_t); i++)
            fills[fill][i] = word(fill, i);
    }
}

void
guard_reset(void)
{
    n_used = 0;
}

void
guard_place(struct ggml_tensor *root, bool at_front, unsigned fill)
{
    const size_t size = ggml_nbytes(root);
    struct piece *piece = &pieces[n_used];

    if (n_used == GUARD_PIECES || size > GUARD_BYTES)
        return;
    piece->begin = at_front ? 0 : GUARD_BYTES - size;
    piece->end = piece->begin + size;
    if (ggml_backend_tensor_alloc(piece->buffer, root,
                                  piece->memory + piece->begin) !=
        GGML_STATUS_SUCCESS)
        return;
    memcpy(piece->memory + piece->begin, fills[fill % GUARD_FILLS], size);
    n_used++;
}

void
guard_keep(void)
{
    for (struct piece *p = pieces; p < pieces + n_used; p++)
        memcpy(p->kept + p->begin, p->memory + p->begin, p->end - p->begin);
}

/* The first of the bytes from FROM to TO that no part has; TO for none. */
static const char *
first_outside(const char *from, const char *to, const struct guard_part *parts,
              int n_parts)
{
    for (int i = 0; i < n_parts && from < to; i++) {
        if (parts[i].begin <= from && from < parts[i].end) {
            from = parts[i].end;
            i = -1;
        }
    }
    return from < to ? from : to;
}

void
guard_compare(const struct guard_part *parts, int n_parts)
{
    for (const struct piece *p = pieces; p < pieces + n_used; p++) {
        const char *const end = p->memory + p->end;
        const char *at = p->memory + p->begin;

        while ((at = first_outside(at, end, parts, n_parts)) < end) {
            if (*at != p->kept[at - p->memory])
                fuzz_stop("what should be unchanged is not");
            at++;
        }
    }
}

ggml_backend_buffer_t
guard_buffer(unsigned i)
{
    return pieces[i % GUARD_PIECES].buffer;
}
