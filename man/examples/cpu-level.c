/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggmlbackend.h>

#include <stdio.h>
#include <string.h>

int
main(void)
{
    const char *used, *level;
    bool is_listed = false;

    ggml_cpu_init();
    used = ggmlbackend_cpu_level();
    printf("CPU kernels: %s (%s)\n", used, ggmlbackend_cpu_level_reason());
    for (size_t i = 0; (level = ggmlbackend_cpu_level_at(i)) != NULL;
         i++) {
        printf("  this machine can run %s\n", level);
        is_listed = is_listed || strcmp(level, used) == 0;
    }
    return is_listed ? 0 : 1;
}
