/* SPDX-License-Identifier: MIT */
/*
 * run/chat.h - a file's form of conversations, and their token ids.
 */
#ifndef TOOLS_RUN_CHAT_H
#define TOOLS_RUN_CHAT_H

#include "tools/ggmlbackend-run/chat-form.h"
#include "tools/ggmlbackend-run/tokenizer.h"

#include <stdbool.h>
#include <stddef.h>

struct chat {
    struct tokenizer *tokenizer;
    const struct chat_form *form;
    const char *system; /* NULL for what the form says */
    bool is_special;    /* control tokens in messages are understood */
};

/*
 * Find the form by the template of the file, PATH; where it has none, by its
 * control tokens, with a warning.  False, after a message, for a template that
 * is not known, or one that takes no system message where SYSTEM is one.
 */
bool chat_open(struct chat *chat, struct tokenizer *tokenizer,
               const struct gguf_context *gguf, const char *path,
               const char *system, bool is_special);

/*
 * Append the ids of a conversation: the N MESSAGES, of the user and answers in
 * turns, the last one the user's.  The model's answer comes next.  False after a
 * message.
 */
bool chat_encode(const struct chat *chat, const struct chat_message *messages,
                 size_t n, struct ids *ids);

#endif
