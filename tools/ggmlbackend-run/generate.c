/* SPDX-License-Identifier: MIT */
/*
 * run/generate.c - continuing a prompt token by token.
 */
#include "tools/ggmlbackend-run/generate.h"

#include "lib/base/utf8.h"
#include "tools/common/text.h"
#include "tools/common/tool.h"
#include "tools/ggmlbackend-run/interrupt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double
seconds_since(int64_t began_us)
{
    return (double)(ggml_time_us() - began_us) * 1e-6;
}

static bool
compute_prompt(struct answer *a, struct engine *e, const struct ids *prompt)
{
    const int64_t began = ggml_time_us(), n_past = e->n_past;
    bool is_done;

    a->logits = new_zeroed((size_t)e->model->n_vocab, sizeof(*a->logits));
    if (a->logits == NULL)
        return false;
    is_done = engine_append_all(e, prompt->at + n_past,
                                (int64_t)prompt->n - n_past) &&
        engine_logits(e, 0, 1, a->logits);
    a->n_prompt = (size_t)(e->n_past - n_past);
    a->prompt_seconds = seconds_since(began);
    return is_done;
}

/* What failed was interrupted: the answer is what there is. */
static bool
end_by_interrupt(struct answer *a)
{
    if (interrupt_is_noted())
        a->stop = "interrupt";
    return interrupt_is_noted();
}

/* Bytes at the end of TEXT that are not yet a character, and may become one. */
static size_t
unfinished(const struct bytes *text)
{
    for (size_t n = 1; n <= 3 && n <= text->n; n++) {
        const char *at = text->at + text->n - n;

        if ((unsigned char)*at >= 0xc0)
            return gb_utf8_length(at, n) == 0 ? n : 0;
        if ((unsigned char)*at < 0x80)
            break;
    }
    return 0;
}

/*
 * Write what was not written yet.  A terminal takes some of what a model may say
 * as commands, so it gets whole characters, quoted; others get the bytes.  False if
 * they do not arrive.
 */
static bool
stream(struct answer *a, bool is_last)
{
    const bool is_terminal = isatty(STDOUT_FILENO) == 1;
    const size_t held = is_terminal && !is_last ? unfinished(&a->text) : 0;
    const size_t end = a->text.n - held, begin = a->n_written;

    if (end <= begin)
        return true;
    if (is_terminal)
        text_put(stdout, a->text.at + begin, end - begin, "\n\t");
    else
        fwrite(a->text.at + begin, 1, end - begin, stdout);
    a->n_written = end;
    tool_set_in_line(a->text.at[end - 1] != '\n');
    return tool_flush();
}

/* Take ID into the answer. */
static bool
add(struct answer *a, struct tokenizer *t, int32_t id, bool is_streamed)
{
    if (!ids_push(&a->ids, id) || !tokenizer_decode(t, id, &a->text))
        return false;
    return !is_streamed || stream(a, false);
}

/* Pick tokens by their logits, for which there is ROOM. */
static bool
continue_prompt(struct answer *a, struct engine *e, struct tokenizer *t,
                struct sampler *s, float *room, int64_t n_predict,
                bool is_streamed)
{
    const float *logits = a->logits;

    a->stop = "length";
    while (n_predict < 0 || (int64_t)a->ids.n < n_predict) {
        int32_t id;

        if (!sampler_pick(s, logits, &id))
            return false;
        if (vocab_is_end(tokenizer_vocab(t), id)) {
            a->stop = "end";
            break;
        }
        if (!add(a, t, id, is_streamed))
            return false;
        if (n_predict >= 0 && (int64_t)a->ids.n == n_predict)
            break;
        if (e->n_past == e->n_ctx) {
            a->stop = "context";
            break;
        }
        logits = engine_append(e, &id, 1, 1) ? engine_last_logits(e, room)
                                             : NULL;
        if (logits == NULL)
            return end_by_interrupt(a);
        a->n_computed++;
    }
    return true;
}

bool
generate(struct answer *a, struct engine *e, struct tokenizer *t,
         struct sampler *s, const struct ids *prompt, int64_t n_predict,
         bool is_streamed)
{
    float *room;
    int64_t began;
    bool is_done;

    memset(a, 0, sizeof(*a));
    if (!compute_prompt(a, e, prompt)) {
        free(a->logits);
        a->logits = NULL;
        return end_by_interrupt(a);
    }
    room = new_zeroed((size_t)e->model->n_vocab, sizeof(*room));
    if (room == NULL)
        return false;
    began = ggml_time_us();
    is_done = continue_prompt(a, e, t, s, room, n_predict, is_streamed);
    if (is_streamed)
        is_done = stream(a, true) && is_done;
    a->seconds = seconds_since(began);
    free(room);
    return is_done;
}

void
answer_clear(struct answer *a)
{
    ids_clear(&a->ids);
    bytes_clear(&a->text);
    free(a->logits);
    memset(a, 0, sizeof(*a));
}
