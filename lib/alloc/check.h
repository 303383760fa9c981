/* SPDX-License-Identifier: MIT */
/*
 * alloc/check.h - do two living tensors overlap?
 */
#ifndef GB_ALLOC_CHECK_H
#define GB_ALLOC_CHECK_H

#include "ggml.h"

/*
 * Is every tensor of GRAPH that lies in a compute buffer safe there until its
 * last reader has run?  What no node reads, what is flagged OUTPUT, and what
 * such a view looks at has to stay to the end.  A result may lie exactly where
 * a source of the same layout lies that nobody reads later.
 *
 * For tests and builds with --enable-debug: it compares every tensor with all
 * that live at the same time.  With the reason logged, GGML_STATUS_FAILED when
 * two overlap and GGML_STATUS_ALLOC_FAILED without memory to find out.
 */
enum ggml_status gb_alloc_check(const struct ggml_cgraph *graph);

#endif
