/* SPDX-License-Identifier: MIT */
#include <ggml-backend.h>
#include <ggml-cpu.h>

#include <stdio.h>

int
main(void)
{
    ggml_backend_t cpu;

    ggml_numa_init(GGML_NUMA_STRATEGY_DISTRIBUTE);
    printf("%s\n", ggml_is_numa() ? "threads run on all nodes in turn"
                                  : "there is one node");
    cpu = ggml_backend_cpu_init(); /* its threads follow the strategy */
    if (cpu == NULL)
        return 1;
    ggml_backend_free(cpu);
    return 0;
}
