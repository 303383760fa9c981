/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/compilers.c - threads that make the pipelines of a graph while
 * it is recorded.
 */
#include "backends/vulkan/device/compilers.h"

#include "backends/vulkan/device/pipeline.h"

#include "ggml-impl.h"
#include "ggmlbackend.h"

#include <signal.h>

static void *
compile(void *data)
{
    struct gb_vk_compilers *compilers = data;

    for (;;) {
        const int i = atomic_fetch_add_explicit(&compilers->next, 1,
                                                memory_order_relaxed);

        if (i >= compilers->n)
            return NULL;
        gb_vk_pipeline_make(compilers->context,
                            (enum gb_vk_pipeline)compilers->list[i]);
    }
}

/* The program's signals are not for these threads. */
static int
start_threads(struct gb_vk_compilers *compilers, int n)
{
    sigset_t all, before;
    int n_started = 0;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (n_started < n &&
           pthread_create(&compilers->threads[n_started], NULL, compile,
                          compilers) == 0)
        n_started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return n_started;
}

/* The caller makes pipelines too, and needs a processor. */
static int
n_helpers(int n_pipelines)
{
    const int most = n_pipelines - 1 < GB_VK_MOST_COMPILERS
                         ? n_pipelines - 1 : GB_VK_MOST_COMPILERS;
    const int n_cpus = most > 0 ? ggmlbackend_n_cpus() : 1;

    return n_cpus - 1 < most ? n_cpus - 1 : most;
}

void
gb_vk_compilers_begin(
    struct gb_vk_compilers *compilers, struct gb_vk_context *context,
    const struct gb_vk_collection *wanted)
{
    compilers->context = context;
    compilers->n = 0;
    atomic_init(&compilers->next, 0);
    for (int i = 0; i < wanted->n; i++)
        if (!gb_vk_pipeline_is_made(context, wanted->list[i]))
            compilers->list[compilers->n++] = wanted->list[i];
    compilers->n_threads =
        start_threads(compilers, n_helpers(compilers->n));
    if (compilers->n_threads > 0)
        GGML_LOG_DEBUG("%s: a graph needs %d new pipelines, %d threads more "
                       "make them\n", context->card->label, compilers->n,
                       compilers->n_threads);
}

void
gb_vk_compilers_end(struct gb_vk_compilers *compilers)
{
    atomic_store_explicit(&compilers->next, compilers->n,
                          memory_order_relaxed);
    for (int i = 0; i < compilers->n_threads; i++)
        pthread_join(compilers->threads[i], NULL);
    compilers->n_threads = 0;
}
