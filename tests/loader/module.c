/* SPDX-License-Identifier: MIT */
/*
 * tests/loader/module.c - loading and unloading one module, and all that can be
 * wrong with one.
 *
 * Each case runs in a child of its own, where no module was loaded before.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "tests/loader/in-child.h"

#include "tests/backend/fake.h"
#include "tests/loader/folder.h"
#include "tests/util/fault.h"

#include "ggmlbackend.h"

#include "lib/base/mem.h"
#include "lib/loader/image.h"

#include <dlfcn.h>
#include <elf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOBODY 65534

static void
load_good(void)
{
    const char *path = module_path("good");
    ggml_backend_reg_t reg = ggml_backend_load(path);

    check(reg != NULL);
    check(strcmp(ggml_backend_reg_name(reg), "Good") == 0);
    check(ggml_backend_reg_count() == 2 && ggml_backend_dev_count() == 2);
    check(ggml_backend_reg_by_name("good") == reg);
    check(ggml_backend_dev_by_name("good") == ggml_backend_dev_get(1));
    check(ggml_backend_dev_backend_reg(ggml_backend_dev_get(1)) == reg);
    check(strcmp(ggmlbackend_module_path(reg), path) == 0);
    check(ggmlbackend_module_path(ggml_backend_reg_get(0)) == NULL);
    check(ggmlbackend_refused_count() == 0);
    check(!fake_failed());
}

static void
a_module_brings_its_backend_and_devices(void **state)
{
    (void)state;
    run_in_child(load_good);
}

static void
load_twice(void)
{
    ggml_backend_reg_t reg = ggml_backend_load(module_path("weighed"));

    check(reg != NULL);
    check(ggml_backend_load(module_path("weighed")) == reg);
    check(ggml_backend_reg_count() == 2 && ggml_backend_dev_count() == 2);
    check(ggmlbackend_refused_count() == 0 && !fake_failed());
}

/* A module's file gives way to another between the look and the load. */
static void
load_replaced(void)
{
    size_t size;
    unsigned char *bytes = module_read("good", &size);
    char *scratch = folder_make();
    const char *path = folder_write(scratch, "first.so", bytes, size);
    const char *other = folder_write(scratch, "other.so", "nothing", 7);
    struct gb_image image;
    char reason[64];
    void *handle, *symbol;
    Dl_info info;

    check(gb_image_open(path, &image, reason, sizeof(reason)));
    check(rename(other, path) == 0);
    handle = gb_image_load(&image);
    gb_image_close(&image);
    check(handle != NULL);
    symbol = dlsym(handle, "ggml_backend_init");
    check(symbol != NULL && dladdr(symbol, &info) != 0);
    check(strcmp(info.dli_fname, path) == 0);
    check(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == handle);
    folder_remove(scratch);
    free(bytes);
}

static void
what_was_looked_at_is_what_is_loaded(void **state)
{
    struct stat status;

    (void)state;
    if (stat("/proc/self/fd", &status) != 0) {
        print_message("no names for open files here\n");
        skip();
    }
    run_in_child(load_replaced);
}

/* Such a file is loaded by its path, unless that means another one by now. */
static void
load_origin(void)
{
    const char *path = module_path("origin");
    struct gb_image image;
    char reason[64];

    check(gb_image_open(path, &image, reason, sizeof(reason)));
    check(image.has_origin);
    image.path = module_path("good");
    check(gb_image_load(&image) == NULL);
    image.path = path;
    check(gb_image_load(&image) != NULL);
    gb_image_close(&image);
    check(ggml_backend_load(path) != NULL);
}

static void
a_file_with_others_beside_it_is_loaded_by_its_path(void **state)
{
    (void)state;
    run_in_child(load_origin);
}

static void
a_module_that_is_loaded_gives_the_same_again(void **state)
{
    (void)state;
    run_in_child(load_twice);
}

static void
load_curious(void)
{
    check(ggml_backend_load(module_path("curious")) != NULL);
    check(ggml_backend_dev_by_name("Curious") != NULL);
}

static void
a_module_may_ask_for_devices_while_it_is_loaded(void **state)
{
    (void)state;
    run_in_child(load_curious);
}

/* What is to be loaded, and what must be said of it, for the child. */
static const char *bad_path;
static const char *bad_reason;

static void
load_bad(void)
{
    const size_t n_regs = ggml_backend_reg_count();
    const size_t n_devices = ggml_backend_dev_count();
    const size_t n_refused = ggmlbackend_refused_count();
    struct ggmlbackend_refused_module module;

    for (int i = 0; i < 2; i++) {
        check(ggml_backend_load(bad_path) == NULL);
        check(strstr(ggmlbackend_last_failure(), bad_path) != NULL);
        check(strstr(ggmlbackend_last_failure(), bad_reason) != NULL);
        check(fake_failed());
    }
    check(ggml_backend_reg_count() == n_regs);
    check(ggml_backend_dev_count() == n_devices);
    check(ggmlbackend_refused_count() == n_refused + 1);
    check(ggmlbackend_refused_get(n_refused, &module));
    check(strcmp(module.path, bad_path) == 0);
    check(strstr(module.reason, bad_reason) == module.reason);
    check(!ggmlbackend_refused_get(n_refused + 1, &module));
}

/* The reason begins so, and is kept once. */
static void
assert_refused(const char *path, const char *reason)
{
    static struct gb_child child;

    bad_path = path;
    bad_reason = reason;
    gb_child_run(load_bad, &child);
    if (!child.is_done)
        fail_msg("%s, '%s': %s", path, reason, child.errors);
}

static void
modules_that_do_not_fit_are_refused(void **state)
{
    static const struct {
        const char *name;
        const char *reason;
    } cases[] = {
        { "unlinked", "cannot be opened: undefined symbol: tests_missing" },
        { "empty", "has no ggml_backend_init" },
        { "null", "does not work here: ggml_backend_init gave nothing" },
        { "absent", "does not work here: there is no card 7" },
        { "older", "is too old: interface version 0, this library has 1" },
        { "newer", "is too new: interface version 2, this library has 1" },
        { "partial", "its registration has no get_device" },
        { "useless", "is not for this machine: its score is 0" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_refused(module_path(cases[i].name), cases[i].reason);
}

/* A folder, and a whole module to make broken ones of. */
static char *folder;
static unsigned char *good;
static size_t good_size;

static int
make_folder(void **state)
{
    (void)state;
    folder = folder_make();
    good = module_read("good", &good_size);
    return 0;
}

static int
remove_folder(void **state)
{
    (void)state;
    free(good);
    folder_remove(folder);
    return 0;
}

static void
files_that_are_no_modules_are_refused(void **state)
{
    const char *pipe = folder_path(folder, "pipe.so");

    (void)state;
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_refused(folder_path(folder, "none.so"), "cannot be found: ");
    assert_refused(folder, "is a folder");
    assert_refused(pipe, "is no ordinary file");
    assert_refused(folder_write(folder, "empty.so", "", 0), "is empty");
    assert_refused(folder_write(folder, "a.so", "\177ELF", 4), "is cut short");
    assert_refused(folder_write(folder, "text.so", "INPUT(libm.so)\n", 15),
                   "is no ELF file");
    assert_refused("good.so", "is a name without a folder");
    assert_refused("", "is a name without a folder");
}

/* The module with VALUE as the byte at OFFSET. */
static const char *
add_changed(const char *file, size_t offset, int value)
{
    const unsigned char byte = good[offset];
    const char *path;

    good[offset] = (unsigned char)value;
    path = folder_write(folder, file, good, good_size);
    good[offset] = byte;
    return path;
}

static void
files_for_other_machines_are_refused(void **state)
{
    const int other_class =
        good[EI_CLASS] == ELFCLASS64 ? ELFCLASS32 : ELFCLASS64;
    const int other_order =
        good[EI_DATA] == ELFDATA2LSB ? ELFDATA2MSB : ELFDATA2LSB;
    const size_t machine = offsetof(Elf64_Ehdr, e_machine);
    const size_t type = offsetof(Elf64_Ehdr, e_type);

    (void)state;
    assert_refused(add_changed("machine.so", machine, good[machine] ^ 1),
                   "is for another machine");
    assert_refused(add_changed("class.so", EI_CLASS, other_class),
                   "is for another machine");
    assert_refused(add_changed("order.so", EI_DATA, other_order),
                   "is for another machine");
    assert_refused(add_changed("type.so", type, good[type] ^ 1),
                   "is no shared object");
}

/* dlopen would end the process over some of these. */
static void
files_that_were_cut_short_are_refused(void **state)
{
    const size_t sizes[] = { 5, 20, 63, 64, 100, 500, 4096, good_size / 4 };

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        assert_refused(folder_write(folder, "short.so", good, sizes[i]),
                       "is cut short");
}

static void
load_unreadable(void)
{
    if (geteuid() == 0)
        check(setuid(NOBODY) == 0);
    load_bad();
}

static void
a_file_that_may_not_be_read_is_refused(void **state)
{
    static struct gb_child child;
    const char *path = folder_write(folder, "secret.so", "secret", 6);

    (void)state;
    assert_int_equal(chmod(path, 0), 0);
    bad_path = path;
    bad_reason = "cannot be read: Permission denied";
    gb_child_run(load_unreadable, &child);
    /* Nobody may not even look into the build folder of some users. */
    if (strstr(child.errors, "cannot be found: Permission denied") != NULL) {
        print_message("user %d may not enter the build folder\n", NOBODY);
        skip();
    }
    if (!child.is_done)
        fail_msg("%s", child.errors);
}

static void
load_twin(void)
{
    check(ggml_backend_load(module_path("good")) != NULL);
    load_bad();
}

static void
a_name_that_is_registered_already_is_refused(void **state)
{
    (void)state;
    bad_path = module_path("twin");
    bad_reason = "is not needed: a backend named gOOD is registered already";
    run_in_child(load_twin);
}

static void
load_null(void)
{
    check(ggml_backend_load(NULL) == NULL && fake_failed());
    check(ggmlbackend_refused_count() == 0);
    check(ggmlbackend_module_path(NULL) == NULL && fake_failed());
    check(!ggmlbackend_refused_get(0, NULL) && fake_failed());
}

static void
no_path_is_a_failure_and_no_refusal(void **state)
{
    (void)state;
    run_in_child(load_null);
}

static void
unload_and_load(void)
{
    ggml_backend_reg_t good = ggml_backend_load(module_path("good"));
    ggml_backend_reg_t weighed = ggml_backend_load(module_path("weighed"));
    ggml_backend_dev_t device = ggml_backend_dev_by_name("Weighed");

    ggml_backend_unload(good);
    check(ggml_backend_reg_count() == 2 && ggml_backend_dev_count() == 2);
    check(ggml_backend_reg_get(1) == weighed);
    check(ggml_backend_dev_get(1) == device);
    check(ggml_backend_reg_by_name("Good") == NULL);
    check(ggml_backend_dev_by_name("Good") == NULL);
    check(ggmlbackend_module_path(good) == NULL);
    ggml_backend_unload(good);
    ggml_backend_unload(NULL);
    check(ggml_backend_reg_count() == 2 && !fake_failed());

    check(ggml_backend_load(module_path("good")) == good);
    check(ggml_backend_reg_get(2) == good && ggml_backend_dev_count() == 3);
    check(strcmp(ggmlbackend_module_path(good), module_path("good")) == 0);
    check(ggmlbackend_refused_count() == 0 && !fake_failed());
}

static void
what_was_unloaded_is_gone_and_can_come_back(void **state)
{
    (void)state;
    run_in_child(unload_and_load);
}

static void
unload_all(void)
{
    while (ggml_backend_reg_count() > 0)
        ggml_backend_unload(ggml_backend_reg_get(0));
    check(ggml_backend_dev_count() == 0);
    check(ggml_backend_init_best() == NULL);
    check(ggml_backend_load(module_path("good")) != NULL);
    check(ggml_backend_reg_count() == 1 && ggml_backend_dev_count() == 1);
}

static void
built_in_backends_can_be_unloaded(void **state)
{
    (void)state;
    run_in_child(unload_all);
}

static void
unload_in_use(void)
{
    const float values[4] = { 1.0f, 2.0f, 3.0f, 4.0f };
    ggml_backend_reg_t reg = ggml_backend_load(module_path("good"));
    ggml_backend_dev_t device = ggml_backend_reg_dev_get(reg, 0);
    ggml_backend_t backend = ggml_backend_dev_init(device, NULL);
    struct ggml_context *ctx = fake_context(8);
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *sum = ggml_add(ctx, a, a);
    struct ggml_cgraph *graph = ggml_new_graph_custom(ctx, 8, false);
    ggml_backend_buffer_t buffer =
        ggml_backend_alloc_ctx_tensors(ctx, backend);
    float result[4];

    ggml_backend_unload(reg);
    check(ggml_backend_dev_by_name("Good") == NULL);

    ggml_build_forward_expand(graph, sum);
    ggml_backend_tensor_set(a, values, 0, sizeof(values));
    check(ggml_backend_graph_compute(backend, graph) == GGML_STATUS_SUCCESS);
    ggml_backend_tensor_get(sum, result, 0, sizeof(result));
    for (int i = 0; i < 4; i++)
        check(result[i] == 2.0f * values[i]);
    check(strcmp(ggml_backend_buffer_name(buffer), "Good") == 0);
    check(strcmp(ggml_backend_dev_name(device), "Good") == 0);

    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backend);
    buffer = ggml_backend_buft_alloc_buffer(
        ggml_backend_dev_buffer_type(device), 64);
    check(buffer != NULL);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
    check(!fake_failed());
}

static void
buffers_and_backends_of_an_unloaded_module_work(void **state)
{
    (void)state;
    run_in_child(unload_in_use);
}

/* One that goes, one that is refused late, one early. */
static void
load_some(void)
{
    ggml_backend_reg_t reg = ggml_backend_load(module_path("good"));

    check(reg != NULL);
    check(ggml_backend_reg_count() == 2 && ggml_backend_dev_count() == 2);
    check(ggml_backend_load(module_path("twin")) == NULL);
    check(ggml_backend_load(module_path("unlinked")) == NULL);
    ggml_backend_unload(reg);
    check(ggml_backend_reg_count() == 1 && ggml_backend_dev_count() == 1);
}

static void
load_often(void)
{
    size_t n_blocks;

    load_some();
    n_blocks = gb_mem_n_blocks();
    check(n_blocks > 0);
    for (int i = 0; i < 1000; i++) {
        load_some();
        check(gb_mem_n_blocks() == n_blocks);
    }
    check(ggmlbackend_refused_count() == 2);
}

static void
a_thousand_loads_leak_nothing(void **state)
{
    (void)state;
    setenv("GGMLBACKEND_LOG", "none", 1);
    run_in_child(load_often);
    unsetenv("GGMLBACKEND_LOG");
}

static void
load_and_unload(void *data)
{
    ggml_backend_reg_t reg = ggml_backend_load(data);

    check((reg != NULL) == (ggml_backend_dev_by_name("Good") != NULL));
    check(reg != NULL || gb_fault_happened());
    ggml_backend_unload(reg);
    check(ggml_backend_reg_count() <= 1);
    check(ggmlbackend_refused_count() <= 3);
}

/* Refused, with or without the memory to remember why. */
static void
load_in_vain(void *data)
{
    check(ggml_backend_load(data) == NULL);
    check(fake_failed());
}

static void
load_without_memory(void)
{
    check(ggml_backend_reg_count() == 1);
    check(gb_fault_each(load_and_unload, (void *)module_path("good")) >= 3);
    check(gb_fault_each(load_in_vain, (void *)module_path("older")) >= 1);
    check(ggml_backend_load(module_path("good")) != NULL);
}

static void
without_memory_a_module_is_refused_and_comes_later(void **state)
{
    (void)state;
    run_in_child(load_without_memory);
}

#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_module_brings_its_backend_and_devices),
        cmocka_unit_test(a_module_that_is_loaded_gives_the_same_again),
        cmocka_unit_test(what_was_looked_at_is_what_is_loaded),
        cmocka_unit_test(a_file_with_others_beside_it_is_loaded_by_its_path),
        cmocka_unit_test(a_module_may_ask_for_devices_while_it_is_loaded),
        cmocka_unit_test(modules_that_do_not_fit_are_refused),
        CASE(files_that_are_no_modules_are_refused),
        CASE(files_for_other_machines_are_refused),
        CASE(files_that_were_cut_short_are_refused),
        CASE(a_file_that_may_not_be_read_is_refused),
        cmocka_unit_test(a_name_that_is_registered_already_is_refused),
        cmocka_unit_test(no_path_is_a_failure_and_no_refusal),
        cmocka_unit_test(what_was_unloaded_is_gone_and_can_come_back),
        cmocka_unit_test(built_in_backends_can_be_unloaded),
        cmocka_unit_test(buffers_and_backends_of_an_unloaded_module_work),
        cmocka_unit_test(a_thousand_loads_leak_nothing),
        cmocka_unit_test(without_memory_a_module_is_refused_and_comes_later),
    };

    return cmocka_run_group_tests_name("modules", tests, NULL, NULL);
}
