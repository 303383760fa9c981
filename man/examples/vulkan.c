/* SPDX-License-Identifier: MIT */
#include <ggml-vulkan.h>

#include <stdio.h>

int
main(void)
{
    const int n = ggml_backend_vk_get_device_count();
    ggml_backend_t backend;

    for (int i = 0; i < n; i++) {
        char model[128];
        size_t free, total;

        ggml_backend_vk_get_device_description(i, model, sizeof(model));
        ggml_backend_vk_get_device_memory(i, &free, &total);
        printf("%s%d: %s, %zu of %zu MiB free\n", GGML_VK_NAME, i, model,
               free >> 20, total >> 20);
    }
    if (n == 0) {
        puts("no device, so the CPU has to do");
        return 0;
    }
    backend = ggml_backend_vk_init(0);
    if (backend == NULL)
        return 1;
    printf("computing on %s\n", ggml_backend_name(backend));
    ggml_backend_free(backend);
    return 0;
}
