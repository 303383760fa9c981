/* SPDX-License-Identifier: MIT */
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <stdio.h>

/* Is the backend of the kind whose functions this program calls? */
static bool
is_of_kind(ggml_backend_t backend, ggml_guid_t kind)
{
    return ggml_guid_matches(ggml_backend_guid(backend), kind);
}

int
main(void)
{
    static ggml_guid mine = { 'm', 'y', ' ', 'b', 'a', 'c', 'k', 'e',
                              'n', 'd', 0,   0,   0,   0,   0,   1 };
    ggml_backend_t cpu = ggml_backend_cpu_init();
    bool is_mine, is_itself;

    if (cpu == NULL)
        return 1;
    is_mine = is_of_kind(cpu, &mine);
    is_itself = is_of_kind(cpu, ggml_backend_guid(cpu));
    printf("mine: %d, its own: %d\n", is_mine, is_itself);
    ggml_backend_free(cpu);
    return !is_mine && is_itself ? 0 : 1;
}
