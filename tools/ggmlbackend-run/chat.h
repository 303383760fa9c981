/* SPDX-License-Identifier: MIT */
/*
 * run/chat.h - a user's message in the form a model was trained with.
 */
#ifndef TOOLS_RUN_CHAT_H
#define TOOLS_RUN_CHAT_H

#include "tools/ggmlbackend-run/tokenizer.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Append the ids of MESSAGE, framed so that the model's answer comes next.  The
 * form is recognised from the file's template, or else from its control tokens.
 * False after a message.
 */
bool chat_encode(struct tokenizer *t, const struct gguf_context *gguf,
                 const char *message, size_t size, struct ids *ids);

#endif
