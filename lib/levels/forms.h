/* SPDX-License-Identifier: MIT */
/*
 * levels/forms.h - which of today's nodes mean the same at an older level.
 *
 * Backends of an older level say what they support by the operation's name and
 * a few types, and compute what the name meant then.  So the adapters ask here
 * first, and only then the backend.
 */
#ifndef GB_LEVELS_FORMS_H
#define GB_LEVELS_FORMS_H

#include "ggml.h"

/*
 * Could a core of that level have made the node OP, with this meaning?  Any
 * contents of OP and its sources are answered; sources may be NULL.  Any
 * thread.
 *
 * At 2023 the sources of a few may have stood in another order: those are of
 * 2023 as gb_form_to_2023 makes them.
 */
bool gb_form_is_of_2023(const struct ggml_tensor *op);
bool gb_form_is_of_2024(const struct ggml_tensor *op);

/* Did OP's sources stand in another order in 2023? */
bool gb_form_is_reordered(const struct ggml_tensor *op);

/*
 * Put the sources of OP, a copy of a node, into the order of 2023, if it was
 * another one.
 */
void gb_form_to_2023(struct ggml_tensor *op);

#endif
