/* SPDX-License-Identifier: MIT */
/*
 * loader/not-here.h - why a backend gave no registration.
 */
#ifndef GB_LOADER_NOT_HERE_H
#define GB_LOADER_NOT_HERE_H

/* Before a backend is asked for its registration. */
void gb_not_here_clear(void);

/*
 * What the backend said since then on this thread, until it is cleared; what
 * holds of one that said nothing otherwise.
 */
const char *gb_not_here_reason(void);

#endif
