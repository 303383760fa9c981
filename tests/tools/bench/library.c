/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/bench/library.c - which files belong to a library.
 *
 * Libraries are compiled here.  The process that loads one ends by exit instead
 * of _exit (see local.mk), so that what it ran is counted.
 */
#include "config.h"

#include "tools/ggmlbackend-bench/library.h"

#include "ggml.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char *folder; /* its whole path */
static char said[4096]; /* on standard error, by the last call of files_of */

static const char part[] = "int part(void); int part(void) { return 1; }\n";

/* All functions that are asked for, and nothing in them. */
static const char whole[] =
    "#define BENCH_FUNCTION(name) void name(void); void name(void) {}\n"
    "#include \"tools/ggmlbackend-bench/functions.def\"\n";

static int
make_folder(void **state)
{
    char name[] = "bench-library-XXXXXX";

    (void)state;
    if (mkdtemp(name) == NULL)
        return -1;
    folder = realpath(name, NULL);
    return folder == NULL ? -1 : 0;
}

static int
run_command(const char *fmt, ...)
{
    char command[8192];
    va_list args;

    va_start(args, fmt);
    vsnprintf(command, sizeof(command), fmt, args);
    va_end(args);
    return system(command);
}

static int
remove_folder(void **state)
{
    const int status = run_command("rm -rf '%s'", folder);

    (void)state;
    free(folder);
    return status;
}

/* FOLDER/NAME of SOURCE, and of what else the linker is told. */
static void
build(const char *name, const char *source, const char *more)
{
    const char *cc = getenv("CC"), *top = getenv("top_srcdir");
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/source.c", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(source, file);
    assert_int_equal(fclose(file), 0);
    if (run_command("cd '%s' && %s -w -shared -fPIC -I'%s' -o '%s' source.c %s",
                    folder, cc == NULL ? "cc" : cc, top == NULL ? "." : top,
                    name, more) != 0)
        fail_msg("%s was not built", name);
}

/* What library_files says of FOLDER/NAME; its messages go to .said. */
static char *
files_of(const char *name)
{
    FILE *messages = tmpfile();
    const int kept = dup(STDERR_FILENO);
    char path[4096], *files;
    size_t n;

    assert_non_null(messages);
    assert_true(kept >= 0);
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    fflush(NULL);
    dup2(fileno(messages), STDERR_FILENO);
    files = library_files(path);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(messages);
    n = fread(said, 1, sizeof(said) - 1, messages);
    said[n] = '\0';
    fclose(messages);
    return files;
}

static void
check_is_refused(const char *name, const char *wanted)
{
    char *files = files_of(name);

    if (files != NULL || strstr(said, wanted) == NULL)
        fail_msg("%s: '%s', and '%s' has no '%s'", name,
                 files == NULL ? "" : files, said, wanted);
}

static void
a_library_alone_is_its_file(void **state)
{
    char wanted[4096], *files;

    (void)state;
    build("whole.so", whole, "");
    files = files_of("whole.so");
    snprintf(wanted, sizeof(wanted), "%s/whole.so", folder);
    assert_non_null(files);
    assert_string_equal(files, wanted);
    assert_string_equal(said, "");
    free(files);
    /* By another name it is the same file. */
    assert_int_equal(run_command("ln -s whole.so '%s/link.so'", folder), 0);
    files = files_of("link.so");
    assert_non_null(files);
    assert_string_equal(files, wanted);
    free(files);
}

static void
what_a_library_needs_comes_after_it(void **state)
{
    char wanted[8192], *files;

    (void)state;
    build("part.so", part, "");
    build("needs.so", whole, "-Wl,--no-as-needed \"$PWD\"/part.so");
    files = files_of("needs.so");
    snprintf(wanted, sizeof(wanted), "%s/needs.so:%s/part.so", folder, folder);
    assert_non_null(files);
    assert_string_equal(files, wanted);
    free(files);
}

/* Functions may be those of what it needs. */
static void
functions_are_looked_for_in_what_it_needs_too(void **state)
{
    char *files;

    (void)state;
    build("all.so", whole, "");
    build("front.so", part, "-Wl,--no-as-needed \"$PWD\"/all.so");
    files = files_of("front.so");
    assert_non_null(files);
    assert_non_null(strstr(files, "/front.so:"));
    free(files);
    build("less.so", part, "");
    check_is_refused("less.so", "less.so: has no function g");
}

static void
what_cannot_be_loaded_is_named(void **state)
{
    (void)state;
    check_is_refused("none.so", "none.so: cannot open");
    check_is_refused("source.c", "source.c: ");
}

static void
a_library_that_ends_the_process_is_told(void **state)
{
    (void)state;
    build("killed.so",
          "#include <signal.h>\n"
          "__attribute__((constructor)) static void f(void)"
          "{ raise(SIGKILL); }\n", "");
    check_is_refused("killed.so",
                     "killed.so: ends the process that loads it with signal 9");
    build("exits.so",
          "#include <unistd.h>\n"
          "__attribute__((constructor)) static void f(void) { _exit(0); }\n",
          "");
    check_is_refused("exits.so", "exits.so: ends the process that loads it\n");
}

/* The list of files to load first has colons and blanks between its paths. */
static void
paths_that_a_list_cannot_have_are_refused(void **state)
{
    char path[4096];

    (void)state;
    snprintf(path, sizeof(path), "%s/b c", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    build("a:b.so", whole, "");
    check_is_refused("a:b.so", "a colon or a space");
    build("b c/part.so", part, "");
    build("blank.so", whole, "-Wl,--no-as-needed \"$PWD/b c/part.so\"");
    check_is_refused("blank.so", "b c/part.so: a path with a colon or a space");
}

static void
too_many_files_are_refused(void **state)
{
    (void)state;
    build("one.so", part, "");
    assert_int_equal(run_command("cd '%s' && i=0 && while [ $i -lt 64 ]; do "
                                 "cp one.so n$i.so; i=$((i + 1)); done",
                                 folder), 0);
    build("many.so", whole, "-Wl,--no-as-needed \"$PWD\"/n[0-9]*.so");
    check_is_refused("many.so", "is one of too many files");
    /* One less is not too many. */
    assert_int_equal(run_command("rm '%s/n63.so'", folder), 0);
    build("enough.so", whole, "-Wl,--no-as-needed \"$PWD\"/n[0-9]*.so");
    free(files_of("enough.so"));
    assert_string_equal(said, "");
}

static void
an_address_belongs_to_the_file_it_is_in(void **state)
{
    int local = 0;

    (void)state;
    assert_null(library_of(NULL));
    assert_null(library_of(&local));
    assert_non_null(library_of(said));
    /* A program that the library is linked into shows nobody its functions. */
    if (dlsym(RTLD_DEFAULT, "ggml_init") == NULL)
        assert_string_equal(library_here(), "unknown library");
    else
        assert_string_equal(library_here(),
                            library_of((const void *)(uintptr_t)ggml_init));
}

static void
nothing_is_left_open(void **state)
{
    int first = dup(0), last;

    (void)state;
    close(first);
    check_is_refused("none.so", "none.so");
    last = dup(0);
    close(last);
    assert_int_equal(first, last);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_alone_is_its_file),
        cmocka_unit_test(what_a_library_needs_comes_after_it),
        cmocka_unit_test(functions_are_looked_for_in_what_it_needs_too),
        cmocka_unit_test(what_cannot_be_loaded_is_named),
        cmocka_unit_test(a_library_that_ends_the_process_is_told),
        cmocka_unit_test(paths_that_a_list_cannot_have_are_refused),
        cmocka_unit_test(too_many_files_are_refused),
        cmocka_unit_test(an_address_belongs_to_the_file_it_is_in),
        cmocka_unit_test(nothing_is_left_open),
    };

    return cmocka_run_group_tests_name("files of a library", tests,
                                       make_folder, remove_folder);
}
