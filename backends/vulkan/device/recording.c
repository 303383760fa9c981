/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/recording.c - a plan as command buffers, which are submitted
 * again when the graph comes again.
 */
#include "backends/vulkan/device/recording.h"

#include "backends/vulkan/device/compilers.h"
#include "backends/vulkan/device/estimate.h"
#include "backends/vulkan/device/layout.h"
#include "backends/vulkan/device/list.h"
#include "backends/vulkan/device/settings.h"

#include "ggmlbackend.h"

#include "lib/node/list.h"

#include <stdlib.h>
#include <string.h>

/* ---- all of a backend's ---- */

static struct gb_vk_pace
choose_pace(void)
{
    struct gb_vk_pace pace = {
        .first = GB_VK_FIRST_CHUNK,
        .chunk = GB_VK_CHUNK,
        .batch = GB_VK_BATCH,
        .most_ns = GB_VK_MOST_NS,
        .parts = 1,
        .is_reusing = !gb_vk_test_has("no-reuse"),
    };

    if (gb_vk_test_has("one-submit")) {
        pace.first = GB_VK_CHUNK;
        pace.batch = GB_VK_MAX_COMMANDS;
        pace.most_ns = UINT64_MAX;
    } else if (gb_vk_test_has("many-submits")) {
        pace.first = 1;
        pace.chunk = 3;
        pace.batch = 1;
        pace.parts = 3;
    }
    return pace;
}

enum ggml_status
gb_vk_recordings_init(
    struct gb_vk_recordings *recordings, struct gb_vk_context *context)
{
    recordings->pace = choose_pace();
    return gb_vk_recorder_init(&recordings->recorder, context);
}

static void
clear_recording(struct gb_vk_recording *recording,
                struct gb_vk_recorder *recorder)
{
    for (int i = 0; recording->commands != NULL && i < GB_VK_MAX_COMMANDS; i++)
        gb_vk_commands_clear(recorder, &recording->commands[i]);
    free(recording->commands);
    free(recording->chunks);
    gb_vk_plan_clear(&recording->plan);
    memset(recording, 0, sizeof(*recording));
}

void
gb_vk_recordings_clear(struct gb_vk_recordings *recordings)
{
    struct gb_vk_recorder *recorder = &recordings->recorder;

    if (recorder->context == NULL)
        return;
    if (recordings->scratch.size > 0)
        gb_vk_memory_free(recorder->context, &recordings->scratch);
    for (int i = 0; i < GB_VK_RECORDINGS; i++)
        clear_recording(&recordings->items[i], recorder);
    gb_vk_recorder_clear(recorder);
    memset(recordings, 0, sizeof(*recordings));
}

/* ---- submissions ---- */

/* Command buffers that go together. */
struct batch {
    struct gb_vk_recordings *recordings;
    const struct gb_vk_abort *abort;
    struct gb_vk_commands *commands[GB_VK_MAX_COMMANDS];
    struct gb_vk_submission sum;
    int n_new; /* dispatches that were recorded */
};

static enum ggml_status
flush(struct batch *batch)
{
    struct gb_vk_recordings *recordings = batch->recordings;
    struct gb_vk_context *context = recordings->recorder.context;
    VkCommandBuffer handles[GB_VK_MAX_COMMANDS];
    const int n = batch->sum.n_commands;
    enum ggml_status status;

    if (n == 0)
        return GGML_STATUS_SUCCESS;
    if (batch->abort->callback != NULL &&
        batch->abort->callback(batch->abort->data))
        return GGML_STATUS_ABORTED;
    for (int i = 0; i < n; i++)
        handles[i] = batch->commands[i]->handle;
    status = gb_vk_submit_all(context, handles, (uint32_t)n,
                              &recordings->number);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    for (int i = 0; i < n; i++)
        batch->commands[i]->number = recordings->number;
    batch->sum.number = recordings->number;
    if (recordings->recorder.is_listing)
        gb_vk_list_submission(context, &batch->sum);
    memset(&batch->sum, 0, sizeof(batch->sum));
    batch->n_new = 0;
    return GGML_STATUS_SUCCESS;
}

/* Until nothing of COMMANDS runs: they are submitted, or recorded, once at a
 * time. */
static enum ggml_status
wait_for(struct gb_vk_recordings *recordings,
         const struct gb_vk_commands *commands)
{
    struct gb_vk_context *context = recordings->recorder.context;
    enum ggml_status status;

    if (commands->number <= recordings->reached)
        return GGML_STATUS_SUCCESS;
    status = gb_vk_wait(context, commands->number);
    if (status == GGML_STATUS_SUCCESS)
        recordings->reached = commands->number;
    return status;
}

/* Chunk I of RECORDING as it has to be, in the batch. */
static enum ggml_status
add_chunk(struct batch *batch, struct gb_vk_recording *recording, size_t i)
{
    struct gb_vk_recordings *recordings = batch->recordings;
    const struct gb_vk_chunk *chunk = &recording->chunks[i];
    struct gb_vk_commands *commands =
        &recording->commands[i % recording->n_commands];
    enum ggml_status status = wait_for(recordings, commands);

    if (status == GGML_STATUS_SUCCESS && !commands->is_recorded) {
        batch->sum.n_recorded++;
        batch->n_new += chunk->n;
        status = gb_vk_record(&recordings->recorder, commands, &recording->plan,
                              chunk, i == 0);
    }
    if (status != GGML_STATUS_SUCCESS)
        return status;
    batch->commands[batch->sum.n_commands++] = commands;
    batch->sum.n_dispatches += chunk->n;
    batch->sum.n_barriers += commands->n_barriers;
    batch->sum.ns += chunk->ns;
    return GGML_STATUS_SUCCESS;
}

/* Is it time, chunk I being the last one in the batch?  The card gets something
 * to do at once, and something more while much is recorded. */
static bool
is_full(const struct batch *batch, const struct gb_vk_recording *recording,
        size_t i)
{
    const struct gb_vk_pace *pace = &batch->recordings->pace;

    return i + 1 == recording->n_chunks ||
           batch->sum.n_commands == pace->batch ||
           (i == 0 && pace->first < pace->chunk) ||
           (batch->n_new >= pace->chunk && pace->first < pace->chunk) ||
           batch->sum.ns + recording->chunks[i + 1].ns > pace->most_ns;
}

static enum ggml_status
submit_chunks(struct gb_vk_recordings *recordings,
              struct gb_vk_recording *recording,
              const struct gb_vk_abort *abort)
{
    struct batch batch = { .recordings = recordings, .abort = abort };
    enum ggml_status status = GGML_STATUS_SUCCESS;

    recordings->reached = gb_vk_reached(recordings->recorder.context);
    for (size_t i = 0;
         i < recording->n_chunks && status == GGML_STATUS_SUCCESS; i++) {
        if (i >= recording->n_commands)
            recording->commands[i % recording->n_commands].is_recorded = false;
        status = add_chunk(&batch, recording, i);
        if (status == GGML_STATUS_SUCCESS && is_full(&batch, recording, i))
            status = flush(&batch);
    }
    return status;
}

/* ---- chunks ---- */

static enum ggml_status
make_commands(struct gb_vk_recordings *recordings,
              struct gb_vk_recording *recording)
{
    struct gb_vk_recorder *recorder = &recordings->recorder;
    const size_t n = recording->n_chunks < GB_VK_MAX_COMMANDS
                         ? recording->n_chunks : GB_VK_MAX_COMMANDS;
    enum ggml_status status = GGML_STATUS_SUCCESS;

    if (recording->commands == NULL)
        recording->commands =
            calloc(GB_VK_MAX_COMMANDS, sizeof(*recording->commands));
    if (recording->commands == NULL)
        return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                                "%s: no memory for command buffers",
                                recorder->context->card->label);
    recording->n_commands = n;
    for (size_t i = 0; i < n && status == GGML_STATUS_SUCCESS; i++) {
        recording->commands[i].is_recorded = false;
        status = wait_for(recordings, &recording->commands[i]);
        if (status == GGML_STATUS_SUCCESS)
            status = gb_vk_commands_make(
                recorder, &recording->commands[i],
                recording->n_chunks > n ? GB_VK_CHUNK
                                        : recording->chunks[i].n);
    }
    return status;
}

static enum ggml_status
lay_out(struct gb_vk_recordings *recordings, struct gb_vk_recording *recording)
{
    enum ggml_status status =
        gb_vk_lay_out(recording, recordings->recorder.context,
                      &recordings->pace);

    if (status == GGML_STATUS_SUCCESS)
        status = make_commands(recordings, recording);
    recording->is_laid = status == GGML_STATUS_SUCCESS;
    return status;
}

/* A dispatch has changed: its command buffer is recorded anew, and has it alone
 * from now on. */
static void
note_change(void *data, struct gb_vk_dispatch *dispatch)
{
    struct gb_vk_recording *recording = data;

    for (size_t i = dispatch->chunk;
         i < recording->n_commands &&
         recording->chunks[i].first <=
             (size_t)(dispatch - recording->plan.dispatches);
         i++)
        recording->commands[i].is_recorded = false;
    if (!dispatch->is_moving && !recording->is_open)
        recording->is_laid = false;
    dispatch->is_moving = true;
}

/* ---- graphs ---- */

/* The recording for CGRAPH, which is in it; or, with *IS_NEW, one that is to be
 * made for it. */
static struct gb_vk_recording *
find(struct gb_vk_recordings *recordings, const struct ggml_cgraph *cgraph,
     bool *is_new)
{
    struct gb_vk_recording *oldest = &recordings->items[0];

    *is_new = true;
    for (int i = 0; i < GB_VK_RECORDINGS && recordings->pace.is_reusing; i++) {
        struct gb_vk_recording *recording = &recordings->items[i];
        const enum gb_vk_again again = gb_vk_plan_again(
            &recording->plan, recordings->recorder.context,
            &recordings->scratch, cgraph, note_change, recording);

        *is_new = again == GB_VK_ANOTHER || again == GB_VK_WORN;
        if (again != GB_VK_ANOTHER)
            return recording;
        if (recording->last_use < oldest->last_use)
            oldest = recording;
    }
    return oldest;
}

static enum ggml_status
make(struct gb_vk_recordings *recordings, struct gb_vk_recording *recording,
     const struct ggml_cgraph *cgraph)
{
    recording->is_laid = false;
    return gb_vk_plan_make(&recording->plan, recordings->recorder.context,
                           &recordings->scratch, recordings->number, cgraph);
}

/* A pipeline that is not there takes a while, and a plan may need several: threads
 * make them, in the order in which they will be asked for. */
static void
start_compilers(struct gb_vk_compilers *compilers,
                struct gb_vk_context *context, const struct gb_vk_plan *plan)
{
    struct gb_vk_collection wanted = { .n = 0 };

    for (size_t i = 0; i < plan->n_dispatches; i++)
        gb_vk_collection_add(&wanted, plan->dispatches[i].pipeline);
    gb_vk_compilers_begin(compilers, context, &wanted);
}

/* What came of a failure is not used again; what is too long to be kept is
 * not. */
static void
settle(struct gb_vk_recording *recording, enum ggml_status status)
{
    if (status != GGML_STATUS_SUCCESS && status != GGML_STATUS_ABORTED)
        gb_fuse_seen_clear(&recording->plan.seen);
    if (recording->n_chunks > recording->n_commands)
        gb_vk_plan_clear(&recording->plan);
}

/* All that follows walks the list. */
static enum ggml_status
check_list(const struct gb_vk_recordings *recordings,
           const struct ggml_cgraph *cgraph)
{
    char why[80];

    if (gb_node_list_is_whole(cgraph, why, sizeof(why)))
        return GGML_STATUS_SUCCESS;
    return ggmlbackend_fail(GGML_STATUS_FAILED, "%s: the graph %s",
                            recordings->recorder.context->card->label, why);
}

enum ggml_status
gb_vk_graph_run(
    struct gb_vk_recordings *recordings, const struct ggml_cgraph *cgraph,
    const struct gb_vk_abort *abort)
{
    struct gb_vk_compilers compilers = { .n_threads = 0 };
    enum ggml_status status = check_list(recordings, cgraph);
    struct gb_vk_recording *recording;
    bool is_new;

    if (status != GGML_STATUS_SUCCESS)
        return status;
    recording = find(recordings, cgraph, &is_new);
    recording->plan.cgraph = cgraph;
    recording->last_use = ++recordings->n_uses;
    if (is_new)
        status = make(recordings, recording, cgraph);
    if (status == GGML_STATUS_SUCCESS && !recording->is_laid)
        status = lay_out(recordings, recording);
    if (status == GGML_STATUS_SUCCESS && is_new)
        start_compilers(&compilers, recordings->recorder.context,
                        &recording->plan);
    if (status == GGML_STATUS_SUCCESS)
        status = submit_chunks(recordings, recording, abort);
    gb_vk_compilers_end(&compilers);
    settle(recording, status);
    return status;
}

enum ggml_status
gb_vk_recording_run(
    struct gb_vk_recordings *recordings, struct gb_vk_recording *recording)
{
    static const struct gb_vk_abort nobody = { .callback = NULL };
    const enum ggml_status status = lay_out(recordings, recording);

    return status == GGML_STATUS_SUCCESS
               ? submit_chunks(recordings, recording, &nobody) : status;
}
