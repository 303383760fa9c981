/* SPDX-License-Identifier: MIT */
/*
 * common/progress.c - a progress bar on stderr.
 */
#include "tools/common/progress.h"

#include "ggml.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BAR_WIDTH      40
#define FIRST_SHOWN_US 300000
#define REDRAW_US      100000

void
progress_begin(struct progress *bar, const char *label, uint64_t total)
{
    memset(bar, 0, sizeof(*bar));
    bar->label = label;
    bar->total = total;
    bar->is_terminal = isatty(STDERR_FILENO) == 1;
    bar->began_us = ggml_time_us();
}

void
progress_update(struct progress *bar, uint64_t done)
{
    static const char full[] = "########################################";
    int64_t now;
    double part;
    int filled;

    _Static_assert(sizeof(full) == BAR_WIDTH + 1, "the bar's full width");
    if (!bar->is_terminal || bar->total == 0)
        return;
    now = ggml_time_us();
    if (now - bar->began_us < FIRST_SHOWN_US ||
        now - bar->shown_us < REDRAW_US)
        return;
    part = done >= bar->total ? 1.0 : (double)done / (double)bar->total;
    filled = (int)(part * BAR_WIDTH);
    fprintf(stderr, "\r%s [%-*.*s] %3d%%", bar->label, BAR_WIDTH, filled, full,
            (int)(part * 100));
    bar->shown_us = now;
    bar->is_shown = true;
}

void
progress_end(struct progress *bar)
{
    if (bar->is_shown)
        fputs("\r\033[K", stderr);
    bar->is_shown = false;
}
