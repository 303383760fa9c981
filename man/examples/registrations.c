/* SPDX-License-Identifier: MIT */
#include <ggml-backend.h>

#include <stdio.h>

static void
print_features(ggml_backend_reg_t reg)
{
    void *address = ggml_backend_reg_get_proc_address(
        reg, "ggml_backend_get_features");
    ggml_backend_get_features_t get_features =
        (ggml_backend_get_features_t)address;
    const struct ggml_backend_feature *f;

    printf("%s, %zu devices:", ggml_backend_reg_name(reg),
           ggml_backend_reg_dev_count(reg));
    f = get_features != NULL ? get_features(reg) : NULL;
    for (; f != NULL && f->name != NULL; f++)
        printf(" %s=%s", f->name, f->value);
    printf("\n");
}

/* Not every backend has threads to set. */
static void
set_n_threads(ggml_backend_t backend, int n_threads)
{
    ggml_backend_reg_t reg =
        ggml_backend_dev_backend_reg(ggml_backend_get_device(backend));
    void *address = ggml_backend_reg_get_proc_address(
        reg, "ggml_backend_set_n_threads");
    ggml_backend_set_n_threads_t set =
        (ggml_backend_set_n_threads_t)address;

    if (set != NULL)
        set(backend, n_threads);
}

int
main(void)
{
    ggml_backend_t backend;

    ggml_backend_load_all();
    for (size_t i = 0; i < ggml_backend_reg_count(); i++)
        print_features(ggml_backend_reg_get(i));

    backend = ggml_backend_init_best();
    if (backend == NULL)
        return 1;
    set_n_threads(backend, 2);
    ggml_backend_free(backend);
    return ggml_backend_reg_by_name("CPU") != NULL ? 0 : 1;
}
