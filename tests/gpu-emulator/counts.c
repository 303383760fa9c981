/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/counts.c - the script "run" and what the emulated driver writes
 * when a process ends: entry points that are missing, how often kernels ran.
 *
 * The program runs itself: "counts entry NAME" tells whether the driver that it
 * finds has that entry point, "counts add" runs a kernel twice.
 */
#include "config.h"

#include "tests/gpu-emulator/add.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <unistd.h>

static const char *program;

/* Under the script, with lines of VARIABLES before it; what it printed. */
static const char *
output_of(const char *variables, const char *arguments)
{
    static char text[4096];
    const char *top = getenv("top_srcdir");
    char command[4096];
    size_t size;
    FILE *pipe;

    snprintf(command, sizeof(command),
             "%s sh '%s/tests/gpu-emulator/run' '%s' %s 2>&1", variables,
             top == NULL ? TEST_SRCDIR : top, program, arguments);
    pipe = popen(command, "r");
    assert_non_null(pipe);
    size = fread(text, 1, sizeof(text) - 1, pipe);
    text[size] = '\0';
    pclose(pipe);
    return text;
}

static void
the_script_runs_programs_on_the_emulated_driver(void **state)
{
    (void)state;
    assert_string_equal(output_of("", "entry cuGraphLaunch"), "there\n");
    assert_string_equal(output_of("", "entry cuNothing"), "missing\n");
    assert_string_equal(
        output_of("GGMLBACKEND_TEST_EMU_LANES=64", "entry cuInit"), "there\n");
    assert_non_null(strstr(
        output_of("GGMLBACKEND_TEST_EMU_LANES=33", "entry cuInit"),
        "no emulated driver with 33 lanes"));
}

static void
entry_points_may_be_missing(void **state)
{
    static const char variables[] =
        "GGMLBACKEND_TEST_EMU_MISSING=cuGraphLaunch,cuMemAlloc_v2";

    (void)state;
    assert_string_equal(output_of(variables, "entry cuGraphLaunch"),
                        "missing\n");
    assert_string_equal(output_of(variables, "entry cuMemAlloc_v2"),
                        "missing\n");
    assert_string_equal(output_of(variables, "entry cuMemAllocManaged"),
                        "there\n");
    assert_non_null(strstr(
        output_of("GGMLBACKEND_TEST_EMU_MISSING=cuNothing", "entry cuInit"),
        "no cuNothing"));
}

static void
runs_of_kernels_are_written_at_the_end(void **state)
{
    char path[] = "gpu-emulator-counts-XXXXXX";
    const int fd = mkstemp(path);
    char variables[256], line[256] = "";
    FILE *file;

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    snprintf(variables, sizeof(variables), "GGMLBACKEND_TEST_EMU_COUNTS=%s",
             path);
    assert_string_equal(output_of(variables, "add"), "");
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    assert_string_equal(line, "32 " ADD_KERNEL " 2\n");
    assert_null(fgets(line, sizeof(line), file));
    fclose(file);
    unlink(path);
}

static int
tell_entry(const char *name)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        puts(dlerror());
    else
        puts(dlsym(library, name) == NULL ? "missing" : "there");
    return 0;
}

static int
add_twice(void)
{
    struct add add;

    emu_open(NULL);
    emu_begin_in_context("");
    add_begin(&add);
    for (int i = 0; i < 2; i++)
        if (add_launch(&add, 0, 1, 2) != GB_CUDA_SUCCESS)
            return 1;
    add_end(&add);
    emu_end();
    return 0;
}

int
main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_script_runs_programs_on_the_emulated_driver),
        cmocka_unit_test(entry_points_may_be_missing),
        cmocka_unit_test(runs_of_kernels_are_written_at_the_end),
    };

    program = argv[0];
    if (argc == 3 && strcmp(argv[1], "entry") == 0)
        return tell_entry(argv[2]);
    if (argc == 2 && strcmp(argv[1], "add") == 0)
        return add_twice();
    return cmocka_run_group_tests_name("programs on the emulated driver", tests,
                                       NULL, NULL);
}
