/* SPDX-License-Identifier: MIT */
/*
 * tests/sim/module.c - the simulated device as a module: what it exports, and
 * what the environment sets.
 */
#include "config.h"

#include "backends/sim/sim.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const char module[] = ".libs/libggml-sim.so";

/* There is none in a build without shared libraries. */
static void *
open_module(void)
{
    void *handle = dlopen(module, RTLD_NOW | RTLD_LOCAL);

    if (handle == NULL) {
        print_message("no module: %s\n", dlerror());
        skip();
    }
    return handle;
}

/* A function by its name; data and functions have addresses of one size. */
static void *
function(void *handle, const char *name)
{
    void *address = dlsym(handle, name);

    if (address == NULL)
        fail_msg("%s is not exported", name);
    return address;
}

static void
the_module_exports_what_modules_export(void **state)
{
    void *handle = open_module();
    ggml_backend_score_t score;
    ggml_backend_init_t init;
    ggml_backend_reg_t reg;
    gb_sim_count_fn count;
    struct gb_sim_counters counters;

    (void)state;
    *(void **)&score = function(handle, "ggml_backend_score");
    *(void **)&init = function(handle, "ggml_backend_init");
    assert_null(dlsym(handle, "ggml_backend_sim_reg"));
    assert_null(dlsym(handle, "gb_sim_count"));
    assert_true(score() > 0);

    setenv("GGMLBACKEND_SIM", "devices=two", 1);
    assert_null(init());
    setenv("GGMLBACKEND_SIM", "devices=3,memory=1M", 1);
    reg = init();
    assert_non_null(reg);
    assert_int_equal(reg->api_version, GGML_BACKEND_API_VERSION);
    assert_int_equal(ggml_backend_reg_dev_count(reg), 3);
    *(void **)&count =
        ggml_backend_reg_get_proc_address(reg, "ggml_backend_sim_count");
    assert_non_null(count);

    for (size_t i = 0; i < 3; i++) {
        ggml_backend_t backend =
            ggml_backend_dev_init(ggml_backend_reg_dev_get(reg, i), NULL);

        assert_non_null(backend);
        assert_null(ggml_backend_alloc_buffer(backend, (1 << 20) + 1));
        ggml_backend_free(backend);
    }
    count(&counters);
    assert_int_equal(counters.alloc, 3);
    assert_int_equal(counters.backends, 0);
    dlclose(handle);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_module_exports_what_modules_export),
    };

    return cmocka_run_group_tests_name("simulated module", tests, NULL, NULL);
}
