/* SPDX-License-Identifier: MIT */
/*
 * tests/hip/blas-files.c - AMD's BLAS is opened where its files for the cards'
 * architectures lie on disk, and nowhere else: the emulated one ends the
 * process when it is opened without them, as the real one does when called.
 */
#include "config.h"

#include "tests/cuda/products.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Calls of it in a trial, by the contract: one that warms up, then three. */
enum { TRIAL = 4 };

static const char *driver;
static const char *set; /* ROCBLAS_TENSILE_LIBPATH, in the folder, or NULL */

/* ---- a case ---- */

/* The library lies where the module finds it, and is not opened yet. */
static void
begin(void)
{
    char library[4096];

    if (set != NULL)
        CHECK(setenv("ROCBLAS_TENSILE_LIBPATH", rocm_path(set), 1) == 0);
    CHECK(realpath(gb_built(EMULATED_BLAS), library) != NULL);
    CHECK(blas_load(gb_built(driver)) != NULL);
    CHECK(symlink(library, rocm_path("librocblas.so.4")) == 0);
    blas_allow();
}

static void
uses_it(void)
{
    begin();
    multiply_alone(&plain, 3);
    blas_open(gb_built(EMULATED_BLAS));
    CHECK(blas.products() == TRIAL + 2);
    products_end();
}

static void
uses_none(void)
{
    begin();
    multiply_alone(&plain, 3);
    CHECK(dlopen(rocm_path("librocblas.so.4"), RTLD_NOW | RTLD_NOLOAD) ==
          NULL);
    products_end();
}

/* One line about it, which has WORDS; or none. */
static void
check_errors(const char *errors, const char *words)
{
    const char *first = strstr(errors, "BLAS");

    if (words == NULL) {
        assert_null(first);
        return;
    }
    assert_non_null(strstr(errors, words));
    assert_non_null(first);
    assert_null(strstr(first + 1, "BLAS"));
}

struct row {
    const char *files[8]; /* below the folder of the run time */
    const char *set;
    bool is_wide; /* a card of 64 lanes, "gfx90a:sramecc+:xnack-" */
    const char *variables;
    const char *words; /* of the one line that says why not */
};

static void
check_row(const struct row *row, void (*run)(void))
{
    char variables[512];
    const char *errors;

    set = row->set;
    driver = row->is_wide ? "tests/gpu-emulator/lanes64/.libs/" DRIVER
                          : EMULATED_DRIVER;
    snprintf(variables, sizeof(variables), "%s GGMLBACKEND_LOG=info %s", AUTO,
             row->variables != NULL ? row->variables : "");
    assert_true(rocm_begin());
    for (int i = 0; row->files[i] != NULL; i++)
        assert_true(rocm_add(row->files[i]));
    cuda_case(run, variables, &errors);
    print_message("# %s", errors);
    check_errors(errors, row->words);
    assert_int_equal(rocm_remove(NULL), 0);
}

/* ---- with files ---- */

#define LIBRARY "rocblas/library/"
#define USUAL   LIBRARY "TensileLibrary_lazy_gfx1100.dat", \
                LIBRARY "Kernels.so-000-gfx1100.hsaco"
#define GFX1030 LIBRARY "TensileLibrary_lazy_gfx1030.dat", \
                LIBRARY "TensileLibrary_Type_HS_gfx1030.co"
#define TWO_CARDS "EMU_DEVICES=2 EMU_ARCH=gfx1100,gfx1030"

static void
with_files_it_is_used(void **state)
{
    static const struct row rows[] = {
        { .files = { USUAL } },
        /* Before ROCm 5.5; and one that has code for each xnack. */
        { .files = { LIBRARY "TensileLibrary_gfx1100.dat",
                     LIBRARY "TensileLibrary_gfx1100.co" } },
        { .files = { LIBRARY "TensileLibrary_gfx1100.dat",
                     LIBRARY "Kernels.so-000-gfx1100-xnack-.hsaco" } },
        /* Where a variable says. */
        { .files = { "own/TensileLibrary_lazy_gfx1100.dat",
                     "own/Kernels.so-000-gfx1100.hsaco" },
          .set = "own" },
        /* What it looks at first has them as well. */
        { .files = { USUAL, "library/TensileLibrary_lazy_gfx1100.dat",
                     "library/Kernels.so-000-gfx1100.hsaco" } },
        { .files = { USUAL, GFX1030 }, .variables = TWO_CARDS },
        { .files = { LIBRARY "TensileLibrary_lazy_gfx90a.dat",
                     LIBRARY "Kernels.so-000-gfx90a-xnack-.hsaco" },
          .is_wide = true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check_row(&rows[i], uses_it);
}

static void
without_files_it_is_not_opened(void **state)
{
    static const struct row rows[] = {
        { .files = { NULL },
          .words = "/rocblas/library has no files for gfx1100\n" },
        { .files = { LIBRARY },
          .words = "/rocblas/library has no files for gfx1100\n" },
        /* No code, or no index, or another architecture's. */
        { .files = { LIBRARY "TensileLibrary_lazy_gfx1100.dat" },
          .words = "/rocblas/library has no files for gfx1100\n" },
        { .files = { LIBRARY "Kernels.so-000-gfx1100.hsaco" },
          .words = "/rocblas/library has no files for gfx1100\n" },
        { .files = { LIBRARY "TensileLibrary_lazy_gfx1101.dat",
                     LIBRARY "TensileLibrary_Type_HS_gfx1100.dat",
                     LIBRARY "Kernels.so-000-gfx1100.hsaco" },
          .words = "/rocblas/library has no files for gfx1100\n" },
        { .files = { LIBRARY "TensileLibrary_lazy_gfx1100.dat",
                     LIBRARY "Kernels.so-000-gfx11001.hsaco",
                     LIBRARY "TensileLibrary_gfx1100.dat" },
          .words = "/rocblas/library has no files for gfx1100\n" },
        { .files = { GFX1030 },
          .words = "/rocblas/library has no files for gfx1100\n" },
        { .files = { USUAL }, .is_wide = true,
          .words = "/rocblas/library has no files for gfx90a\n" },
        /* A variable says another folder. */
        { .files = { USUAL, "own/" }, .set = "own",
          .words = "/own has no files for gfx1100\n" },
        { .files = { USUAL }, .set = "nowhere",
          .words = "/nowhere has no files for gfx1100\n" },
        /* A folder that is preferred has none. */
        { .files = { USUAL, "library/" },
          .words = "/library has no files for gfx1100\n" },
        /* A card that nobody asked for, too. */
        { .files = { USUAL }, .variables = TWO_CARDS,
          .words = "ROCm0: no BLAS: " },
        { .files = { USUAL },
          .variables = TWO_CARDS " GGMLBACKEND_GPU_DEVICES=0",
          .words = "/rocblas/library has no files for gfx1030\n" },
        { .files = { USUAL }, .variables = "EMU_ARCH=gfx1200",
          .words = "/rocblas/library has no files for gfx1200\n" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check_row(&rows[i], uses_none);
}

static void
lose_a_right(void)
{
    begin();
    CHECK(chmod(rocm_path(LIBRARY "TensileLibrary_lazy_gfx1100.dat"), 0) == 0);
    multiply_alone(&plain, 2);
    CHECK(dlopen(rocm_path("librocblas.so.4"), RTLD_NOW | RTLD_NOLOAD) ==
          NULL);
    products_end();
}

static void
what_cannot_be_read_is_not_there(void **state)
{
    static const struct row row = {
        .files = { USUAL },
        .words = "/rocblas/library has no files for gfx1100\n",
    };

    (void)state;
    if (geteuid() == 0)
        skip();
    check_row(&row, lose_a_right);
}

/* As the run time answers when it is asked for each card. */
static const char *failing;

static void
ask_in_vain(void)
{
    begin();
    emulator.fail_call(failing, 1, 999);
    multiply_alone(&plain, 2);
    CHECK(emulator.failures() == 1);
    CHECK(dlopen(rocm_path("librocblas.so.4"), RTLD_NOW | RTLD_NOLOAD) ==
          NULL);
    products_end();
}

static void
where_cards_are_not_known_it_is_not_opened(void **state)
{
    static const struct row row = {
        .files = { USUAL }, .words = "no BLAS: not all cards are known\n"
    };

    (void)state;
    failing = "hipGetDeviceCount";
    check_row(&row, ask_in_vain);
    failing = "hipDeviceGetName"; /* which properties have */
    check_row(&row, ask_in_vain);
}

/* ---- other manners of AMD's ---- */

static void
have_little_memory(void)
{
    products_begin();
    for (uint64_t n = 1; n <= TRIAL + 2; n++) {
        blas.fail_call(GEMM, 1, 7);
        multiply_alone(&plain, 1);
        CHECK(blas.products() == TRIAL + n - 1);
    }
    products_end();
}

static void
a_product_with_little_memory_is_one(void **state)
{
    static const struct row row = { .files = { USUAL } };

    (void)state;
    check_row(&row, have_little_memory);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_files_it_is_used),
        cmocka_unit_test(without_files_it_is_not_opened),
        cmocka_unit_test(what_cannot_be_read_is_not_there),
        cmocka_unit_test(where_cards_are_not_known_it_is_not_opened),
        cmocka_unit_test(a_product_with_little_memory_is_one),
    };

    return cmocka_run_group_tests_name("files of AMD's BLAS", tests, NULL,
                                       NULL);
}
