/* SPDX-License-Identifier: MIT */
/*
 * run/chat-form.c - the forms of conversations that models were trained with.
 */
#include "tools/ggmlbackend-run/chat-form.h"

#include "tools/common/hash.h"

#include <stdlib.h>
#include <string.h>

/* The words, as characters. */
#define BOS   "\1"
#define EOS   "\2"
#define TODAY "\3"

enum form {
#define FORM(id, ...) FORM_##id,
#include "tools/ggmlbackend-run/chat-forms.def"
#undef FORM
    N_FORMS
};

static const struct chat_form forms[] = {
#define FORM(id, called, ...) [FORM_##id] = { .name = called, __VA_ARGS__ },
#include "tools/ggmlbackend-run/chat-forms.def"
#undef FORM
};

static const struct {
    uint64_t hash;
    enum form form;
} templates[] = {
#define TEMPLATE(hash, form, where) { UINT64_C(hash), FORM_##form },
#include "tools/ggmlbackend-run/chat-templates.def"
#undef TEMPLATE
};

const struct chat_form *
chat_form_by_hash(uint64_t hash)
{
    for (size_t i = 0; i < sizeof(templates) / sizeof(templates[0]); i++)
        if (templates[i].hash == hash)
            return &forms[templates[i].form];
    return NULL;
}

const struct chat_form *
chat_form_by_name(const char *name)
{
    for (size_t i = 0; i < N_FORMS; i++)
        if (strcmp(forms[i].name, name) == 0)
            return &forms[i];
    return NULL;
}

/* The rest of a template, and the text that the hash is of. */
struct reading {
    const char *at, *end;
    struct bytes out;
};

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The size of the line end that is next, 0 where none is. */
static size_t
line_end(const struct reading *r)
{
    if (*r->at == '\n')
        return 1;
    if (*r->at != '\r')
        return 0;
    return r->end - r->at > 1 && r->at[1] == '\n' ? 2 : 1;
}

/* Take one character over. */
static bool
take(struct reading *r)
{
    const size_t n = line_end(r);
    const char c = n > 0 ? '\n' : *r->at;

    r->at += n > 0 ? n : 1;
    return bytes_push(&r->out, &c, 1);
}

/* A string, from its first quotation mark to the last. */
static bool
take_string(struct reading *r)
{
    const char quote = *r->at;

    if (!take(r))
        return false;
    while (r->at < r->end && *r->at != quote) {
        if (*r->at != '\\' || r->end - r->at < 2) {
            if (!take(r))
                return false;
        } else if (r->at[1] == 'n') {
            if (!bytes_push(&r->out, "\n", 1))
                return false;
            r->at += 2;
        } else if (!take(r) || !take(r)) {
            return false;
        }
    }
    return r->at == r->end || take(r);
}

/* Is the end of a tag next, with a sign or without, that CLOSE is part of? */
static bool
is_tag_end(const struct reading *r, char close)
{
    const char *at = r->at;

    if (at < r->end && (*at == '-' || *at == '+'))
        at++;
    return r->end - at > 1 && at[0] == close && at[1] == '}';
}

/* Blanks in a tag, which are one, or none at its ends.  A blank in front of a
 * sign stays: the sign is the tag's where nothing is between them. */
static bool
take_blanks(struct reading *r, char close, bool is_first)
{
    while (r->at < r->end && is_blank(*r->at))
        r->at++;
    if (r->at == r->end || is_tag_end(r, close) ||
        (is_first && *r->at != '-' && *r->at != '+'))
        return true;
    return bytes_push(&r->out, " ", 1);
}

/* A tag, which begins with {{ or {%. */
static bool
take_tag(struct reading *r)
{
    const char close = r->at[1] == '{' ? '}' : '%';
    bool is_first = true;

    if (!take(r) || !take(r))
        return false;
    if (r->at < r->end && (*r->at == '-' || *r->at == '+') && !take(r))
        return false;
    for (; r->at < r->end && !(r->at[0] == close && r->end - r->at > 1 &&
                               r->at[1] == '}');
         is_first = false) {
        if (!(is_blank(*r->at) ? take_blanks(r, close, is_first)
              : *r->at == '"' || *r->at == '\'' ? take_string(r)
                                                : take(r)))
            return false;
    }
    return r->end - r->at < 2 || (take(r) && take(r));
}

bool
chat_template_hash(const char *text, size_t size, uint64_t *hash)
{
    struct reading r = { .at = text, .end = text + size };
    bool is_read = true;

    while (is_read && r.at < r.end)
        is_read = r.end - r.at > 1 && r.at[0] == '{' &&
                          (r.at[1] == '{' || r.at[1] == '%')
            ? take_tag(&r)
            : take(&r);
    if (is_read) {
        if (r.out.n > 0 && r.out.at[r.out.n - 1] == '\n')
            r.out.n--;
        *hash = hash_bytes(r.out.at, r.out.n);
    }
    bytes_clear(&r.out);
    return is_read;
}

/* A conversation that is being written, and the form of it. */
struct writing {
    const struct chat_form *form;
    const struct chat_words *words;
    struct chat_text *out;
};

/* A string of the form, its words said. */
static bool
put(struct writing *w, const char *text)
{
    for (; text != NULL && *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;

        if (!(c < CHAT_N_WORDS ? bytes_push(&w->out->text, w->words->text[c],
                                            w->words->size[c])
                               : bytes_push(&w->out->text, text, 1)))
            return false;
    }
    return true;
}

/* Somebody's text; there is a range for each message. */
static bool
put_plain(struct writing *w, const char *text, size_t size)
{
    struct chat_text *out = w->out;

    if (size == 0)
        return true;
    out->plain[out->n_plain].begin = out->text.n;
    out->plain[out->n_plain++].end = out->text.n + size;
    return bytes_push(&out->text, text, size);
}

/* The size of the blank that ends at END of what begins at TEXT, or begins
 * there where it IS_FIRST; Python's, since templates are written for it. */
static size_t
blank_size(const char *text, const char *end, bool is_first)
{
    static const char *const blanks[] = {
        " ", "\n", "\t", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x1f",
        "\xc2\x85", "\xc2\xa0", "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81",
        "\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85",
        "\xe2\x80\x86", "\xe2\x80\x87", "\xe2\x80\x88", "\xe2\x80\x89",
        "\xe2\x80\x8a", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaf",
        "\xe2\x81\x9f", "\xe3\x80\x80",
    };

    for (size_t i = 0; i < sizeof(blanks) / sizeof(blanks[0]); i++) {
        const size_t n = strlen(blanks[i]);

        if ((size_t)(end - text) >= n &&
            memcmp(is_first ? text : end - n, blanks[i], n) == 0)
            return n;
    }
    return 0;
}

static struct chat_message
trimmed(struct chat_message m, bool at_begin)
{
    size_t n;

    while ((n = blank_size(m.text, m.text + m.size, false)) > 0)
        m.size -= n;
    while (at_begin && (n = blank_size(m.text, m.text + m.size, true)) > 0) {
        m.text += n;
        m.size -= n;
    }
    return m;
}

static struct chat_message
without_thought(struct chat_message m, enum chat_thought how)
{
    static const char mark[] = "</think>";
    const size_t n = sizeof(mark) - 1;

    if (how == CHAT_THOUGHT_KEPT)
        return m;
    for (size_t at = m.size; at >= n; at--)
        if (memcmp(m.text + at - n, mark, n) == 0) {
            m.text += at;
            m.size -= at;
            break;
        }
    while (how == CHAT_THOUGHT_CUT_LINES && m.size > 0 && *m.text == '\n') {
        m.text++;
        m.size--;
    }
    return m;
}

/* The system message: SYSTEM, or where that is NULL what the form says. */
static bool
put_system(struct writing *w, const struct chat_message *system)
{
    const struct chat_form *f = w->form;
    struct chat_message m;

    if (system == NULL)
        return f->system == NULL ||
            (put(w, f->system_before) && put(w, f->system) &&
             put(w, f->system_after));
    m = *system;
    if (f->trims & CHAT_TRIM_SYSTEM)
        m = trimmed(m, true);
    return put(w, f->system_before) && put_plain(w, m.text, m.size) &&
        put(w, f->system_after);
}

static bool
put_user(struct writing *w, const struct chat_message *system, bool has_system,
         struct chat_message m)
{
    const struct chat_form *f = w->form;

    if (!put(w, f->user_before) || (has_system && !put_system(w, system)))
        return false;
    if (f->trims & (CHAT_TRIM_USER | CHAT_TRIM_TURN))
        m = trimmed(m, !has_system || (f->trims & CHAT_TRIM_USER) != 0);
    return put_plain(w, m.text, m.size) && put(w, f->user_after);
}

static bool
put_answer(struct writing *w, struct chat_message m)
{
    const struct chat_form *f = w->form;

    m = without_thought(m, f->thought);
    if (f->trims & CHAT_TRIM_ANSWER)
        m = trimmed(m, true);
    return put(w, f->answer_before) && put_plain(w, m.text, m.size) &&
        put(w, f->answer_after);
}

bool
chat_form_write(const struct chat_form *form, const struct chat_words *words,
                const struct chat_message *messages, size_t n,
                struct chat_text *out)
{
    struct writing w = { .form = form, .words = words, .out = out };
    const struct chat_message *system =
        messages[0].role == CHAT_SYSTEM ? &messages[0] : NULL;
    const size_t first = system != NULL ? 1 : 0;

    out->plain = new_zeroed(n, sizeof(*out->plain));
    if (out->plain == NULL || !put(&w, form->begin) ||
        (form->place == CHAT_OWN_TURN && !put_system(&w, system)))
        return false;
    for (size_t i = first; i < n; i++) {
        const bool has_system =
            (form->place == CHAT_IN_FIRST && i == first) ||
            (form->place == CHAT_IN_LAST && i + 1 == n);

        if (!(messages[i].role == CHAT_USER
                  ? put_user(&w, system, has_system && system != NULL,
                             messages[i])
                  : put_answer(&w, messages[i])))
            return false;
    }
    return put(&w, form->prompt);
}

void
chat_text_clear(struct chat_text *text)
{
    bytes_clear(&text->text);
    free(text->plain);
    memset(text, 0, sizeof(*text));
}
