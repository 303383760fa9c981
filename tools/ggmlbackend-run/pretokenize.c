/* SPDX-License-Identifier: MIT */
/*
 * run/pretokenize.c - cutting text into pieces that tokens do not cross.
 *
 * Each model family publishes the expressions its tokenizer was trained with.
 * They use Unicode's properties, so PCRE2 runs them.  With several, the first
 * cuts the text and each further one the pieces before it.
 */
#include "tools/ggmlbackend-run/pretokenize.h"

#include "lib/base/utf8.h"
#include "tools/common/tool.h"
#include "tools/model/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define MAX_STEPS 2

/* Parts that several expressions have in common. */
#define SUFFIXES  "'s|'t|'re|'ve|'m|'ll|'d"
#define REST      "\\s+(?!\\S)|\\s+"
#define WORD_GPT2 SUFFIXES "| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|" REST
#define WORD_NEW(digits)                                       \
    "(?i:" SUFFIXES ")|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits \
    "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|" REST
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define WORD_TEKKEN                                                     \
    "[^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER "+|[^\\r\\n\\p{L}\\p{N}]?" \
    UPPER "+" LOWER "*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*"         \
    "|\\s*[\\r\\n]+|" REST

struct pre {
    const char *name;
    const char *steps[MAX_STEPS];
    bool takes_whole;
    bool adds_bos;
};

/* The first row serves for names that are not here. */
static const struct pre pres[] = {
    { "gpt-2", { WORD_GPT2 }, false, false },
    { "smollm", { "\\p{N}", WORD_GPT2 }, false, false },
    { "llama-bpe", { WORD_NEW("\\p{N}{1,3}") }, true, true },
    { "smaug-bpe", { WORD_NEW("\\p{N}{1,3}") }, false, false },
    { "qwen2", { WORD_NEW("\\p{N}") }, false, false },
    { "tekken", { WORD_TEKKEN }, true, true },
};

/* Names of the same cutting: a file is named after the model it was made for. */
static const struct {
    const char *name;
    const char *same; /* a row of pres */
} aliases[] = {
    { "default", "gpt-2" },
    { "phi-2", "gpt-2" },
    { "mpt", "gpt-2" },
    { "olmo", "gpt-2" },
    { "jais", "gpt-2" },
    { "roberta-bpe", "gpt-2" },
    { "gigachat", "gpt-2" },
    { "trillion", "gpt-2" },
    { "exaone4", "gpt-2" },
    { "a.x-4.0", "gpt-2" },
    { "mellum", "gpt-2" },
    { "granite-docling", "gpt-2" },
    { "starcoder", "smollm" },
    { "refact", "smollm" },
    { "command-r", "smollm" },
    { "codeshell", "smollm" },
    { "exaone", "smollm" },
    { "minerva-7b", "smollm" },
    { "llama3", "llama-bpe" },
    { "llama-v3", "llama-bpe" },
    { "falcon3", "llama-bpe" },
    { "falcon-h1", "llama-bpe" },
    { "pixtral", "llama-bpe" },
    { "midm-2.0", "llama-bpe" },
    { "lfm2", "llama-bpe" },
    { "dbrx", "smaug-bpe" },
    { "glm4", "smaug-bpe" },
    { "chatglm-bpe", "smaug-bpe" },
    { "deepseek-r1-qwen", "qwen2" },
    { "megrez", "qwen2" },
    { "kormo", "qwen2" },
    { "stablelm2", "qwen2" },
    { "hunyuan", "qwen2" },
};

struct step {
    pcre2_code *code;
    pcre2_match_data *match;
};

struct pretokenizer {
    const struct pre *pre;
    struct step steps[MAX_STEPS];
    size_t n_steps;
};

/* One step's share of the work; what it cuts goes to the next. */
struct cut {
    struct pretokenizer *pre;
    size_t step;
    piece_fn each;
    void *user;
};

/* The name in pres of what files call NAME. */
static const char *
without_alias(const char *name)
{
    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (strcmp(aliases[i].name, name) == 0)
            return aliases[i].same;
    return name;
}

static const struct pre *
pre_by_name(const char *name)
{
    const char *own_name = without_alias(name);

    for (size_t i = 0; i < sizeof(pres) / sizeof(pres[0]); i++)
        if (strcmp(pres[i].name, own_name) == 0)
            return &pres[i];
    tool_warning("the file cuts text as '%s', which is not known; %s is used",
                 name, pres[0].name);
    return &pres[0];
}

static bool
compile(struct step *step, const char *expression)
{
    PCRE2_SIZE where;
    int error = 0;

    step->code = pcre2_compile((PCRE2_SPTR)expression, PCRE2_ZERO_TERMINATED,
                               PCRE2_UTF | PCRE2_UCP, &error, &where, NULL);
    if (step->code == NULL)
        return tool_error("expression %s: error %d at %zu", expression, error,
                          (size_t)where);
    /* Several times faster where it exists; matching works without. */
    (void)pcre2_jit_compile(step->code, PCRE2_JIT_COMPLETE);
    step->match = pcre2_match_data_create_from_pattern(step->code, NULL);
    return step->match != NULL || tool_error("no memory");
}

struct pretokenizer *
pretokenizer_open(const char *name)
{
    struct pretokenizer *pre = new_zeroed(1, sizeof(*pre));

    if (pre == NULL)
        return NULL;
    pre->pre = pre_by_name(name);
    while (pre->n_steps < MAX_STEPS && pre->pre->steps[pre->n_steps] != NULL) {
        const size_t i = pre->n_steps++;

        if (!compile(&pre->steps[i], pre->pre->steps[i])) {
            pretokenizer_close(pre);
            return NULL;
        }
    }
    return pre;
}

void
pretokenizer_close(struct pretokenizer *pre)
{
    if (pre == NULL)
        return;
    for (size_t i = 0; i < pre->n_steps; i++) {
        pcre2_match_data_free(pre->steps[i].match);
        pcre2_code_free(pre->steps[i].code);
    }
    free(pre);
}

bool
pretokenizer_takes_whole(const struct pretokenizer *pre)
{
    return pre->pre->takes_whole;
}

bool
pretokenizer_adds_bos(const struct pretokenizer *pre)
{
    return pre->pre->adds_bos;
}

/* Cut one piece of the step before with the step of USER, a struct cut. */
static bool
cut_piece(void *user, const char *text, size_t size)
{
    const struct cut *cut = user;
    const struct step *step = &cut->pre->steps[cut->step];
    const bool is_last = cut->step + 1 == cut->pre->n_steps;
    struct cut next = *cut;
    const piece_fn each = is_last ? cut->each : cut_piece;
    void *each_user = is_last ? cut->user : &next;
    size_t at = 0;

    next.step++;
    while (at < size) {
        const int n = pcre2_match(step->code, (PCRE2_SPTR)text, size, at,
                                  PCRE2_NOTEMPTY | PCRE2_NO_UTF_CHECK,
                                  step->match, NULL);
        const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(step->match);
        const size_t begin = n > 0 ? ends[0] : size;
        const size_t end = n > 0 ? ends[1] : size;

        if (n < 0 && n != PCRE2_ERROR_NOMATCH)
            return tool_error("the text cannot be cut: error %d", n);
        /* What the expression does not know is a piece too. */
        if (begin > at && !each(each_user, text + at, begin - at))
            return false;
        if (end > begin && !each(each_user, text + begin, end - begin))
            return false;
        at = end;
    }
    return true;
}

bool
pretokenize(struct pretokenizer *pre, const char *text, size_t size,
            piece_fn each, void *user)
{
    struct cut cut = { .pre = pre, .each = each, .user = user };
    size_t begin = 0, at = 0;

    /* PCRE2 gets valid UTF-8 only; each other byte is a piece. */
    while (at < size) {
        const size_t n = gb_utf8_length(text + at, size - at);

        if (n == 0 &&
            ((at > begin && !cut_piece(&cut, text + begin, at - begin)) ||
             !each(user, text + at, 1)))
            return false;
        at += n == 0 ? 1 : n;
        if (n == 0)
            begin = at;
    }
    return at == begin || cut_piece(&cut, text + begin, at - begin);
}
