/* SPDX-License-Identifier: MIT */
#include <ggml-backend.h>
#include <ggmlbackend.h>
#include <gguf.h>

#include <stdio.h>
#include <string.h>

static void
count(const char *reason, void *user)
{
    printf("broken precondition: %s\n", reason);
    ++*(int *)user; /* a good place for a breakpoint */
}

int
main(void)
{
    const struct gguf_init_params params = { .no_alloc = true };
    int n_broken = 0;
    bool is_right;

    /* What a file or a device brings about. */
    if (gguf_init_from_file("no-such-file.gguf", params) != NULL)
        return 1;
    printf("failure: %s\n", ggmlbackend_last_failure());
    is_right =
        strstr(ggmlbackend_last_failure(), "no-such-file.gguf") != NULL;

    /* What the program does wrong: a call that returns nothing. */
    ggmlbackend_set_precondition_hook(count, &n_broken);
    ggmlbackend_clear_failure();
    ggml_backend_synchronize(NULL);
    if (ggmlbackend_last_failure()[0] != '\0')
        printf("failure: %s\n", ggmlbackend_last_failure());
    ggmlbackend_set_precondition_hook(NULL, NULL);
    return is_right && n_broken == 1 ? 0 : 1;
}
