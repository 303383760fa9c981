/* SPDX-License-Identifier: MIT */
/*
 * run/chat-form.h - the forms of conversations that models were trained with.
 *
 * A file's chat template is a Jinja program.  It is not run: templates that
 * models are published with are known by a hash of their text, and what each of
 * them does is a form, a row of strings.
 */
#ifndef TOOLS_RUN_CHAT_FORM_H
#define TOOLS_RUN_CHAT_FORM_H

#include "tools/ggmlbackend-run/tokenizer.h"
#include "tools/model/array.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the system message stands. */
enum chat_place {
    CHAT_OWN_TURN, /* in front of all turns */
    CHAT_IN_FIRST, /* in front of the first message */
    CHAT_IN_LAST,  /* in front of the last message */
    CHAT_NOWHERE,  /* the template refuses one */
};

/* Whose texts lose the blanks around them. */
enum {
    CHAT_TRIM_SYSTEM = 1,
    CHAT_TRIM_USER = 2,
    CHAT_TRIM_ANSWER = 4,
    CHAT_TRIM_TURN = 8, /* the user's with the system message in front of it */
};

/* What of an earlier answer is left out: all up to its last </think>. */
enum chat_thought {
    CHAT_THOUGHT_KEPT,
    CHAT_THOUGHT_CUT,
    CHAT_THOUGHT_CUT_LINES, /* and the line ends after it */
};

/* Strings may have the words below in them. */
struct chat_form {
    const char *name;
    const char *begin;  /* NULL for nothing */
    const char *system; /* where none is given; NULL for none */
    const char *system_before, *system_after;
    const char *user_before, *user_after;
    const char *answer_before, *answer_after;
    const char *prompt; /* after the last message: the answer comes next */
    enum chat_place place;
    enum chat_thought thought;
    unsigned trims;
};

/* Words that forms leave open; in their strings each is the character of its
 * number. */
enum chat_word { CHAT_BOS = 1, CHAT_EOS, CHAT_TODAY, CHAT_N_WORDS };

struct chat_words {
    const char *text[CHAT_N_WORDS];
    size_t size[CHAT_N_WORDS];
};

enum chat_role { CHAT_SYSTEM, CHAT_USER, CHAT_ANSWER };

struct chat_message {
    enum chat_role role;
    const char *text;
    size_t size;
};

/* A conversation as a model reads it. */
struct chat_text {
    struct bytes text;
    struct range *plain; /* messages in it: their words are no control tokens */
    size_t n_plain;
};

/*
 * The hash of TEMPLATE: of the text with line ends as they are in C, a \n in its
 * strings as the line end it means, one blank for several inside its tags
 * and none at their ends, and without a line end at its end.  Nothing of that
 * changes what a template does.  False, after a message, without memory.
 */
bool chat_template_hash(const char *text, size_t size, uint64_t *hash);

/* The form of the template with that hash, or that NAME has; NULL for none. */
const struct chat_form *chat_form_by_hash(uint64_t hash);
const struct chat_form *chat_form_by_name(const char *name);

/*
 * Write the N MESSAGES into OUT, which is empty: a system message or none, then
 * the user's and answers in turns, the last one the user's.  False, after a
 * message, without memory; chat_text_clear either way.
 */
bool chat_form_write(const struct chat_form *form,
                     const struct chat_words *words,
                     const struct chat_message *messages, size_t n,
                     struct chat_text *out);
void chat_text_clear(struct chat_text *text);

#endif
