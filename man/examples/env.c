/* SPDX-License-Identifier: MIT */
#include <ggmlbackend.h>

#include <stdio.h>

int
main(void)
{
    struct ggmlbackend_env_entry entry;
    size_t n = 0;

    for (; ggmlbackend_env_get(n, &entry); n++)
        if (entry.value != NULL)
            printf("%s=%s\n  %s\n", entry.name, entry.value, entry.help);
    printf("%zu variables are known\n", n);
    return n > 0 && n == ggmlbackend_env_count() ? 0 : 1;
}
