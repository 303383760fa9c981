/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/checker.cpp - is each planted fault found, in every order, and
 * nothing in the kernels without?
 */
#include "tests/gpu-emulator/bugs.h"
#include "tests/gpu-emulator/emulator.h"

extern "C" {
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
}

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <string>

namespace {

constexpr unsigned threads = GB_BUG_THREADS;
constexpr int64_t GiB = (int64_t)1 << 30;

/* First to last, last to first, two by chance. */
const char *const orders[] = { "0", "1", "2", "77" };

char report_file[] = "gpu-emulator-checker-XXXXXX";

struct bug {
    const char *name;
    void (*wrong)(gb_bug_args), (*mended)(gb_bug_args);
    unsigned blocks;
    size_t shared;
    const char *word;
    int result;
};

const bug bugs[] = {
#define GB_BUG(name, blocks, shared, word, result)                     \
    { #name, gb_bug_##name, gb_mended_##name, blocks,                  \
      (shared) * sizeof(float), word, result },
    GB_BUGS
#undef GB_BUG
};

/* ---- memory for a run ---- */

/* Rows of IN are 6.5 GiB apart where the kernel looks at its stride. */
struct setting_of_bug {
    gb_bug_args args;

    explicit setting_of_bug(const bug &b)
    {
        const size_t size = b.blocks * threads * sizeof(float);
        const bool far = strcmp(b.name, "offset_of_32_bits") == 0;

        args.stride = far ? 6 * GiB + GiB / 2 : 0;
        args.out = (float *)emu::memory_alloc(0, size);
        args.in = (float *)emu::memory_alloc(
            0, size + (size_t)args.stride * (b.blocks - 1));
        args.scratch = (float *)emu::memory_alloc(0, size);
        args.counter = (int *)emu::memory_alloc(0, sizeof(int));
        assert_non_null(args.counter);
        for (unsigned i = 0; i < b.blocks; i++)
            set((char *)args.in + (int64_t)i * args.stride, size);
        *args.counter = 0;
        emu::memory_wrote(args.counter, sizeof(int));
    }
    ~setting_of_bug()
    {
        emu::memory_free(args.out);
        emu::memory_free((void *)args.in);
        emu::memory_free(args.scratch);
        emu::memory_free(args.counter);
    }
    static void set(char *at, size_t size)
    {
        for (size_t i = 0; i < size / sizeof(float); i++)
            ((float *)at)[i] = (float)i;
        emu::memory_wrote(at, size);
    }
};

/* ---- a run ---- */

template <void (*function)(gb_bug_args)>
void
call(const void *args)
{
    function(*(const gb_bug_args *)args);
}

typedef void (*call_fn)(const void *args);

struct calls {
    call_fn wrong, mended;
};

const calls calls_of[] = {
#define GB_BUG(name, blocks, shared, word, result) \
    { call<gb_bug_##name>, call<gb_mended_##name> },
    GB_BUGS
#undef GB_BUG
};

int
launch(const bug &b, call_fn function, const gb_bug_args &args, bool is_early)
{
    const emu::kernel k = { b.name, "bugs", function, sizeof(args),
                            threads, b.shared, 0 };
    const emu::launch l = { &k, 0, { b.blocks, 1, 1 }, { threads, 1, 1 },
                            b.shared, &args, sizeof(args), is_early };

    return emu::run(l);
}

/* Faults of kernels that begin early need two in front: the first begins behind
 * all others, the second as early as they do. */
int
run(const bug &b, call_fn function, const gb_bug_args &args)
{
    const bool is_early = strncmp(b.name, "early_", 6) == 0;
    const call_fn mended = calls_of[&b - bugs].mended;

    if (is_early && (launch(b, mended, args, false) != 0 ||
                     launch(b, mended, args, true) != 0))
        return -1;
    return launch(b, function, args, is_early);
}

/* What was reported since the last call. */
std::string
new_reports()
{
    static long at;
    FILE *const file = fopen(report_file, "r");
    std::string text;
    int c;

    assert_non_null(file);
    fseek(file, at, SEEK_SET);
    while ((c = getc(file)) != EOF)
        text += (char)c;
    at = ftell(file);
    fclose(file);
    return text;
}

/* With another sanitizer there are no hooks. */
void
need_checks()
{
    if (!emu::checks()) {
        print_message("kernels are compiled without hooks\n");
        skip();
    }
}

/* ---- tests ---- */

void
planted_faults_are_found_in_every_order(void **)
{
    need_checks();
    for (const char *order : orders) {
        setenv("GGMLBACKEND_TEST_EMU_ORDER", order, 1);
        for (size_t i = 0; i < sizeof(bugs) / sizeof(*bugs); i++) {
            const setting_of_bug s(bugs[i]);
            const uint64_t before = emu::reports();
            const int result = run(bugs[i], calls_of[i].wrong, s.args);

            if (emu::reports() == before || result != bugs[i].result)
                fail_msg("%s, order %s: %d reports, result %d", bugs[i].name,
                         order, (int)(emu::reports() - before), result);
        }
    }
}

void
reports_name_the_fault(void **)
{
    need_checks();
    setenv("GGMLBACKEND_TEST_EMU_ORDER", "0", 1);
    for (size_t i = 0; i < sizeof(bugs) / sizeof(*bugs); i++) {
        const setting_of_bug s(bugs[i]);
        std::string text;

        new_reports();
        run(bugs[i], calls_of[i].wrong, s.args);
        text = new_reports();
        if (text.find(bugs[i].word) == std::string::npos ||
            text.find(bugs[i].name) == std::string::npos)
            fail_msg("%s: the report is \"%s\"", bugs[i].name, text.c_str());
    }
}

void
mended_twins_have_no_report(void **)
{
    need_checks();
    for (const char *order : orders) {
        setenv("GGMLBACKEND_TEST_EMU_ORDER", order, 1);
        for (size_t i = 0; i < sizeof(bugs) / sizeof(*bugs); i++) {
            const setting_of_bug s(bugs[i]);
            const uint64_t before = emu::reports();
            const int result = run(bugs[i], calls_of[i].mended, s.args);

            if (emu::reports() != before || result != 0)
                fail_msg("%s, order %s: %d reports, result %d: %s",
                         bugs[i].name, order, (int)(emu::reports() - before),
                         result, new_reports().c_str());
        }
    }
}

/* ---- of waves ---- */

constexpr unsigned wave_blocks = 2;

const struct wave_bug {
    const char *name;
    call_fn wrong, mended;
    int least_lanes;
    const char *word;
    int result;
} wave_bugs[] = {
#define GB_BUG_OF_WAVES(name, lanes, word, result)           \
    { #name, call<gb_bug_##name>, call<gb_mended_##name>,    \
      lanes, word, result },
    GB_BUGS_OF_WAVES
#undef GB_BUG_OF_WAVES
};

struct outcome {
    int result;
    bool has_right_values;
    uint64_t n_reports;
    std::string text; /* of those that were not told before */
};

outcome
run_wave(const wave_bug &b, call_fn function)
{
    const bug plain = { b.name, nullptr, nullptr, wave_blocks, 0, b.word,
                        b.result };
    const setting_of_bug s(plain);
    const uint64_t before = emu::reports();
    outcome o;

    for (unsigned i = 0; i < wave_blocks * threads; i++)
        s.args.out[i] = -1;
    new_reports();
    o.result = launch(plain, function, s.args, false);
    o.text = new_reports();
    o.n_reports = emu::reports() - before;
    o.has_right_values = true;
    for (unsigned i = 0; i < wave_blocks * threads; i++)
        o.has_right_values &= s.args.out[i] == (float)(i / 32);
    return o;
}

bool
is_well(const outcome &o)
{
    return o.result == 0 && o.n_reports == 0 && o.has_right_values;
}

bool
is_found(const outcome &o, const wave_bug &b)
{
    if (o.result != b.result)
        return false;
    if (b.word[0] == '\0')
        return o.n_reports == 0 && !o.has_right_values;
    return o.n_reports > 0 &&
           (o.text.empty() || o.text.find(b.word) != std::string::npos);
}

void
check(const outcome &o, bool is_right, const wave_bug &b, const char *what)
{
    if (!is_right)
        fail_msg("%s %s: result %d, %d reports, %s values: %s", what, b.name,
                 o.result, (int)o.n_reports,
                 o.has_right_values ? "right" : "wrong", o.text.c_str());
}

void
what_is_wrong_in_wide_waves_is_found_in_them(void **)
{
    need_checks();
    for (const char *order : orders) {
        setenv("GGMLBACKEND_TEST_EMU_ORDER", order, 1);
        for (const wave_bug &b : wave_bugs) {
            const outcome wrong = run_wave(b, b.wrong);
            const outcome mended = run_wave(b, b.mended);

            if (GB_WARP < b.least_lanes)
                check(wrong, is_well(wrong), b, "narrow");
            else
                check(wrong, is_found(wrong, b), b, "wide");
            check(mended, is_well(mended), b, "mended");
        }
    }
}

/* ---- other faults ---- */

const bug &
bug_named(const char *name)
{
    for (const bug &b : bugs)
        if (strcmp(b.name, name) == 0)
            return b;
    fail_msg("no kernel %s", name);
    return bugs[0];
}

void
freed_memory_is_found(void **)
{
    need_checks();

    const bug &b = bug_named("outside_global");
    setting_of_bug s(b);
    const uint64_t before = emu::reports();

    assert_true(emu::memory_free((void *)s.args.in));
    assert_int_equal(
        run(b, calls_of[&b - bugs].mended, s.args), 700);
    assert_true(emu::reports() > before);
}

void
launches_that_do_not_fit_are_refused(void **)
{
    const bug &b = bug_named("outside_dynamic_shared");
    const setting_of_bug s(b);
    const emu::kernel k = { b.name, "bugs", calls_of[&b - bugs].mended,
                            sizeof(s.args), threads, b.shared, 0 };
    const emu::launch good = { &k, 0, { 1, 1, 1 }, { threads, 1, 1 },
                               b.shared, &s.args, sizeof(s.args), false };
    emu::launch l = good;

    l.shared++;
    assert_int_equal(emu::run(l), 1);
    l = good;
    l.args_size -= 8;
    assert_int_equal(emu::run(l), 1);
    l = good;
    l.block[0] /= 2;
    assert_int_equal(emu::run(l), 1);
    l = good;
    l.grid[1] = 0;
    assert_int_equal(emu::run(l), 1);
    assert_int_equal(emu::run(good), 0);
}

int
open_reports(void **)
{
    const int fd = mkstemp(report_file);

    if (fd < 0)
        return -1;
    close(fd);
    return setenv("GGMLBACKEND_TEST_EMU_REPORT", report_file, 1);
}

int
remove_reports(void **)
{
    return unlink(report_file);
}

} // namespace

/* The driver's part, which this program has not: nothing is pinned. */
bool
emu::host_is_reachable(const void *, size_t)
{
    return false;
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_name_the_fault),
        cmocka_unit_test(planted_faults_are_found_in_every_order),
        cmocka_unit_test(mended_twins_have_no_report),
        cmocka_unit_test(what_is_wrong_in_wide_waves_is_found_in_them),
        cmocka_unit_test(freed_memory_is_found),
        cmocka_unit_test(launches_that_do_not_fit_are_refused),
    };

    return cmocka_run_group_tests_name(
        "the emulator's checks", tests, open_reports, remove_reports);
}
