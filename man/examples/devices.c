/* SPDX-License-Identifier: MIT */
#include <ggml-backend.h>

#include <stdio.h>

static const char *
type_name(enum ggml_backend_dev_type type)
{
    switch (type) {
    case GGML_BACKEND_DEVICE_TYPE_CPU:
        return "CPU";
    case GGML_BACKEND_DEVICE_TYPE_GPU:
        return "GPU";
    case GGML_BACKEND_DEVICE_TYPE_ACCEL:
        return "accelerator";
    }
    return "unknown";
}

int
main(void)
{
    ggml_backend_load_all();
    for (size_t i = 0; i < ggml_backend_dev_count(); i++) {
        struct ggml_backend_dev_props props;

        ggml_backend_dev_get_props(ggml_backend_dev_get(i), &props);
        printf("%s (%s): %s\n", props.name, type_name(props.type),
               props.description);
        if (props.memory_total > 0)
            printf("  %zu of %zu MiB are free\n", props.memory_free >> 20,
                   props.memory_total >> 20);
        printf("  queued work %s, events %s\n",
               props.caps.async ? "yes" : "no",
               props.caps.events ? "yes" : "no");
    }

    /* There is always one. */
    return ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) ==
           ggml_backend_dev_by_name("cpu") ? 0 : 1;
}
