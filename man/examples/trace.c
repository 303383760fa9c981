/* SPDX-License-Identifier: MIT */
#include <ggmlbackend.h>

static double
compute(int n)
{
    double sum = 0.0;

    for (int i = 1; i <= n; i++)
        sum += 1.0 / i;
    return sum;
}

static double
compute_traced(int n)
{
    const int track = ggmlbackend_trace_track("Plain0");
    const int64_t start = track != 0 ? ggmlbackend_trace_now() : 0;
    const double sum = compute(n);

    if (track != 0)
        ggmlbackend_trace_span(track, "sum", start,
                               ggmlbackend_trace_now() - start);
    return sum;
}

int
main(void)
{
    const double sum = compute_traced(1000);

    ggmlbackend_trace_flush();
    return sum > 7.0 && sum < 8.0 ? 0 : 1;
}
