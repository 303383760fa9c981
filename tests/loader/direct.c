/* SPDX-License-Identifier: MIT */
/*
 * tests/loader/direct.c - the functions of ggml-cuda.h, with modules that name
 * themselves CUDA and ROCm, and without.
 *
 * Each case runs in a child of its own.  The library's own folder is one of the
 * test's.
 */
#include "tests/loader/in-child.h"

#include "tests/backend/fake.h"
#include "tests/loader/folder.h"

#include "ggml-cuda.h"
#include "ggmlbackend.h"

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

/* All that has an answer without a card. */
static void
ask_without_card(int device)
{
    char description[8] = "before";
    size_t free = 7, total = 7;

    check(ggml_backend_cuda_init(device) == NULL && fake_failed());
    check(ggml_backend_cuda_buffer_type(device) == NULL);
    ggml_backend_cuda_get_device_description(device, description,
                                             sizeof(description));
    check(description[0] == '\0');
    ggml_backend_cuda_get_device_memory(device, &free, &total);
    check(free == 0 && total == 0);
    check(!fake_failed());
}

static void
ask_nobody(void)
{
    const float shares[GGML_CUDA_MAX_DEVICES] = { 1.0f };
    char memory[64];

    ask_without_card(0);
    check(ggml_backend_cuda_reg() == NULL);
    check(ggml_backend_cuda_get_device_count() == 0);
    check(ggml_backend_cuda_host_buffer_type() == NULL);
    check(ggml_backend_cuda_split_buffer_type(0, shares) == NULL);
    check(!ggml_backend_cuda_register_host_buffer(memory, sizeof(memory)));
    ggml_backend_cuda_unregister_host_buffer(memory);
    check(!ggml_backend_is_cuda(NULL));
    check(!fake_failed());
}

static void
without_a_backend_there_are_no_cards(void **state)
{
    (void)state;
    run_in_child(ask_nobody);
}

static void
ask_backends(ggml_backend_dev_t device)
{
    ggml_backend_t backend = ggml_backend_cuda_init(0);
    ggml_backend_t cpu = ggml_backend_init_by_name("CPU", NULL);

    check(backend != NULL && ggml_backend_get_device(backend) == device);
    check(ggml_backend_is_cuda(backend));
    check(cpu != NULL && !ggml_backend_is_cuda(cpu));
    ggml_backend_free(backend);
    ggml_backend_free(cpu);
}

static void
ask_card(ggml_backend_dev_t device)
{
    const char *description = ggml_backend_dev_description(device);
    size_t free, total, expected_free, expected_total;
    char text[8];

    check(ggml_backend_cuda_buffer_type(0) ==
          ggml_backend_dev_buffer_type(device));
    check(ggml_backend_cuda_host_buffer_type() ==
          ggml_backend_dev_host_buffer_type(device));
    ggml_backend_cuda_get_device_description(0, text, sizeof(text));
    check(strncmp(text, description, sizeof(text) - 1) == 0);
    check(strlen(text) < sizeof(text) && text[0] != '\0');
    ggml_backend_cuda_get_device_memory(0, &free, &total);
    ggml_backend_dev_memory(device, &expected_free, &expected_total);
    check(total > 0 && free == expected_free && total == expected_total);
}

static void
ask_cuda(void)
{
    ggml_backend_dev_t device;

    folder_add(own, "libggml-cuda.so", "cuda");
    folder_add(own, "libggml-other.so", "good");
    check(ggml_backend_cuda_get_device_count() == 1);
    /* Nothing else was loaded. */
    check(ggml_backend_reg_count() == 2);
    device = ggml_backend_dev_by_name("CUDA");
    check(ggml_backend_reg_dev_get(ggml_backend_cuda_reg(), 0) == device);
    ask_backends(device);
    ask_card(device);
    ask_without_card(1);
    ask_without_card(-1);
}

static void
the_first_call_loads_the_module_and_no_other(void **state)
{
    (void)state;
    run_in_child(ask_cuda);
}

static void
ask_functions(void)
{
    const float shares[GGML_CUDA_MAX_DEVICES] = { 1.0f, 2.0f };
    char memory[64];

    folder_add(own, "libggml-cuda.so", "cuda");
    check(ggml_backend_cuda_split_buffer_type(0, shares) ==
          ggml_backend_cuda_buffer_type(0));
    check(ggml_backend_cuda_split_buffer_type(1, shares) == NULL);
    check(!ggml_backend_cuda_register_host_buffer(memory, 1));
    check(ggml_backend_cuda_register_host_buffer(memory, sizeof(memory)));
    check(strcmp(ggml_backend_reg_name(ggml_backend_cuda_reg()), "CUDA") == 0);
    ggml_backend_cuda_unregister_host_buffer(memory);
    check(strcmp(ggml_backend_reg_name(ggml_backend_reg_get(1)),
                 "unregistered") == 0);
}

static void
what_only_the_backend_has_is_asked_for_by_name(void **state)
{
    (void)state;
    run_in_child(ask_functions);
}

static void
ask_in_turn(void)
{
    ggml_backend_reg_t hip, cuda;

    folder_add(own, "libggml-hip.so", "hip");
    hip = ggml_backend_cuda_reg();
    check(hip != NULL && strcmp(ggml_backend_reg_name(hip), "ROCm") == 0);
    check(!ggml_backend_cuda_register_host_buffer(&hip, sizeof(hip)));
    /* The folder is not read again, but one that is registered counts. */
    folder_add(own, "libggml-cuda.so", "cuda");
    check(ggml_backend_cuda_reg() == hip);
    cuda = ggml_backend_load(module_path("cuda"));
    check(cuda != NULL && ggml_backend_cuda_reg() == cuda);
}

static void
cards_of_nvidia_come_before_those_of_amd(void **state)
{
    (void)state;
    run_in_child(ask_in_turn);
}

static void
ask_absent(void)
{
    struct ggmlbackend_refused_module refused;

    folder_add(own, "libggml-cuda.so", "absent");
    check(ggml_backend_cuda_get_device_count() == 0 && !fake_failed());
    check(ggml_backend_cuda_get_device_count() == 0 && !fake_failed());
    check(ggmlbackend_refused_count() == 1);
    check(ggmlbackend_refused_get(0, &refused));
    check(strstr(refused.reason, "there is no card 7") != NULL);
}

static void
a_module_that_is_not_for_this_machine_is_no_failure(void **state)
{
    (void)state;
    run_in_child(ask_absent);
}

static void
ask_nowhere(void)
{
    char description[8];
    size_t size;

    ggml_backend_cuda_get_device_memory(0, NULL, &size);
    check(fake_failed());
    ggml_backend_cuda_get_device_memory(0, &size, NULL);
    check(fake_failed());
    ggml_backend_cuda_get_device_description(0, NULL, 8);
    check(fake_failed());
    ggml_backend_cuda_get_device_description(0, description, 0);
    ggml_backend_cuda_get_device_description(0, NULL, 0);
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
        case_of(without_a_backend_there_are_no_cards),
        case_of(the_first_call_loads_the_module_and_no_other),
        case_of(what_only_the_backend_has_is_asked_for_by_name),
        case_of(cards_of_nvidia_come_before_those_of_amd),
        case_of(a_module_that_is_not_for_this_machine_is_no_failure),
        case_of(answers_need_a_place),
    };

    return cmocka_run_group_tests_name("functions of ggml-cuda.h", tests, NULL,
                                       NULL);
}
