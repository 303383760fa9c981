/* SPDX-License-Identifier: MIT */
#include <ggml.h>
#include <stdio.h>

/* Counts warnings and errors, and shows them as this program's own. */
static void
on_message(enum ggml_log_level level, const char *text, void *data)
{
    int *n_problems = data;

    if (level != GGML_LOG_LEVEL_WARN && level != GGML_LOG_LEVEL_ERROR)
        return;
    ++*n_problems;
    fprintf(stderr, "my program: %s", text);
}

int
main(void)
{
    int n_problems = 0;

    ggml_log_set(on_message, &n_problems);
    ggml_row_size(GGML_TYPE_Q4_0, 100); /* no whole blocks: is logged */
    ggml_log_set(NULL, NULL);
    printf("%d message\n", n_problems);
    return n_problems == 1 ? 0 : 1;
}
