/* SPDX-License-Identifier: MIT */
#include <ggmlbackend.h>

#include <stdio.h>

int
main(void)
{
    printf("compiled with %d.%d.%d, running with %s\n",
           GGMLBACKEND_VERSION_MAJOR, GGMLBACKEND_VERSION_MINOR,
           GGMLBACKEND_VERSION_PATCH, ggmlbackend_version());
    if (ggmlbackend_api_level() == GGML_API_LEVEL)
        return 0;
    fprintf(stderr, "the library serves level %d, not %d\n",
            ggmlbackend_api_level(), GGML_API_LEVEL);
    return 1;
}
