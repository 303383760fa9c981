/* SPDX-License-Identifier: MIT */
/*
 * common/progress.h - a progress bar on stderr.
 *
 * Nothing is shown unless stderr is a terminal and the work takes longer than
 * a third of a second.
 */
#ifndef TOOLS_COMMON_PROGRESS_H
#define TOOLS_COMMON_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *label; /* kept */
    uint64_t total;
    int64_t began_us;
    int64_t shown_us; /* when the bar was drawn last */
    bool is_terminal;
    bool is_shown;
};

/* Work of TOTAL steps (bytes, tensors) begins; LABEL says what it is. */
void progress_begin(struct progress *bar, const char *label, uint64_t total);

/* DONE of the steps are done. */
void progress_update(struct progress *bar, uint64_t done);

/* Wipe the bar, if there is one. */
void progress_end(struct progress *bar);

#endif
