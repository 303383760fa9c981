/* SPDX-License-Identifier: MIT */
#include <ggml-backend.h>
#include <ggmlbackend.h>

#include <stdio.h>

int
main(void)
{
    struct ggmlbackend_refused_module refused;

    ggml_backend_load_all();
    for (size_t i = 0; i < ggml_backend_reg_count(); i++) {
        ggml_backend_reg_t reg = ggml_backend_reg_get(i);
        const char *path = ggmlbackend_module_path(reg);

        printf("%s: %s\n", ggml_backend_reg_name(reg),
               path != NULL ? path : "part of the library or the program");
    }

    /* A module that is not there is refused, and that is told. */
    if (ggml_backend_load("./no-such-module.so") != NULL)
        return 1;
    for (size_t i = 0; ggmlbackend_refused_get(i, &refused); i++)
        printf("refused %s: %s\n", refused.path, refused.reason);
    return ggmlbackend_refused_count() > 0 ? 0 : 1;
}
