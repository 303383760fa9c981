/* SPDX-License-Identifier: MIT */
/*
 * type/iq4.h - the sixteen values of iq4_nl and iq4_xs.
 */
#ifndef GB_TYPE_IQ4_H
#define GB_TYPE_IQ4_H

#include <stdint.h>

/* Ascending; denser about zero, as weights are.  V of each. */
#define GB_IQ4_VALUES(V)                                                 \
    V(-127), V(-104), V(-83), V(-65), V(-49), V(-35), V(-22), V(-10),    \
        V(1), V(13), V(25), V(38), V(53), V(69), V(89), V(113)

extern const int8_t gb_iq4_values[16];

#endif
