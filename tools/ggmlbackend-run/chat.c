/* SPDX-License-Identifier: MIT */
/*
 * run/chat.c - a file's form of conversations, and their token ids.
 */
#include "tools/ggmlbackend-run/chat.h"

#include "tools/common/tool.h"
#include "tools/model/keys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Forms by a control token that only they have. */
static const struct {
    const char *token;
    const char *form;
} guesses[] = {
    { "<|im_start|>", "ChatML" },
    { "<|start_header_id|>", "Llama 3's" },
    { "<start_of_turn>", "Gemma 3's" },
};

static const struct chat_form *
form_by_tokens(const struct vocab *v)
{
    for (size_t i = 0; i < sizeof(guesses) / sizeof(guesses[0]); i++) {
        const char *token = guesses[i].token;

        if (vocab_find(v, token, strlen(token)) == TOKEN_NONE)
            continue;
        tool_warning("the file has no chat template; the form is %s, for its "
                     "token %s", guesses[i].form, token);
        return chat_form_by_name(guesses[i].form);
    }
    tool_error("the file has no chat template, and no token that tells a form "
               "of conversations; write the whole prompt yourself, without "
               "--chat");
    return NULL;
}

static const struct chat_form *
form_by_template(const char *text, const char *path)
{
    const struct chat_form *form;
    uint64_t hash;

    if (!chat_template_hash(text, strlen(text), &hash))
        return NULL;
    form = chat_form_by_hash(hash);
    if (form == NULL)
        tool_error("the file's chat template (hash %016" PRIx64 ") is not "
                   "known; see it with 'ggmlbackend-gguf show --all %s', "
                   "write the whole prompt as it says, with its control "
                   "tokens, and give it by -p or -f with --special, without "
                   "--chat", hash, path);
    return form;
}

bool
chat_open(struct chat *chat, struct tokenizer *tokenizer,
          const struct gguf_context *gguf, const char *path,
          const char *system, bool is_special)
{
    const struct keys keys = { .gguf = gguf };
    const char *text = NULL;

    chat->tokenizer = tokenizer;
    chat->system = system;
    chat->is_special = is_special;
    if (!keys_string(&keys, "tokenizer.chat_template", KEYS_OPTIONAL, &text))
        return false;
    chat->form = text != NULL ? form_by_template(text, path)
                              : form_by_tokens(tokenizer_vocab(tokenizer));
    if (chat->form == NULL)
        return false;
    if (system != NULL && chat->form->place == CHAT_NOWHERE)
        return tool_error("the file's chat template takes no system message, "
                          "see --system");
    return true;
}

static void
set_word(struct chat_words *words, enum chat_word word, const struct vocab *v,
         int32_t id)
{
    if (id == TOKEN_NONE)
        return;
    words->text[word] = v->tokens[id].text;
    words->size[word] = v->tokens[id].size;
}

/* The day as templates write it, 17 Mar 2025, in any language. */
static void
write_today(char *out, size_t size)
{
    static const char months[][4] = {
        "Jan", "Feb", "Mar", "Apr", "May", "Jun",
        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    };
    const time_t now = time(NULL);
    struct tm day = { .tm_mday = 1 };

    localtime_r(&now, &day);
    snprintf(out, size, "%02d %s %d", day.tm_mday, months[day.tm_mon],
             day.tm_year + 1900);
}

/* The MESSAGES with the system message, where there is one. */
static bool
write_text(const struct chat *chat, const struct chat_words *words,
           const struct chat_message *messages, size_t n,
           struct chat_text *text)
{
    const size_t first = chat->system != NULL ? 1 : 0;
    struct chat_message *all = new_zeroed(n + first, sizeof(*all));
    bool is_written;

    if (all == NULL)
        return false;
    if (first > 0)
        all[0] = (struct chat_message){ CHAT_SYSTEM, chat->system,
                                        strlen(chat->system) };
    memcpy(all + first, messages, n * sizeof(*all));
    is_written = chat_form_write(chat->form, words, all, n + first, text);
    free(all);
    return is_written;
}

bool
chat_encode(const struct chat *chat, const struct chat_message *messages,
            size_t n, struct ids *ids)
{
    const struct vocab *v = tokenizer_vocab(chat->tokenizer);
    struct chat_words words = { { NULL }, { 0 } };
    struct chat_text text = { { NULL, 0, 0 }, NULL, 0 };
    char today[32];
    bool is_done;

    write_today(today, sizeof(today));
    set_word(&words, CHAT_BOS, v, v->bos);
    set_word(&words, CHAT_EOS, v, v->eos);
    words.text[CHAT_TODAY] = today;
    words.size[CHAT_TODAY] = strlen(today);
    is_done = write_text(chat, &words, messages, n, &text) &&
        tokenizer_encode(chat->tokenizer, text.text.at, text.text.n,
                         text.plain, chat->is_special ? 0 : text.n_plain, ids);
    chat_text_clear(&text);
    return is_done;
}
