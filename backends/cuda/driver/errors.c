/* SPDX-License-Identifier: MIT */
/*
 * cuda/driver/errors.c - what a driver's results mean.
 *
 * Texts are made once for each result and kept, since they are handed around
 * in messages; there are fewer results than there is room for.
 */
#include "backends/cuda/driver/errors.h"

#include "backends/cuda/driver/platform.h"

#include <pthread.h>
#include <stdio.h>

enum { N_TEXTS = 128 };

struct text {
    int result;
    char words[160];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct text texts[N_TEXTS];
static int n_texts;
static const struct gb_cuda_driver *source;

static const char *const names[GB_CUDA_CALL_COUNT] = {
#define GB_DRIVER_CALL(need, id, cuda, hip, parameters, arguments) \
    [GB_CUDA_CALL_##id] = GB_CUDA_NAME_OF(cuda, hip),
#include "backends/cuda/driver/driver.def"
#undef GB_DRIVER_CALL
};

const char *
gb_cuda_call_name(enum gb_cuda_call call)
{
    return names[call];
}

void
gb_cuda_errors_use(const struct gb_cuda_driver *driver)
{
    pthread_mutex_lock(&lock);
    source = driver;
    pthread_mutex_unlock(&lock);
}

bool
gb_cuda_is_harmless(int result)
{
    return result == GB_CUDA_SUCCESS || result == GB_CUDA_OUT_OF_MEMORY;
}

bool
gb_cuda_is_misfit(int result)
{
    static const int misfits[] = {
        GB_CUDA_INVALID_VALUE, /* more shared memory than the card has */
        GB_CUDA_INVALID_IMAGE, GB_CUDA_NO_BINARY_FOR_GPU, GB_CUDA_INVALID_PTX,
        GB_CUDA_JIT_COMPILER_NOT_FOUND, GB_CUDA_UNSUPPORTED_PTX_VERSION,
        GB_CUDA_JIT_COMPILATION_DISABLED, GB_CUDA_NOT_FOUND,
        GB_CUDA_NOT_SUPPORTED,
    };

    for (size_t i = 0; i < sizeof(misfits) / sizeof(misfits[0]); i++) {
        if (misfits[i] == result)
            return true;
    }
    return false;
}

static void
write_text(struct text *text, int result)
{
    const char *name = NULL, *words = NULL;

    text->result = result;
    if (source != NULL && source->error_name(result, &name) == 0 &&
        source->error_text(result, &words) == 0 && name != NULL &&
        words != NULL)
        snprintf(text->words, sizeof(text->words), "%s (%s)", words, name);
    else
        snprintf(text->words, sizeof(text->words), "error %d", result);
}

/* With the lock. */
static const char *
text_of(int result)
{
    for (int i = 0; i < n_texts; i++) {
        if (texts[i].result == result)
            return texts[i].words;
    }
    if (n_texts == N_TEXTS)
        return "error of an unknown kind";
    write_text(&texts[n_texts], result);
    return texts[n_texts++].words;
}

const char *
gb_cuda_error(int result)
{
    const char *text;

    pthread_mutex_lock(&lock);
    text = text_of(result);
    pthread_mutex_unlock(&lock);
    return text;
}
