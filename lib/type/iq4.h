/* SPDX-License-Identifier: MIT */
/*
 * type/iq4.h - the sixteen values of iq4_nl and iq4_xs.
 */
#ifndef GB_TYPE_IQ4_H
#define GB_TYPE_IQ4_H

#include <stdint.h>

/* Ascending; denser about zero, as weights are. */
extern const int8_t gb_iq4_values[16];

#endif
