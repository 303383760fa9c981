/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/bench/peak.c - the code that the machine's limits are measured
 * with: what it reads, what it counts, and that what is there can run.
 *
 * peak.c asks for the machine's rows here (see local.mk), so that it can be told
 * of a machine that has none.
 */
#include "tools/ggmlbackend-bench/peak.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Those of peak-machine.c by their names there, and what peak.c calls. */
const struct peak_row *rows_asked_for(size_t *n);
const struct read_row *readers_asked_for(size_t *n);

static bool
is_never_there(void)
{
    return false;
}

/* A machine with all its rows, with rows that are not there, and with none. */
static enum { ALL, NOT_THERE, NONE } shown;

static const struct peak_row missing_rows[] = {
    { PEAK_INT8, "missing", is_never_there, 1.0, NULL },
    { PEAK_FP32, "missing", is_never_there, 1.0, NULL },
};
static const struct read_row missing_readers[] = {
    { "missing", is_never_there, NULL },
};

const struct peak_row *
rows_asked_for(size_t *n)
{
    if (shown == ALL)
        return peak_rows_machine(n);
    *n = shown == NONE ? 0 : 2;
    return missing_rows;
}

const struct read_row *
readers_asked_for(size_t *n)
{
    if (shown == ALL)
        return read_rows_machine(n);
    *n = shown == NONE ? 0 : 1;
    return missing_readers;
}

/*
 * Multiplications and additions of a round: twelve sums, and what an instruction
 * of that width multiplies and adds.
 */
static const struct {
    const char *instruction;
    double ops;
} known[] = {
    { "vpdpbusd zmm", 12 * 64 * 2 },   { "vpdpbusd ymm", 12 * 32 * 2 },
    { "vpmaddubsw ymm", 12 * 32 * 2 }, { "vdpbf16ps zmm", 12 * 32 * 2 },
    { "vfmadd zmm", 12 * 16 * 2 },     { "vfmadd ymm", 12 * 8 * 2 },
    { "smmla", 12 * 32 * 2 },          { "sdot", 12 * 16 * 2 },
    { "bfmmla", 12 * 16 * 2 },         { "fmla", 12 * 4 * 2 },
    { "C", 0 }, /* as wide as is good for the compiler */
    { "C, in fp32", 0 },
};

static void
check_row(const struct peak_row *row)
{
    size_t i = 0;

    while (i < sizeof(known) / sizeof(known[0]) &&
           strcmp(known[i].instruction, row->instruction) != 0)
        i++;
    if (i == sizeof(known) / sizeof(known[0]))
        fail_msg("%s is not known here", row->instruction);
    if (known[i].ops > 0 && row->ops != known[i].ops)
        fail_msg("%s: %g operations, not %g", row->instruction, row->ops,
                 known[i].ops);
    assert_true(row->ops > 0);
    /* What cannot run would end this program. */
    for (uint64_t rounds = 0; rounds <= 3; rounds++)
        row->run(rounds);
}

static void
each_instruction_counts_its_operations_and_runs(void **state)
{
    size_t n;
    const struct peak_row *rows = peak_rows_machine(&n);

    (void)state;
    for (size_t i = 0; i < n; i++)
        if (rows[i].is_there())
            check_row(&rows[i]);
    for (shown = ALL; shown <= NONE; shown++)
        for (int peak = 0; peak < N_PEAKS; peak++)
            check_row(peak_best((enum peak)peak));
}

static void
the_best_is_the_first_that_is_there(void **state)
{
    size_t n;
    const struct peak_row *rows = peak_rows_machine(&n);

    (void)state;
    shown = ALL;
    for (int peak = 0; peak < N_PEAKS; peak++) {
        const struct peak_row *best = peak_best((enum peak)peak);
        size_t i = 0;

        assert_int_equal(best->peak, peak);
        assert_true(best->is_there());
        while (i < n && &rows[i] != best &&
               !(rows[i].peak == best->peak && rows[i].is_there()))
            i++;
        assert_true(i == n || &rows[i] == best);
    }
    for (shown = NOT_THERE; shown <= NONE; shown++)
        for (int peak = 0; peak < N_PEAKS; peak++) {
            assert_int_equal(peak_best((enum peak)peak)->peak, peak);
            assert_int_equal(peak_best((enum peak)peak)->instruction[0], 'C');
            assert_string_equal(read_best()->instruction, "C");
        }
}

/* Does the kernel say that the processor has FLAG?  Yes, where it says
 * nothing. */
static bool
has_flag(const char *flag)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    bool has = file == NULL;
    char word[64];

    while (!has && fscanf(file, "%63s", word) == 1)
        has = strcmp(word, flag) == 0;
    if (file != NULL)
        fclose(file);
    return has;
}

/* A tile of 16 rows of 64 bytes with another: 16 x 16 sums; six in a round. */
static void
tiles_count_their_operations_and_run(void **state)
{
    size_t n;
    const struct peak_row *rows = peak_rows_tiles(&n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        const double products = rows[i].peak == PEAK_INT8 ? 64 : 32;

        assert_true(rows[i].peak == PEAK_INT8 || rows[i].peak == PEAK_BF16);
        assert_true(rows[i].ops == 6 * 2 * 16 * 16 * products);
        if (rows[i].is_there()) {
            assert_true(has_flag(rows[i].peak == PEAK_INT8 ? "amx_int8"
                                                           : "amx_bf16"));
            rows[i].run(3);
        }
    }
}

/*
 * A line of 64 bytes begins with a word of its own, and the rest is zero: then
 * any width of reading gives the exclusive or of these words.
 */
static void
check_reader(const struct read_row *reader)
{
    for (size_t steps = 1; steps <= 3; steps += 2) {
        const size_t size = steps * READ_STEP;
        uint64_t *words = aligned_alloc(64, size), wanted = 0;
        uint64_t random = 88172645463325252u;

        assert_non_null(words);
        memset(words, 0, size);
        for (size_t i = 0; i < size / sizeof(*words); i += 8) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            words[i] = random;
            wanted ^= random;
        }
        if (reader->run(words, size) != wanted)
            fail_msg("%s, %zu bytes", reader->instruction, size);
        free(words);
    }
}

static void
all_that_is_to_be_read_is_read(void **state)
{
    size_t n;
    const struct read_row *readers = read_rows_machine(&n);

    (void)state;
    for (size_t i = 0; i < n; i++)
        if (readers[i].is_there())
            check_reader(&readers[i]);
    for (shown = ALL; shown <= NONE; shown++)
        check_reader(read_best());
}

static void
limits_have_names(void **state)
{
    (void)state;
    assert_string_equal(peak_name(PEAK_INT8), "int8");
    assert_string_equal(peak_name(PEAK_BF16), "bf16");
    assert_string_equal(peak_name(PEAK_FP32), "fp32");
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_instruction_counts_its_operations_and_runs),
        cmocka_unit_test(the_best_is_the_first_that_is_there),
        cmocka_unit_test(all_that_is_to_be_read_is_read),
        cmocka_unit_test(limits_have_names),
        cmocka_unit_test(tiles_count_their_operations_and_run),
    };

    return cmocka_run_group_tests_name("the machine's limits", tests, NULL,
                                       NULL);
}
