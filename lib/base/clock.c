/* SPDX-License-Identifier: MIT */
/*
 * base/clock.c - milli- and microseconds that never go back, and cycles.
 */
#include "config.h"

#include "ggml.h"

#include <time.h>

void
ggml_time_init(void)
{
    /* The system's monotonic clock needs no preparation. */
}

int64_t
ggml_time_us(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        return 0;
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t
ggml_time_ms(void)
{
    return ggml_time_us() / 1000;
}

int64_t
ggml_cycles(void)
{
    return (int64_t)clock();
}

int64_t
ggml_cycles_per_ms(void)
{
    return (int64_t)CLOCKS_PER_SEC / 1000;
}
