/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/counts.c - counts in a file when the process ends, for programs that
 * know nothing of the shim.
 */
#include "tests/vulkan/shim/control.h"
#include "tests/vulkan/shim/settings.h"
#include "tests/vulkan/shim/shim.h"

#include <inttypes.h>
#include <stdio.h>

__attribute__((destructor)) static void
write_counts(void)
{
    const char *path = shim_setting("COUNTS");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;
    char text[512];

    if (file == NULL)
        return;
    shim_describe(text, sizeof(text));
    fprintf(file, "live %" PRIu64 ": %s\n", shim_live(), text);
    fprintf(file, "bytes %" PRIu64 "\n", shim_bytes());
    fprintf(file, "reports %" PRIu64 "\n", shim_reports());
    fprintf(file, "failures %" PRIu64 "\n", shim_failures());
    fprintf(file, "any %" PRIu64 "\n", shim_calls("any"));
    fprintf(file, "tell %" PRIu64 "\n", shim_calls("tell"));
    for (int i = 0; i < SHIM_CALLS; i++)
        fprintf(file, "%s %" PRIu64 "\n", shim_rows[i].name,
                shim_calls(shim_rows[i].name));
    fclose(file);
}
