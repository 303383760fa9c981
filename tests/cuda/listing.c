/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/listing.c - which devices there are.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>

/* ---- free memory ---- */

static size_t
free_memory(void)
{
    size_t free, total;

    ggml_backend_dev_memory(cuda_device("CUDA0"), &free, &total);
    CHECK(total == (size_t)8 << 30);
    return free;
}

/* 1 MiB that is not ours: in a context of the program's own. */
static void
take_by_other_means(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    int (*retain)(void **, int), (*push)(void *), (*alloc)(uint64_t *, size_t);
    int (*pop)(void **);
    uint64_t address;
    void *context;

    CHECK(driver != NULL);
    *(void **)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
    *(void **)&push = dlsym(driver, "cuCtxPushCurrent_v2");
    *(void **)&pop = dlsym(driver, "cuCtxPopCurrent_v2");
    *(void **)&alloc = dlsym(driver, "cuMemAlloc_v2");
    CHECK(retain(&context, 0) == 0 && push(context) == 0);
    CHECK(alloc(&address, 1 << 20) == 0 && pop(&context) == 0);
}

static bool has_nvml;

static void
ask_for_free_memory(void)
{
    CHECK(cuda_load() != NULL);
    if (has_nvml)
        CHECK(dlopen(gb_built("tests/gpu-emulator/lanes32/.libs/"
                              "libnvidia-ml.so.1"), RTLD_NOW) != NULL);
    take_by_other_means();
    CHECK(free_memory() == ((size_t)8 << 30) - (has_nvml ? 1 << 20 : 0));
    CHECK(emulator.calls("cuMemGetInfo_v2") == 0);
}

static void
free_memory_is_the_management_librarys_or_all(void **state)
{
    (void)state;
    has_nvml = true;
    cuda_case(ask_for_free_memory, "", NULL);
    if (dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL) != NULL) {
        print_message("# this machine has the library\n");
        skip();
    }
    has_nvml = false;
    cuda_case(ask_for_free_memory, "", NULL);
}

/* ---- listed ---- */

static void
list_two_cards(void)
{
    ggml_backend_reg_t reg = cuda_load();
    struct ggml_backend_dev_props props;
    ggml_backend_dev_t dev;

    CHECK(reg != NULL);
    CHECK(strcmp(ggml_backend_reg_name(reg), "CUDA") == 0);
    CHECK(ggml_backend_reg_dev_count(reg) == 2);
    dev = cuda_device("CUDA1");
    ggml_backend_dev_get_props(dev, &props);
    CHECK(strcmp(props.description, "Second (integrated)") == 0);
    CHECK(props.type == GGML_BACKEND_DEVICE_TYPE_GPU);
    CHECK(props.memory_total == 512 << 20);
    CHECK(props.memory_free == 512 << 20);
    CHECK(props.caps.async && props.caps.events && props.caps.host_buffer);
    CHECK(props.caps.buffer_from_host_ptr);
    CHECK(strcmp(cuda_property(dev, "variant"), "mma") == 0);
    CHECK(strcmp(cuda_property(cuda_device("CUDA0"), "variant"), "wgmma") == 0);
    CHECK(strcmp(cuda_property(dev, "image"), "75") == 0);
    CHECK(cuda_property(dev, "BLAS") == NULL);
    CHECK(cuda_property(dev, "PCI") != NULL && cuda_property(dev, "UUID") != NULL);
    CHECK(strcmp(cuda_property(dev, "PCI"),
                 cuda_property(cuda_device("CUDA0"), "PCI")) != 0);
    ggml_backend_dev_get_props(cuda_device("CUDA0"), &props);
    CHECK(!props.caps.buffer_from_host_ptr);

    /* Nothing was taken of a card for all that. */
    CHECK(emulator.calls("cuDevicePrimaryCtxRetain") == 0);
    CHECK(emulator.live() == 0);
}

static void
listing_takes_no_context(void **state)
{
    (void)state;
    cuda_case(list_two_cards,
              "EMU_DEVICES=2 EMU_ARCH=90,75 EMU_NAME=First,Second "
              "EMU_INTEGRATED=0,1 EMU_MEMORY=1073741824,536870912", NULL);
}

static void
one_card_is_left_out(void)
{
    ggml_backend_reg_t reg = cuda_load();

    CHECK(ggml_backend_reg_dev_count(reg) == 1);
    CHECK(strcmp(cuda_property(cuda_device("CUDA0"), "compute"), "8.0") == 0);
}

static void
a_card_without_an_image_is_left_out_with_the_reason(void **state)
{
    const char *errors;

    (void)state;
    cuda_case(one_card_is_left_out, "EMU_DEVICES=2 EMU_ARCH=52,80", &errors);
    assert_non_null(strstr(errors, "none of the images"));
    assert_non_null(strstr(errors, "compute 5.2"));
}

static void
sixteen_are_listed(void)
{
    CHECK(ggml_backend_reg_dev_count(cuda_load()) == 16);
}

static void
more_cards_than_the_interface_has_are_left_out(void **state)
{
    const char *errors;

    (void)state;
    cuda_case(sixteen_are_listed, "EMU_DEVICES=18", &errors);
    assert_non_null(strstr(errors, "18 cards"));
}

/* ---- the environment ---- */

static void
one_card_is_two_devices(void)
{
    ggml_backend_reg_t reg = cuda_load();

    CHECK(ggml_backend_reg_dev_count(reg) == 3);
    CHECK(strcmp(cuda_property(cuda_device("CUDA0"), "PCI"),
                 cuda_property(cuda_device("CUDA1"), "PCI")) == 0);
    CHECK(strcmp(cuda_property(cuda_device("CUDA0"), "PCI"),
                 cuda_property(cuda_device("CUDA2"), "PCI")) != 0);
}

static void
a_list_of_cards_may_repeat_one(void **state)
{
    (void)state;
    cuda_case(one_card_is_two_devices,
              "EMU_DEVICES=2 GGMLBACKEND_GPU_DEVICES=1,1,0", NULL);
}

static void
list_with_the_blas(void)
{
    CHECK(cuda_load() != NULL);
    CHECK(strcmp(cuda_property(cuda_device("CUDA0"), "BLAS"), "auto") == 0);
}

static void
a_card_tells_whether_the_blas_may_be_used(void **state)
{
    (void)state;
    cuda_case(list_with_the_blas, "GGMLBACKEND_GPU_BLAS=auto", NULL);
}

static void
settings_are_not_used(void)
{
    ggml_backend_dev_t dev;
    size_t free, total;

    CHECK(ggml_backend_reg_dev_count(cuda_load()) == 2);
    dev = cuda_device("CUDA0");
    ggml_backend_dev_memory(dev, &free, &total);
    CHECK(total == (size_t)8 << 30);
    CHECK(strcmp(cuda_property(dev, "variant"), "wgmma") == 0);
}

static void
nonsense_in_variables_is_told_and_not_used(void **state)
{
    static const char *const settings[] = {
        "GGMLBACKEND_GPU_DEVICES=5", "GGMLBACKEND_GPU_DEVICES=x",
        "GGMLBACKEND_GPU_MEMORY=much", "GGMLBACKEND_GPU_VARIANT=best",
        "GGMLBACKEND_GPU_WAIT=long", "GGMLBACKEND_GPU_BLAS=best",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        char variables[128];
        const char *errors;

        snprintf(variables, sizeof(variables), "EMU_DEVICES=2 %s",
                 settings[i]);
        cuda_case(settings_are_not_used, variables, &errors);
        print_message("# %s", errors);
        if (strstr(errors, "not used") == NULL ||
            strchr(errors, '\n')[1] != '\0')
            fail_msg("%s: not one line: %s", settings[i], errors);
    }
}

static void
zero_is_off(void **state)
{
    const char *errors;

    (void)state;
    cuda_case(settings_are_not_used,
              "EMU_DEVICES=2 GGMLBACKEND_GPU_MEMORY=0 GGMLBACKEND_GPU_WAIT=0 "
              "GGMLBACKEND_GPU_VARIANT=0 GGMLBACKEND_GPU_PEER=0 "
              "GGMLBACKEND_GPU_DEVICES=", &errors);
    assert_string_equal(errors, "");
    cuda_case(settings_are_not_used,
              "EMU_DEVICES=2 GGMLBACKEND_GPU_MEMORY=0g", &errors);
    assert_string_equal(errors, "");
}

static void
memory_is_limited(void)
{
    ggml_backend_buffer_type_t buft;
    ggml_backend_buffer_t buffer;
    size_t free, total;

    CHECK(cuda_load() != NULL);
    buft = ggml_backend_dev_buffer_type(cuda_device("CUDA0"));
    CHECK(ggml_backend_buft_alloc_buffer(buft, (1 << 20) + 1) == NULL);
    buffer = ggml_backend_buft_alloc_buffer(buft, 1 << 19);
    CHECK(buffer != NULL);
    ggml_backend_dev_memory(cuda_device("CUDA0"), &free, &total);
    CHECK(total == 1 << 20 && free == 1 << 19);
    ggml_backend_buffer_free(buffer);
    CHECK(emulator.live() == 0);
}

static void
the_process_takes_no_more_memory_than_it_may(void **state)
{
    const char *errors;

    (void)state;
    cuda_case(memory_is_limited, "GGMLBACKEND_GPU_MEMORY=1M", &errors);
    assert_non_null(strstr(errors, "1048577 bytes are more than is left"));
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_memory_is_the_management_librarys_or_all),
        cmocka_unit_test(listing_takes_no_context),
        cmocka_unit_test(a_card_without_an_image_is_left_out_with_the_reason),
        cmocka_unit_test(more_cards_than_the_interface_has_are_left_out),
        cmocka_unit_test(a_list_of_cards_may_repeat_one),
        cmocka_unit_test(a_card_tells_whether_the_blas_may_be_used),
        cmocka_unit_test(nonsense_in_variables_is_told_and_not_used),
        cmocka_unit_test(zero_is_off),
        cmocka_unit_test(the_process_takes_no_more_memory_than_it_may),
    };

    return cmocka_run_group_tests_name("devices", tests, NULL, NULL);
}
