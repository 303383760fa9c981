/* SPDX-License-Identifier: MIT */
/*
 * cuda/pack.c - pack IN OUT: make an image smaller, in the form that
 * device/unpack.h has.  It runs on the machine that builds, once for each image.
 *
 * Of all ways to write the bytes up to a place the cheapest one is kept, and each
 * is tried on from there, byte by byte and by all copies of what came before.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIELD = 7,       /* a count that a number is added to */
    UNIT = 4,        /* of distances of kinds 1 and 2 */
    LEAST_SAME = 2,  /* bytes of a copy from the last one's distance */
    LEAST = 3,       /* of another one */
    FARTHEST = 1 << 24,
    HASH_BITS = 16,
    MOST_LOOKS = 128, /* at earlier places that a copy could be of */
    LONG = 512,       /* a copy that is taken without looking further */
    MOST_SIZE = 1 << 28,
};

/* The cheapest way to have written all bytes before a place. */
struct way {
    uint32_t cost;     /* in bytes */
    uint32_t run;      /* bytes behind the last copy */
    uint32_t distance; /* of the last copy; 0: there is none */
    uint32_t copied;   /* bytes of the copy that ends here; 0: none does */
};

static struct {
    const unsigned char *in;
    uint32_t size;
    struct way *ways;                /* of size + 1 places */
    uint32_t *links;                 /* the same number: see insert, emit */
    uint32_t heads[1 << HASH_BITS];  /* the last place of each hash, plus 1 */
} p;

static void
give_up(const char *what, const char *name)
{
    fprintf(stderr, "pack: %s: %s\n", name, what);
    exit(1);
}

/* ---- what a step takes ---- */

static uint32_t
number_bytes(uint32_t value)
{
    return value < 1 << 7 ? 1 : value < 1 << 14 ? 2 : value < 1 << 21 ? 3 : 4;
}

static uint32_t
count_cost(uint32_t count)
{
    return count < FIELD ? 0 : number_bytes(count - FIELD);
}

static unsigned
kind_of(uint32_t distance, uint32_t last)
{
    if (distance == last)
        return 0;
    if (distance % UNIT != 0 || distance > 65536 * UNIT)
        return 3;
    return distance > 256 * UNIT ? 2 : 1;
}

/* ---- the cheapest way ---- */

static void
try_byte(uint32_t at)
{
    const struct way *from = &p.ways[at];
    struct way *to = &p.ways[at + 1];
    const uint32_t cost = from->cost + 1 + count_cost(from->run + 1) -
                          count_cost(from->run);

    if (cost < to->cost)
        *to = (struct way){ cost, from->run + 1, from->distance, 0 };
}

/* Copies of at least LEAST and at most LENGTH bytes. */
static void
try_copies(uint32_t at, uint32_t distance, uint32_t least, uint32_t length)
{
    const struct way *from = &p.ways[at];
    const unsigned kind = kind_of(distance, from->distance);
    const uint32_t before = kind == 0 ? LEAST_SAME : LEAST;

    for (uint32_t n = least; n <= length; n++) {
        struct way *to = &p.ways[at + n];
        const uint32_t cost = from->cost + 1 + kind + count_cost(n - before);

        if (cost < to->cost)
            *to = (struct way){ cost, 0, distance, n };
    }
}

static uint32_t
same_bytes(uint32_t at, uint32_t distance)
{
    uint32_t n = 0;

    while (at + n < p.size && p.in[at + n] == p.in[at + n - distance])
        n++;
    return n;
}

static uint32_t *
head_of(uint32_t at)
{
    const uint32_t word = (uint32_t)p.in[at] | (uint32_t)p.in[at + 1] << 8 |
                          (uint32_t)p.in[at + 2] << 16;

    return &p.heads[word * 2654435761u >> (32 - HASH_BITS)];
}

/* Each place is linked to the one before it of the same hash. */
static void
insert(uint32_t at)
{
    uint32_t *head = head_of(at);

    p.links[at] = *head;
    *head = at + 1;
}

/* The bytes of the longest copy from AT; nearer ones are looked at first. */
static uint32_t
look(uint32_t at)
{
    const uint32_t last = p.ways[at].distance;
    uint32_t longest = LEAST - 1, place = *head_of(at);

    if (last != 0) {
        const uint32_t n = same_bytes(at, last);

        try_copies(at, last, LEAST_SAME, n);
        if (n >= LONG)
            return n;
    }
    for (int i = 0; i < MOST_LOOKS && place != 0; i++) {
        const uint32_t distance = at - (place - 1);
        const uint32_t n = same_bytes(at, distance);

        if (distance > FARTHEST)
            break;
        if (n > longest) {
            try_copies(at, distance, longest + 1, n);
            longest = n;
        }
        if (n >= LONG)
            break;
        place = p.links[place - 1];
    }
    return longest;
}

static void
find_ways(void)
{
    uint32_t next = 0; /* behind a long copy */

    memset(p.ways + 1, 0xff, p.size * sizeof(p.ways[0]));
    for (uint32_t at = 0; at < p.size; at++) {
        try_byte(at);
        if (p.size - at < LEAST)
            continue;
        if (at >= next) {
            const uint32_t n = look(at);

            if (n >= LONG)
                next = at + n;
        }
        insert(at);
    }
}

/* ---- writing ---- */

static void
put_number(FILE *out, uint32_t value)
{
    for (; value >= 128; value >>= 7)
        putc((int)(value & 127) | 128, out);
    putc((int)value, out);
}

static void
put_low_first(FILE *out, uint32_t value, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        putc((int)(value >> 8 * i & 255), out);
}

static uint32_t
field(uint32_t count)
{
    return count < FIELD ? count : FIELD;
}

/* RUN bytes from AT as they are, then COPY, which is NULL at the end. */
static void
put_step(FILE *out, uint32_t at, uint32_t run, const struct way *copy,
         uint32_t last)
{
    const unsigned kind = copy != NULL ? kind_of(copy->distance, last) : 0;
    const uint32_t count =
        copy == NULL ? 0 : copy->copied - (kind == 0 ? LEAST_SAME : LEAST);

    putc((int)(field(run) << 5 | field(count) << 2 | kind), out);
    if (run >= FIELD)
        put_number(out, run - FIELD);
    fwrite(p.in + at, 1, run, out);
    if (kind != 0)
        put_low_first(out, copy->distance / (kind < 3 ? UNIT : 1) - 1, kind);
    if (count >= FIELD)
        put_number(out, count - FIELD);
}

/* Links lead from the end of a copy, or of a run, to the next one's. */
static void
link_ways(void)
{
    uint32_t at = p.size;

    while (at > 0) {
        const struct way *way = &p.ways[at];
        const uint32_t from = at - (way->copied != 0 ? way->copied : way->run);

        p.links[from] = at;
        at = from;
    }
}

static void
emit(FILE *out)
{
    uint32_t at = 0, last = 0;

    link_ways();
    while (at < p.size) {
        uint32_t end = p.links[at], run = 0;
        const struct way *copy = &p.ways[end];

        if (copy->copied == 0) {
            run = end - at;
            copy = end < p.size ? &p.ways[p.links[end]] : NULL;
        }
        put_step(out, at, run, copy, last);
        at += run;
        if (copy != NULL) {
            at += copy->copied;
            last = copy->distance;
        }
    }
}

static uint32_t
sum_of(void)
{
    uint32_t sum = 2166136261u;

    for (uint32_t i = 0; i < p.size; i++)
        sum = (sum ^ p.in[i]) * 16777619u;
    return sum;
}

/* ---- files ---- */

static unsigned char *
read_all(const char *name)
{
    FILE *file = fopen(name, "rb");
    unsigned char *bytes = NULL;
    long size = -1;

    if (file != NULL && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size < 1 || size > MOST_SIZE || fseek(file, 0, SEEK_SET) != 0)
        give_up("cannot be read, is empty or too large", name);
    bytes = malloc((size_t)size);
    if (bytes == NULL || fread(bytes, 1, (size_t)size, file) != (size_t)size)
        give_up("cannot be read", name);
    fclose(file);
    p.size = (uint32_t)size;
    return bytes;
}

int
main(int argc, char **argv)
{
    unsigned char *in;
    FILE *out;

    if (argc != 3) {
        fputs("usage: pack IN OUT\n", stderr);
        return 1;
    }
    in = read_all(argv[1]);
    p.in = in;
    p.ways = calloc((size_t)p.size + 1, sizeof(p.ways[0]));
    p.links = calloc((size_t)p.size + 1, sizeof(p.links[0]));
    if (p.ways == NULL || p.links == NULL)
        give_up("too large for this machine's memory", argv[1]);
    find_ways();
    out = fopen(argv[2], "wb");
    if (out == NULL)
        give_up("cannot be written", argv[2]);
    fputs("GBPK", out);
    put_low_first(out, p.size, 4);
    put_low_first(out, sum_of(), 4);
    emit(out);
    if (ferror(out) != 0 || fclose(out) != 0)
        give_up("cannot be written", argv[2]);
    free(p.links);
    free(p.ways);
    free(in);
    return 0;
}
