/* SPDX-License-Identifier: MIT */
/*
 * run/chat.c - a user's message in the form a model was trained with.
 */
#include "tools/ggmlbackend-run/chat.h"

#include "tools/common/tool.h"
#include "tools/model/keys.h"

#include <ctype.h>
#include <string.h>

struct form {
    const char *mark;   /* a control token that only this form has */
    const char *before; /* what stands before the message */
    const char *after;  /* and after it, up to the answer */
};

static const struct form forms[] = {
    /* ChatML */
    {
        "<|im_start|>",
        "<|im_start|>user\n",
        "<|im_end|>\n<|im_start|>assistant\n",
    },
    /* Llama 3 */
    {
        "<|start_header_id|>",
        "<|start_header_id|>user<|end_header_id|>\n\n",
        "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
    },
    /* Gemma */
    {
        "<start_of_turn>",
        "<start_of_turn>user\n",
        "<end_of_turn>\n<start_of_turn>model\n",
    },
};

#define N_FORMS (sizeof(forms) / sizeof(forms[0]))

static const struct form *
form_of_template(const char *text)
{
    for (size_t i = 0; i < N_FORMS; i++)
        if (strstr(text, forms[i].mark) != NULL)
            return &forms[i];
    return NULL;
}

static const struct form *
form_of_tokens(const struct vocab *v)
{
    for (size_t i = 0; i < N_FORMS; i++)
        if (vocab_find(v, forms[i].mark, strlen(forms[i].mark)) != TOKEN_NONE)
            return &forms[i];
    return NULL;
}

/* The message without the blanks and line ends around it. */
static const char *
trim(const char *message, size_t *size)
{
    while (*size > 0 && isspace((unsigned char)message[*size - 1]))
        --*size;
    while (*size > 0 && isspace((unsigned char)message[0])) {
        message++;
        --*size;
    }
    return message;
}

bool
chat_encode(struct tokenizer *t, const struct gguf_context *gguf,
            const char *message, size_t size, struct ids *ids)
{
    const struct keys keys = { .gguf = gguf };
    const char *text = NULL;
    const struct form *form = NULL;
    struct bytes framed = { 0 };
    bool is_done;

    if (!keys_string(&keys, "tokenizer.chat_template", KEYS_OPTIONAL, &text))
        return false;
    if (text != NULL)
        form = form_of_template(text);
    if (form == NULL)
        form = form_of_tokens(tokenizer_vocab(t));
    if (form == NULL)
        return tool_error("the model has no form of chat that is known");
    message = trim(message, &size);
    is_done = bytes_push(&framed, form->before, strlen(form->before)) &&
        bytes_push(&framed, message, size) &&
        bytes_push(&framed, form->after, strlen(form->after)) &&
        tokenizer_encode(t, framed.at, framed.n, strlen(form->before),
                         strlen(form->before) + size, ids);
    bytes_clear(&framed);
    return is_done;
}
