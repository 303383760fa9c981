/* SPDX-License-Identifier: MIT */
#include <gguf.h>

#include <stdio.h>
#include <string.h>

static const char tokens_key[] = "tokenizer.ggml.tokens";
static const char scores_key[] = "tokenizer.ggml.scores";

/* NULL unless there are words, and a score for each. */
static const char *
best_word(const struct gguf_context *gguf)
{
    const int64_t tokens = gguf_find_key(gguf, tokens_key);
    const int64_t scores = gguf_find_key(gguf, scores_key);
    const float *score;
    size_t n, best = 0;

    if (tokens < 0 || gguf_get_kv_type(gguf, tokens) != GGUF_TYPE_ARRAY ||
        gguf_get_arr_type(gguf, tokens) != GGUF_TYPE_STRING ||
        scores < 0 || gguf_get_kv_type(gguf, scores) != GGUF_TYPE_ARRAY ||
        gguf_get_arr_type(gguf, scores) != GGUF_TYPE_FLOAT32)
        return NULL;
    n = gguf_get_arr_n(gguf, tokens);
    if (n == 0 || gguf_get_arr_n(gguf, scores) != n)
        return NULL;
    score = (const float *)gguf_get_arr_data(gguf, scores);
    for (size_t i = 1; i < n; i++)
        if (score[i] > score[best])
            best = i;
    return gguf_get_arr_str(gguf, tokens, best);
}

int
main(void)
{
    const char *words[3] = { "the", "quick", "fox" };
    const float scores[3] = { -1.5f, -0.5f, -7 };
    struct gguf_context *gguf = gguf_init_empty();
    const char *word;
    bool is_right;

    if (gguf == NULL)
        return 1;
    gguf_set_arr_str(gguf, tokens_key, words, 3);
    gguf_set_arr_data(gguf, scores_key, GGUF_TYPE_FLOAT32, scores, 3);

    word = best_word(gguf);
    printf("the best word is %s\n", word != NULL ? word : "not to be had");
    is_right = word != NULL && strcmp(word, "quick") == 0;
    gguf_free(gguf); /* word is gone with it */
    return is_right ? 0 : 1;
}
