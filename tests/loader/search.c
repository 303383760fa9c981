/* SPDX-License-Identifier: MIT */
/*
 * tests/loader/search.c - which modules a search finds, takes and leaves.
 *
 * Each case runs in a child of its own, which sets its environment before the
 * library reads it.  The library's own folder is one of the test's.
 */
#include "tests/loader/in-child.h"

#include "tests/backend/fake.h"
#include "tests/loader/folder.h"
#include "tests/util/fault.h"

#include "ggmlbackend.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

/* The folders of a case. */
static char *first, *second, *own;

/* Instead of the library's: the linker takes this one. */
const char *
ggmlbackend_module_folder(void)
{
    return own;
}

static int
make_folders(void **state)
{
    (void)state;
    first = folder_make();
    second = folder_make();
    own = folder_make();
    return 0;
}

static int
remove_folders(void **state)
{
    (void)state;
    folder_remove(first);
    folder_remove(second);
    folder_remove(own);
    return 0;
}

/* GGMLBACKEND_MODULE_PATH, of this process. */
static void
set_path(const char *a, const char *b)
{
    char path[2 * PATH_MAX];

    snprintf(path, sizeof(path), "%s:%s", a, b);
    check(setenv("GGMLBACKEND_MODULE_PATH", path, 1) == 0);
}

/* Was the INDEX-th registration loaded from FOLDER/FILE? */
static bool
is_from(size_t index, const char *folder, const char *file)
{
    const char *path = ggmlbackend_module_path(ggml_backend_reg_get(index));

    return path != NULL && strcmp(path, folder_path(folder, file)) == 0;
}

/* The reason why FOLDER/FILE was refused; "" when it was not. */
static const char *
refusal(const char *folder, const char *file)
{
    static struct ggmlbackend_refused_module module;

    for (size_t i = 0; ggmlbackend_refused_get(i, &module); i++)
        if (strcmp(module.path, folder_path(folder, file)) == 0)
            return module.reason;
    return "";
}

static void
load_in_order(void)
{
    set_path(first, second);
    folder_add(first, "libggml-c.so", "good");
    folder_add(second, "libggml-b.so", "weighed");
    folder_add(own, "libggml-a.so", "variant");
    folder_add(own, "libggml-B.so", "variant3");
    ggml_backend_load_all();
    check(ggml_backend_reg_count() == 4 && ggml_backend_dev_count() == 4);
    check(is_from(1, own, "libggml-B.so"));
    check(is_from(2, second, "libggml-b.so"));
    check(is_from(3, first, "libggml-c.so"));
    check(strstr(refusal(own, "libggml-a.so"), "is not needed") != NULL);
}

static void
modules_of_all_folders_come_in_the_order_of_their_names(void **state)
{
    (void)state;
    run_in_child(load_in_order);
}

static void
load_from_both(void)
{
    set_path(first, second);
    folder_add(second, "libggml-x.so", "weighed");
    folder_add(first, "libggml-x.so", "good");
    folder_add(own, "libggml-x.so", "variant");
    ggml_backend_load_all();
    check(ggml_backend_reg_count() == 2);
    check(is_from(1, first, "libggml-x.so"));
}

static void
of_equal_names_the_first_folder_counts(void **state)
{
    (void)state;
    run_in_child(load_from_both);
}

static void
load_best(void)
{
    folder_add(own, "libggml-v.so", "variant");
    folder_add(own, "libggml-v-a.so", "variant3");
    folder_add(own, "libggml-v-b.so", "variant5");
    folder_add(own, "libggml-v-c.so", "equal5");
    folder_add(own, "libggml-v-d.so", "useless");
    folder_add(own, "libggml-v-e.so", "good");
    ggml_backend_load_all();
    check(ggml_backend_reg_count() == 2);
    check(is_from(1, own, "libggml-v-b.so"));
    check(ggmlbackend_refused_count() == 2);
    check(strstr(refusal(own, "libggml-v-d.so"), "score is 0") != NULL);
    check(strstr(refusal(own, "libggml-v-e.so"), "without a score") != NULL);
}

static void
of_variants_the_first_of_the_highest_score_is_taken(void **state)
{
    (void)state;
    run_in_child(load_best);
}

static void
load_best_of_folders(void)
{
    set_path(first, second);
    folder_add(first, "libggml-v.so", "variant");
    folder_add(first, "libggml-v-a.so", "variant3");
    folder_add(second, "libggml-v-z.so", "variant5");
    folder_add(own, "libggml-v-z.so", "equal5");
    ggml_backend_load_all();
    check(ggml_backend_reg_count() == 2);
    check(is_from(1, second, "libggml-v-z.so"));
}

static void
variants_of_all_folders_are_weighed_together(void **state)
{
    (void)state;
    run_in_child(load_best_of_folders);
}

static void
load_next_best(void)
{
    folder_add(own, "libggml-v-a.so", "broken9");
    folder_add(own, "libggml-v-b.so", "variant3");
    ggml_backend_load_all();
    check(is_from(1, own, "libggml-v-b.so"));
    check(strstr(refusal(own, "libggml-v-a.so"), "is too new") != NULL);
}

static void
where_the_best_is_refused_the_next_is_taken(void **state)
{
    (void)state;
    run_in_child(load_next_best);
}

static void
load_plain(void)
{
    folder_add(own, "libggml-v-a.so", "useless");
    folder_add(own, "libggml-v-b.so", "good");
    folder_add(own, "libggml-v.so", "variant");
    folder_add(own, "libggml-w.so", "useless");
    folder_add(own, "libggml-x.so", "weighed");
    ggml_backend_load_all();
    check(ggml_backend_reg_count() == 3);
    check(is_from(1, own, "libggml-v.so"));
    check(is_from(2, own, "libggml-x.so"));
    check(strstr(refusal(own, "libggml-w.so"), "score is 0") != NULL);
}

static void
where_no_variant_can_be_had_the_file_without_one_is_taken(void **state)
{
    (void)state;
    run_in_child(load_plain);
}

static void
load_broken(void)
{
    folder_write(own, "libggml-a.so", "text\n", 5);
    folder_add(own, "libggml-b.so", "unlinked");
    folder_write(own, "libggml-c-x.so", "", 0);
    folder_add(own, "libggml-d.so", "good");
    ggml_backend_load_all();
    check(ggml_backend_reg_count() == 2 && ggmlbackend_refused_count() == 3);
    check(is_from(1, own, "libggml-d.so"));
    check(strcmp(refusal(own, "libggml-c-x.so"), "is empty") == 0);
    check(!fake_failed());
}

static void
a_broken_module_does_not_end_the_search(void **state)
{
    static struct gb_child child;

    (void)state;
    gb_child_run(load_broken, &child);
    assert_true(child.is_done);
    assert_non_null(strstr(child.errors, "libggml-a.so: is no ELF file\n"));
}

static void
load_absent(void)
{
    check(setenv("GGMLBACKEND_LOG", "info", 1) == 0);
    folder_add(own, "libggml-a.so", "absent");
    folder_add(own, "libggml-b.so", "null");
    ggml_backend_load_all();
    check(ggml_backend_reg_count() == 1 && !fake_failed());
    check(strcmp(refusal(own, "libggml-a.so"),
                 "does not work here: there is no card 7") == 0);
    /* What one module said is not the next one's reason. */
    check(strcmp(refusal(own, "libggml-b.so"),
                 "does not work here: ggml_backend_init gave nothing") == 0);
}

static void
a_module_that_is_not_for_this_machine_says_why_and_is_no_failure(void **state)
{
    static struct gb_child child;

    (void)state;
    gb_child_run(load_absent, &child);
    if (!child.is_done)
        fail_msg("%s", child.errors);
    assert_non_null(strstr(child.errors,
                           "libggml-a.so: does not work here: there is no "
                           "card 7\n"));
}

static void
load_other_names(void)
{
    static const char *const names[] = {
        "libggml-.so",    "libggml-a.so.0", "libggml--a.so", "libggml-a-.so",
        "xlibggml-a.so",  "libggml.so",     "ggml-a.so",     "libggml-a.dll",
        "libggml-a.so~1",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        folder_add(own, names[i], "good");
    ggml_backend_load_all();
    check(ggml_backend_reg_count() == 1 && ggmlbackend_refused_count() == 0);
}

static void
other_files_are_left_alone(void **state)
{
    (void)state;
    run_in_child(load_other_names);
}

static void
load_again(void)
{
    set_path(first, first);
    check(setenv("GGML_BACKEND_PATH", module_path("weighed"), 1) == 0);
    folder_add(first, "libggml-a.so", "older");
    folder_add(first, "libggml-v-a.so", "broken9");
    folder_add(first, "libggml-v-b.so", "variant3");
    folder_add(first, "libggml-v-c.so", "variant5");
    folder_add(own, "libggml-z.so", "good");
    folder_add(own, "libggml-zz.so", "twin");
    for (int i = 0; i < 3; i++) {
        ggml_backend_load_all();
        check(ggml_backend_reg_count() == 4 && ggml_backend_dev_count() == 4);
        check(is_from(1, first, "libggml-v-c.so"));
        check(is_from(2, own, "libggml-z.so"));
        check(ggmlbackend_refused_count() == 3);
    }
    check(strcmp(ggml_backend_reg_name(ggml_backend_reg_get(3)), "Weighed") ==
          0);
}

static void
a_second_call_adds_nothing(void **state)
{
    (void)state;
    run_in_child(load_again);
}

static void
load_one_folder(void)
{
    set_path(first, second);
    check(setenv("GGML_BACKEND_PATH", module_path("good"), 1) == 0);
    folder_add(first, "libggml-a.so", "weighed");
    folder_add(own, "libggml-a.so", "weighed");
    folder_add(second, "libggml-z.so", "variant");
    ggml_backend_load_all_from_path(second);
    check(ggml_backend_reg_count() == 3);
    check(is_from(1, second, "libggml-z.so"));
    check(strcmp(ggml_backend_reg_name(ggml_backend_reg_get(2)), "Good") == 0);
}

static void
a_folder_that_is_given_is_the_only_one(void **state)
{
    (void)state;
    run_in_child(load_one_folder);
}

static void
load_bad_file(void)
{
    check(setenv("GGML_BACKEND_PATH", module_path("newer"), 1) == 0);
    ggml_backend_load_all();
    check(fake_failed());
    check(ggml_backend_reg_count() == 1 && ggmlbackend_refused_count() == 1);
}

static void
a_file_that_was_asked_for_by_name_is_refused_loudly(void **state)
{
    static struct gb_child child;

    (void)state;
    gb_child_run(load_bad_file, &child);
    assert_true(child.is_done);
    assert_non_null(strstr(child.errors, "newer.so: is too new"));
}

static void
load_from_no_folder(void)
{
    set_path(folder_write(first, "file", "", 0), folder_path(first, "none"));
    ggml_backend_load_all();
    ggml_backend_load_all_from_path(folder_path(first, "file"));
    ggml_backend_load_all_from_path("");
    check(ggml_backend_reg_count() == 1 && !fake_failed());
}

static void
what_is_no_folder_is_passed_over_with_a_message(void **state)
{
    static struct gb_child child;
    const char *const said[] = {
        "file: Not a directory\n", "none: No such file or directory\n",
        "module folder : No such file or directory\n"
    };

    (void)state;
    gb_child_run(load_from_no_folder, &child);
    assert_true(child.is_done);
    for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++)
        assert_non_null(strstr(child.errors, said[i]));
}

static void
load_without_own(void)
{
    char *there = own;

    own = (char *)folder_path(first, "none");
    ggml_backend_load_all();
    own = there;
    check(ggml_backend_reg_count() == 1);
}

static void
nobody_misses_the_librarys_own_folder(void **state)
{
    static struct gb_child child;

    (void)state;
    gb_child_run(load_without_own, &child);
    assert_true(child.is_done);
    assert_string_equal(child.errors, "");
}

/* The folder that the running program lies in. */
static void
find_program(char *folder, size_t size)
{
    const ssize_t n = readlink("/proc/self/exe", folder, size - 1);

    check(n > 0);
    folder[n] = '\0';
    *strrchr(folder, '/') = '\0';
}

static void
load_from_elsewhere(void)
{
    char beside[PATH_MAX];

    find_program(beside, sizeof(beside));
    symlink(module_path("weighed"), folder_path(beside, "libggml-beside.so"));
    folder_add(first, "libggml-here.so", "good");
    check(chdir(first) == 0);
    check(setenv("GGMLBACKEND_MODULE_PATH", ":.::../", 1) == 0);
    ggml_backend_load_all();
    unlink(folder_path(beside, "libggml-beside.so"));
    check(ggml_backend_reg_count() == 1 && ggmlbackend_refused_count() == 0);
}

static void
nothing_comes_from_the_working_folder_or_the_programs(void **state)
{
    static struct gb_child child;

    (void)state;
    gb_child_run(load_from_elsewhere, &child);
    if (!child.is_done)
        fail_msg("%s", child.errors);
    assert_non_null(strstr(child.errors, "module folder .: passed over"));
}

static void
load_with_privileges(void)
{
    check(setreuid(65534, (uid_t)-1) == 0);
    set_path(first, second);
    check(setenv("GGML_BACKEND_PATH", module_path("weighed"), 1) == 0);
    folder_add(first, "libggml-a.so", "good");
    folder_add(own, "libggml-b.so", "variant");
    ggml_backend_load_all();
    check(ggml_backend_reg_count() == 2 && ggmlbackend_refused_count() == 0);
    check(is_from(1, own, "libggml-b.so"));
}

static void
privileged_programs_ignore_the_environment(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("only root can be another user as well\n");
        skip();
    }
    run_in_child(load_with_privileges);
}

static void
search_without_memory(void *data)
{
    (void)data;
    ggml_backend_load_all();
    check(ggml_backend_reg_count() <= 3);
    ggml_backend_unload(ggml_backend_reg_by_name("Good"));
    ggml_backend_unload(ggml_backend_reg_by_name("Variant"));
}

static void
load_without_memory(void)
{
    struct ggmlbackend_env_entry entry;

    set_path(first, second);
    check(ggmlbackend_env_get(0, &entry));
    folder_add(first, "libggml-a.so", "good");
    folder_add(second, "libggml-v-a.so", "variant3");
    folder_add(second, "libggml-v-b.so", "older");
    check(ggml_backend_reg_count() == 1);
    check(gb_fault_each(search_without_memory, NULL) >= 8);
    ggml_backend_load_all();
    check(ggml_backend_reg_count() == 3);
}

static void
without_memory_the_search_ends_and_can_be_made_again(void **state)
{
    (void)state;
    run_in_child(load_without_memory);
}

#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, make_folders, remove_folders)

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(
            a_module_that_is_not_for_this_machine_says_why_and_is_no_failure),
        CASE(modules_of_all_folders_come_in_the_order_of_their_names),
        CASE(of_equal_names_the_first_folder_counts),
        CASE(of_variants_the_first_of_the_highest_score_is_taken),
        CASE(variants_of_all_folders_are_weighed_together),
        CASE(where_the_best_is_refused_the_next_is_taken),
        CASE(where_no_variant_can_be_had_the_file_without_one_is_taken),
        CASE(a_broken_module_does_not_end_the_search),
        CASE(other_files_are_left_alone),
        CASE(a_second_call_adds_nothing),
        CASE(a_folder_that_is_given_is_the_only_one),
        CASE(a_file_that_was_asked_for_by_name_is_refused_loudly),
        CASE(what_is_no_folder_is_passed_over_with_a_message),
        CASE(nobody_misses_the_librarys_own_folder),
        CASE(nothing_comes_from_the_working_folder_or_the_programs),
        CASE(privileged_programs_ignore_the_environment),
        CASE(without_memory_the_search_ends_and_can_be_made_again),
    };

    unsetenv("GGML_BACKEND_PATH");
    unsetenv("GGMLBACKEND_LOG");
    return cmocka_run_group_tests_name("search for modules", tests, NULL,
                                       NULL);
}
