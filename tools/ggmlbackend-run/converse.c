/* SPDX-License-Identifier: MIT */
/*
 * run/converse.c - a conversation on a terminal.
 *
 * Before each answer the whole conversation is written as the model's form says
 * and made into tokens; those that the engine has in front already stay, so
 * mostly the new message alone is computed.  It is not always: some forms trim
 * answers or cut thoughts out of them.
 */
#include "tools/ggmlbackend-run/converse.h"

#include "tools/common/tool.h"
#include "tools/ggmlbackend-run/generate.h"
#include "tools/ggmlbackend-run/interrupt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct conversation {
    const struct chat *chat;
    struct engine *engine;
    struct sampler *sampler;
    int64_t n_predict;
    struct chat_message *messages; /* their texts belong to it */
    size_t n, room;
    struct ids held; /* the engine's positions */
    size_t n_answers, n_computed;
    double seconds;
};

static bool
say(struct conversation *c, enum chat_role role, const char *text, size_t size)
{
    char *copy;

    if (c->n == c->room) {
        const size_t room = c->room == 0 ? 16 : c->room * 2;
        struct chat_message *larger =
            realloc(c->messages, room * sizeof(*larger));

        if (larger == NULL)
            return tool_error("no memory");
        c->messages = larger;
        c->room = room;
    }
    copy = new_zeroed(size + 1, 1);
    if (copy == NULL)
        return false;
    if (size > 0)
        memcpy(copy, text, size);
    c->messages[c->n++] = (struct chat_message){ role, copy, size };
    return true;
}

/* Forget N messages from the one on that is number FIRST. */
static void
forget(struct conversation *c, size_t first, size_t n)
{
    for (size_t i = first; i < first + n; i++)
        free((char *)c->messages[i].text);
    c->n -= n;
    memmove(c->messages + first, c->messages + first + n,
            (c->n - first) * sizeof(*c->messages));
}

/* Positions that a prompt leaves for its answer. */
static size_t
room_for_answer(const struct conversation *c)
{
    const int64_t most = c->engine->n_ctx / 4;

    return (size_t)(c->n_predict >= 0 && c->n_predict < most ? c->n_predict
                                                             : most);
}

/*
 * The ids of the conversation, of as much of it as fits.  *IS_FITTING is false
 * where not even the last message does.
 */
static bool
encode(struct conversation *c, struct ids *ids, bool *is_fitting)
{
    const size_t n_ctx = (size_t)c->engine->n_ctx;
    const size_t most = n_ctx - room_for_answer(c);
    size_t n_forgotten = 0;

    for (;; n_forgotten++) {
        ids->n = 0;
        if (!chat_encode(c->chat, c->messages, c->n, ids))
            return false;
        *is_fitting = ids->n > 0 && ids->n <= n_ctx;
        if (ids->n <= most || c->n < 3)
            break;
        forget(c, 0, 2);
    }
    if (n_forgotten > 0)
        tool_warning("the context is full; %zu of the oldest messages and "
                     "their answers %s forgotten, see -c", n_forgotten,
                     n_forgotten == 1 ? "is" : "are");
    return true;
}

/* Let the engine have what its positions and IDS begin with alike. */
static void
keep_common(struct conversation *c, const struct ids *ids)
{
    size_t n = 0;

    /* The last one is computed for its logits. */
    while (n < c->held.n && n + 1 < ids->n && c->held.at[n] == ids->at[n])
        n++;
    engine_keep(c->engine, (int64_t)n);
    c->held.n = n;
}

/* Note the tokens of the engine: of IDS and ANSWER as many as it has positions. */
static bool
hold(struct conversation *c, const struct ids *ids, const struct ids *answer)
{
    const size_t n = (size_t)c->engine->n_past;

    while (c->held.n < n) {
        const size_t i = c->held.n;
        const int32_t id =
            i < ids->n ? ids->at[i] : answer->at[i - ids->n];

        if (!ids_push(&c->held, id))
            return false;
    }
    return true;
}

static bool
generate_answer(struct conversation *c, const struct ids *ids,
                struct answer *answer)
{
    bool is_done;

    interrupt_arm();
    is_done = generate(answer, c->engine, c->chat->tokenizer, c->sampler, ids,
                       c->n_predict, true);
    interrupt_disarm();
    if (answer->text.n > 0 && answer->text.at[answer->text.n - 1] != '\n') {
        putchar('\n');
        fflush(stdout);
    }
    tool_set_in_line(false);
    return is_done && hold(c, ids, &answer->ids);
}

static void
count_answer(struct conversation *c, const struct answer *answer)
{
    c->n_answers++;
    c->n_computed += answer->n_computed;
    c->seconds += answer->seconds;
    if (strcmp(answer->stop, "length") == 0)
        tool_warning("the answer is cut after %zu tokens, see -n",
                     answer->ids.n);
    else if (strcmp(answer->stop, "context") == 0)
        tool_warning("the answer is cut, since the context is full, see -c");
}

/* Answer the last message. */
static bool
answer_last(struct conversation *c)
{
    struct ids ids = { 0 };
    struct answer answer = { 0 };
    bool is_fitting, is_done = encode(c, &ids, &is_fitting);

    if (is_done && !is_fitting) {
        tool_warning("the message has %zu tokens, the context %lld positions; "
                     "it is left out, see -c", ids.n,
                     (long long)c->engine->n_ctx);
        forget(c, c->n - 1, 1);
    } else if (is_done) {
        keep_common(c, &ids);
        is_done = generate_answer(c, &ids, &answer) &&
            say(c, CHAT_ANSWER, answer.text.at, answer.text.n);
        if (is_done)
            count_answer(c, &answer);
    }
    answer_clear(&answer);
    ids_clear(&ids);
    return is_done;
}

/*
 * The next line of the user into *LINE; the bytes of it, -1 at the end.  An
 * interrupt throws away what was typed; a second one ends the program.
 */
static ssize_t
read_line(char **line, size_t *room)
{
    ssize_t n;

    interrupt_arm();
    fputs("> ", stderr);
    fflush(stderr);
    if (!interrupt_wait_for_line()) {
        fputs("\n(Ctrl-D ends the conversation, Ctrl-C once more the program)\n> ",
              stderr);
        fflush(stderr);
        interrupt_disarm();
    }
    n = getline(line, room, stdin);
    interrupt_disarm();
    return n > 0 && (*line)[n - 1] == '\n' ? n - 1 : n;
}

static void
report(const struct conversation *c)
{
    fprintf(stderr, "\n%zu answer%s", c->n_answers, c->n_answers == 1 ? "" : "s");
    if (c->n_computed > 0 && c->seconds > 0.0)
        fprintf(stderr, ", %.1f tokens/s", (double)c->n_computed / c->seconds);
    fputc('\n', stderr);
}

bool
converse(const struct chat *chat, struct engine *engine,
         struct sampler *sampler, int64_t n_predict)
{
    struct conversation c = { .chat = chat, .engine = engine,
                              .sampler = sampler, .n_predict = n_predict };
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    bool is_done = true;

    fputs("Say something; Ctrl-C ends an answer, Ctrl-D the conversation.\n",
          stderr);
    while (is_done && (size = read_line(&line, &room)) >= 0)
        if (size > 0)
            is_done = say(&c, CHAT_USER, line, (size_t)size) &&
                answer_last(&c);
    if (is_done)
        report(&c);
    forget(&c, 0, c.n);
    free(c.messages);
    free(line);
    ids_clear(&c.held);
    return is_done;
}
