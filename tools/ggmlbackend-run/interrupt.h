/* SPDX-License-Identifier: MIT */
/*
 * run/interrupt.h - Ctrl-C ends what is computed, not the program.
 *
 * A program that is interrupted (SIGINT) keeps what it has made and reports it.
 * Who does not want to wait for that interrupts it once more: the second time it
 * ends at once, as without this.
 */
#ifndef TOOLS_RUN_INTERRUPT_H
#define TOOLS_RUN_INTERRUPT_H

#include "tools/model/engine.h"

#include <stdbool.h>

/*
 * From now on the first interrupt is noted, the second ends the program.  Where
 * interrupts were ignored from the start they stay so.
 */
void interrupt_arm(void);

/*
 * Wait until standard input has a line, or its end: true.  False if an interrupt
 * comes first, since interrupt_arm, however early.
 */
bool interrupt_wait_for_line(void);

/* From now on an interrupt ends the program. */
void interrupt_disarm(void);

/* Was there one since interrupt_arm? */
bool interrupt_is_noted(void);

/* Let ENGINE stop where an interrupt is noted: its calls fail, without a
 * message.  The CPU stops between two operations, others between two graphs. */
void interrupt_watch(struct engine *engine);

/* End the program as an interrupt does, so that a shell sees it. */
void interrupt_end(void);

#endif
