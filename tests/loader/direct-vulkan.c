/* SPDX-License-Identifier: MIT */
/*
 * tests/loader/direct-vulkan.c - the functions of ggml-vulkan.h, with a module that
 * names itself Vulkan, and without.
 *
 * Each case runs in a child of its own.  The library's own folder is one of the
 * test's.
 */
#include "tests/loader/in-child.h"

#include "tests/backend/fake.h"
#include "tests/loader/folder.h"

#include "ggml-cuda.h"
#include "ggml-vulkan.h"
#include "ggmlbackend.h"

#include <limits.h>
#include <string.h>

static char *own;

/* Instead of the library's: the linker takes this one. */
const char *
ggmlbackend_module_folder(void)
{
    return own;
}

static int
make_folder(void **state)
{
    (void)state;
    own = folder_make();
    return 0;
}

static int
remove_folder(void **state)
{
    (void)state;
    folder_remove(own);
    return 0;
}

/* All that has an answer without the device: DEVICE is none. */
static void
ask_without_device(int device)
{
    char description[8] = "before";
    size_t free = 7, total = 7;

    check(ggml_backend_vk_init((size_t)device) == NULL && fake_failed());
    check(ggml_backend_vk_buffer_type((size_t)device) == NULL);
    ggml_backend_vk_get_device_description(device, description,
                                           sizeof(description));
    check(description[0] == '\0');
    ggml_backend_vk_get_device_memory(device, &free, &total);
    check(free == 0 && total == 0);
    check(!fake_failed());
}

static void
ask_nobody(void)
{
    ask_without_device(0);
    check(ggml_backend_vk_reg() == NULL);
    check(ggml_backend_vk_get_device_count() == 0);
    check(ggml_backend_vk_host_buffer_type() == NULL);
    check(!ggml_backend_is_vk(NULL));
    check(!fake_failed());
}

static void
without_a_backend_there_are_no_devices(void **state)
{
    (void)state;
    run_in_child(ask_nobody);
}

static void
ask_backends(ggml_backend_dev_t device)
{
    ggml_backend_t backend = ggml_backend_vk_init(0);
    ggml_backend_t cpu = ggml_backend_init_by_name("CPU", NULL);

    check(backend != NULL && ggml_backend_get_device(backend) == device);
    check(ggml_backend_is_vk(backend) && !ggml_backend_is_cuda(backend));
    check(cpu != NULL && !ggml_backend_is_vk(cpu));
    ggml_backend_free(backend);
    ggml_backend_free(cpu);
}

static void
ask_device(ggml_backend_dev_t device)
{
    size_t free, total, expected_free, expected_total;
    char text[8];

    check(ggml_backend_vk_buffer_type(0) ==
          ggml_backend_dev_buffer_type(device));
    check(ggml_backend_vk_host_buffer_type() ==
          ggml_backend_dev_host_buffer_type(device));
    ggml_backend_vk_get_device_description(0, text, sizeof(text));
    check(strncmp(text, ggml_backend_dev_description(device),
                  sizeof(text) - 1) == 0);
    check(strlen(text) < sizeof(text) && text[0] != '\0');
    ggml_backend_vk_get_device_memory(0, &free, &total);
    ggml_backend_dev_memory(device, &expected_free, &expected_total);
    check(total > 0 && free == expected_free && total == expected_total);
}

static void
ask_vulkan(void)
{
    ggml_backend_dev_t device;

    folder_add(own, "libggml-vulkan.so", "vulkan");
    folder_add(own, "libggml-cuda.so", "cuda");
    check(ggml_backend_vk_get_device_count() == 1);
    /* Nothing else was loaded. */
    check(ggml_backend_reg_count() == 2);
    device = ggml_backend_dev_by_name("Vulkan");
    check(ggml_backend_reg_dev_get(ggml_backend_vk_reg(), 0) == device);
    ask_backends(device);
    ask_device(device);
    ask_without_device(1);
    ask_without_device(-1);
    check(ggml_backend_vk_init(SIZE_MAX / 2 + 1) == NULL && fake_failed());
    check(ggml_backend_vk_buffer_type((size_t)INT_MAX + 1) == NULL);
}

static void
the_first_call_loads_the_module_and_no_other(void **state)
{
    (void)state;
    run_in_child(ask_vulkan);
}

static void
ask_nowhere(void)
{
    size_t size;

    ggml_backend_vk_get_device_memory(0, NULL, &size);
    check(fake_failed());
    ggml_backend_vk_get_device_memory(0, &size, NULL);
    check(fake_failed());
    ggml_backend_vk_get_device_description(0, NULL, 8);
    check(fake_failed());
    ggml_backend_vk_get_device_description(0, NULL, 0);
    check(!fake_failed());
}

static void
answers_need_a_place(void **state)
{
    (void)state;
    run_in_child(ask_nowhere);
}

#define case_of(name) \
    cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        case_of(without_a_backend_there_are_no_devices),
        case_of(the_first_call_loads_the_module_and_no_other),
        case_of(answers_need_a_place),
    };

    return cmocka_run_group_tests_name("functions of ggml-vulkan.h", tests,
                                       NULL, NULL);
}
