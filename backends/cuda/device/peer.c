/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/peer.c - copies from card to card, between pairs that were tried.
 */
#include "backends/cuda/device/peer.h"

#include "backends/cuda/device/check.h"
#include "backends/cuda/device/settings.h"
#include "backends/cuda/device/stream.h"
#include "backends/cuda/device/transfer.h"

#include "ggml-impl.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_PAIRS = 256,
    PATTERN_SIZE = 1 << 20, /* more than one page of any kind of mapping */
};

/* A pair of cards in generations of their contexts. */
struct pair {
    const struct gb_cuda_card *cards[2];
    unsigned generations[2];
    bool works;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pair pairs[MAX_PAIRS];
static int n_pairs;

/* ---- one try ---- */

/* What a try works with: memory on both cards, and the bytes to send. */
struct trial {
    const struct gb_cuda_hold *from, *to;
    gb_cuda_address source, target;
    uint32_t *sent, *received;
};

static void
write_pattern(uint32_t *words, uint32_t seed)
{
    for (uint32_t i = 0; i < PATTERN_SIZE / sizeof(*words); i++) {
        seed = seed * 1664525u + 1013904223u;
        words[i] = seed ^ i;
    }
}

static bool
allow(const struct gb_cuda_hold *hold, const struct gb_cuda_hold *peer)
{
    const struct gb_cuda_card *card = hold->card;
    int is_possible = 0;
    int result;

    if (card->driver->peer_possible(&is_possible, card->handle,
                                    peer->card->handle) != GB_CUDA_SUCCESS ||
        !is_possible || !gb_cuda_enter(hold))
        return false;
    result = card->driver->peer_enable(peer->context, 0);
    gb_cuda_leave(hold);
    return result == GB_CUDA_SUCCESS ||
           result == GB_CUDA_PEER_ACCESS_ALREADY_ENABLED;
}

static bool
memory_on(const struct gb_cuda_hold *hold, gb_cuda_address *address)
{
    enum ggml_status status;

    if (!gb_cuda_enter(hold))
        return false;
    status = gb_cuda_memory_new(hold->card, PATTERN_SIZE, false, address);
    gb_cuda_leave(hold);
    return status == GGML_STATUS_SUCCESS;
}

static void
memory_off(const struct gb_cuda_hold *hold, gb_cuda_address address)
{
    if (!gb_cuda_enter_cleanup(hold))
        return;
    gb_cuda_memory_free(hold->card, address, PATTERN_SIZE, false);
    gb_cuda_leave(hold);
}

static bool
put(const struct gb_cuda_hold *hold, gb_cuda_address to, const void *from)
{
    enum ggml_status status;

    if (!gb_cuda_enter(hold))
        return false;
    status = gb_cuda_copy_to_card(hold->card, to, from, PATTERN_SIZE);
    gb_cuda_leave(hold);
    return status == GGML_STATUS_SUCCESS;
}

static bool
get(const struct gb_cuda_hold *hold, void *to, gb_cuda_address from)
{
    enum ggml_status status;

    if (!gb_cuda_enter(hold))
        return false;
    status = gb_cuda_copy_to_host(hold->card, to, from, PATTERN_SIZE);
    gb_cuda_leave(hold);
    return status == GGML_STATUS_SUCCESS;
}

/* In the source's copy stream. */
static enum ggml_status
copy_across(
    const struct gb_cuda_hold *to_hold, gb_cuda_address to,
    const struct gb_cuda_hold *from_hold, gb_cuda_address from, size_t size)
{
    struct gb_cuda_card *card = from_hold->card;
    struct gb_cuda_queue *queue;
    enum ggml_status status = GGML_STATUS_FAILED;

    if (!gb_cuda_enter(from_hold))
        return GGML_STATUS_FAILED;
    queue = gb_cuda_transfer_begin(card);
    if (queue != NULL) {
        status = GB_CUDA(card, copy_to_peer,
                         (to, to_hold->context, from, from_hold->context, size,
                          queue->stream));
        if (status == GGML_STATUS_SUCCESS)
            status = gb_cuda_queue_wait(card, queue);
        gb_cuda_transfer_end(card, "copy");
    }
    gb_cuda_leave(from_hold);
    return status;
}

/* Other bytes lie there before, so that a copy that does nothing is seen. */
static bool
came_right(const struct trial *trial, uint32_t seed)
{
    write_pattern(trial->sent, ~seed);
    if (!put(trial->to, trial->target, trial->sent))
        return false;
    write_pattern(trial->sent, seed);
    return put(trial->from, trial->source, trial->sent) &&
           copy_across(trial->to, trial->target, trial->from, trial->source,
                       PATTERN_SIZE) == GGML_STATUS_SUCCESS &&
           get(trial->to, trial->received, trial->target) &&
           memcmp(trial->sent, trial->received, PATTERN_SIZE) == 0;
}

static bool
came_right_both_ways(const struct trial *there)
{
    const struct trial back = {
        .from = there->to,
        .to = there->from,
        .source = there->target,
        .target = there->source,
        .sent = there->sent,
        .received = there->received,
    };

    return came_right(there, 1) && came_right(&back, 2);
}

static bool
try_with_memory(struct trial *trial)
{
    bool is_right = false;

    if (!memory_on(trial->from, &trial->source))
        return false;
    if (memory_on(trial->to, &trial->target)) {
        is_right = came_right_both_ways(trial);
        memory_off(trial->to, trial->target);
    }
    memory_off(trial->from, trial->source);
    if (!is_right)
        GGML_LOG_WARN("%s: copies to %s and back give other bytes: they go "
                      "through the host\n", trial->from->card->label,
                      trial->to->card->label);
    return is_right;
}

static bool
try_pair(const struct gb_cuda_hold *a, const struct gb_cuda_hold *b)
{
    struct trial trial = { .from = a, .to = b };
    bool works = false;

    if (!allow(a, b) || !allow(b, a))
        return false;
    trial.sent = malloc(PATTERN_SIZE);
    trial.received = malloc(PATTERN_SIZE);
    if (trial.sent != NULL && trial.received != NULL)
        works = try_with_memory(&trial);
    free(trial.sent);
    free(trial.received);
    return works;
}

/* ---- pairs; with the lock ---- */

static bool
is_pair(const struct pair *pair, const struct gb_cuda_hold *a,
        const struct gb_cuda_hold *b)
{
    return pair->cards[0] == a->card && pair->cards[1] == b->card;
}

static struct pair *
pair_of(const struct gb_cuda_hold *a, const struct gb_cuda_hold *b)
{
    for (int i = 0; i < n_pairs; i++) {
        if (is_pair(&pairs[i], a, b))
            return &pairs[i];
    }
    if (n_pairs == MAX_PAIRS)
        return NULL;
    pairs[n_pairs] = (struct pair){ .cards = { a->card, b->card } };
    pairs[n_pairs].generations[0] = a->generation - 1;
    return &pairs[n_pairs++];
}

static bool
pair_works(const struct gb_cuda_hold *a, const struct gb_cuda_hold *b)
{
    struct pair *pair = pair_of(a, b);

    if (pair == NULL)
        return false;
    if (pair->generations[0] != a->generation ||
        pair->generations[1] != b->generation) {
        pair->works = try_pair(a, b);
        pair->generations[0] = a->generation;
        pair->generations[1] = b->generation;
    }
    return pair->works;
}

bool
gb_cuda_peer_works(const struct gb_cuda_hold *a, const struct gb_cuda_hold *b)
{
    const bool is_in_order = a->card < b->card;
    bool works;

    if (!gb_cuda_setting_is("GGMLBACKEND_GPU_PEER", "auto"))
        return false;
    pthread_mutex_lock(&lock);
    works = is_in_order ? pair_works(a, b) : pair_works(b, a);
    pthread_mutex_unlock(&lock);
    return works;
}

bool
gb_cuda_peer_copy(
    const struct gb_cuda_hold *to_hold, gb_cuda_address to,
    const struct gb_cuda_hold *from_hold, gb_cuda_address from, size_t size)
{
    return gb_cuda_peer_works(to_hold, from_hold) &&
           copy_across(to_hold, to, from_hold, from, size) ==
               GGML_STATUS_SUCCESS;
}
