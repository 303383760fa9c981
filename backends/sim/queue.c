/* SPDX-License-Identifier: MIT */
/*
 * sim/queue.c - work that is done when somebody waits for it.
 *
 * A queue counts its jobs: those added, those wanted and those done.  Waiting
 * raises what is wanted; the thread does no more than that, or what has waited
 * for so long that it is due.  A job may wait for other queues; it only ever
 * waits for what was there before it, so no two wait for each other.
 */
#include "backends/sim/queue.h"

#include "ggmlbackend.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What the device has beside the lock. */
struct gb_sim_queue {
    struct gb_sim_queue *next;
    struct gb_sim_device *device;
    uint64_t number;
    pthread_t thread;
    bool is_ending;
    struct gb_sim_job *first, *last;
    uint64_t n_added, n_wanted, n_done;
    enum ggml_status failure; /* that nobody was told of yet */
    char reason[256];
};

struct wait_job {
    struct gb_sim_job job;
    struct gb_sim_mark mark;
};

static struct timespec
time_in(int64_t us)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += us / 1000000;
    time.tv_nsec += us % 1000000 * 1000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000;
    }
    return time;
}

static bool
is_due(const struct gb_sim_job *job)
{
    const struct timespec now = time_in(0);

    return now.tv_sec > job->due.tv_sec ||
           (now.tv_sec == job->due.tv_sec && now.tv_nsec >= job->due.tv_nsec);
}

/* Wait until there is a job to be done now; NULL when the queue ends. */
static struct gb_sim_job *
next_job(struct gb_sim_state *state, struct gb_sim_queue *queue)
{
    const bool has_delay = queue->device->config.delay_us >= 0;

    for (;;) {
        struct gb_sim_job *job = queue->first;

        if (job == NULL && queue->is_ending)
            return NULL;
        if (job != NULL && (queue->n_wanted > queue->n_done ||
                            (has_delay && is_due(job))))
            return job;
        if (job != NULL && has_delay)
            pthread_cond_timedwait(&state->changed, &state->lock, &job->due);
        else
            pthread_cond_wait(&state->changed, &state->lock);
    }
}

/* A device that was lost in between does nothing with what is queued. */
static enum ggml_status
run_job(struct gb_sim_job *job, struct gb_sim_device *device, bool is_lost)
{
    if (is_lost)
        return ggmlbackend_fail(GGML_STATUS_FAILED, "%s: the device is lost",
                                device->name);
    return job->run(job);
}

static void *
queue_main(void *data)
{
    struct gb_sim_queue *queue = data;
    struct gb_sim_state *state = gb_sim_lock();
    struct gb_sim_job *job;

    while ((job = next_job(state, queue)) != NULL) {
        const bool is_lost = queue->device->is_lost;
        enum ggml_status status;

        gb_sim_unlock();
        status = run_job(job, queue->device, is_lost);
        gb_sim_lock();

        if (status != GGML_STATUS_SUCCESS &&
            queue->failure == GGML_STATUS_SUCCESS) {
            queue->failure = status;
            strncpy(queue->reason, ggmlbackend_last_failure(),
                    sizeof(queue->reason) - 1);
        }
        queue->first = job->next;
        queue->n_done++;
        pthread_cond_broadcast(&state->changed);
        gb_sim_unlock();
        if (job->clear != NULL)
            job->clear(job);
        free(job);
        gb_sim_lock();
    }
    gb_sim_unlock();
    return NULL;
}

struct gb_sim_queue *
gb_sim_queue_new(struct gb_sim_device *device)
{
    struct gb_sim_queue *queue = gb_sim_alloc(device, sizeof(*queue));
    struct gb_sim_state *state;

    if (queue == NULL)
        goto no_memory;
    queue->device = device;
    if (pthread_create(&queue->thread, NULL, queue_main, queue) != 0)
        goto free_queue;
    state = gb_sim_lock();
    queue->number = ++state->last_queue;
    queue->next = state->queues;
    state->queues = queue;
    gb_sim_unlock();
    return queue;

free_queue:
    free(queue);
no_memory:
    ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED, "%s: no memory for a queue",
                     device->name);
    return NULL;
}

static struct gb_sim_queue *
queue_of(const struct gb_sim_state *state, struct gb_sim_mark mark)
{
    struct gb_sim_queue *queue = state->queues;

    while (queue != NULL && queue->number != mark.queue)
        queue = queue->next;
    return queue;
}

/* The queue may go meanwhile, when it is another thread's. */
static void
wait_for(struct gb_sim_state *state, struct gb_sim_mark mark)
{
    struct gb_sim_queue *queue;

    while ((queue = queue_of(state, mark)) != NULL &&
           queue->n_done < mark.n_jobs) {
        if (queue->n_wanted < mark.n_jobs) {
            queue->n_wanted = mark.n_jobs;
            pthread_cond_broadcast(&state->changed);
        }
        pthread_cond_wait(&state->changed, &state->lock);
    }
}

/* With the lock. */
static struct gb_sim_mark
mark_of(const struct gb_sim_queue *queue)
{
    return (struct gb_sim_mark){ queue->number, queue->n_added };
}

void
gb_sim_queue_free(struct gb_sim_queue *queue)
{
    struct gb_sim_state *state = gb_sim_lock();
    struct gb_sim_queue **link = &state->queues;

    wait_for(state, mark_of(queue));
    while (*link != queue)
        link = &(*link)->next;
    *link = queue->next;
    queue->is_ending = true;
    pthread_cond_broadcast(&state->changed);
    gb_sim_unlock();
    pthread_join(queue->thread, NULL);
    gb_sim_queue_report(queue);
    free(queue);
}

void *
gb_sim_job_new(struct gb_sim_queue *queue, size_t size)
{
    return gb_sim_alloc(queue->device, size);
}

void
gb_sim_queue_add(struct gb_sim_queue *queue, struct gb_sim_job *job)
{
    struct gb_sim_state *state = gb_sim_lock();
    const int64_t delay = queue->device->config.delay_us;

    job->next = NULL;
    job->due = time_in(delay > 0 ? delay : 0);
    if (queue->first == NULL)
        queue->first = job;
    else
        queue->last->next = job;
    queue->last = job;
    queue->n_added++;
    pthread_cond_broadcast(&state->changed);
    gb_sim_unlock();
}

struct gb_sim_mark
gb_sim_queue_mark(struct gb_sim_queue *queue)
{
    struct gb_sim_mark mark;

    gb_sim_lock();
    mark = mark_of(queue);
    gb_sim_unlock();
    return mark;
}

void
gb_sim_mark_wait(struct gb_sim_mark mark)
{
    wait_for(gb_sim_lock(), mark);
    gb_sim_unlock();
}

/* With the lock, which is given back: the client's log must not see it. */
static enum ggml_status
report_and_unlock(struct gb_sim_queue *queue)
{
    char reason[sizeof(queue->reason)];
    enum ggml_status failure = GGML_STATUS_SUCCESS;

    if (queue != NULL) {
        failure = queue->failure;
        memcpy(reason, queue->reason, sizeof(reason));
        queue->failure = GGML_STATUS_SUCCESS;
    }
    gb_sim_unlock();
    if (failure == GGML_STATUS_SUCCESS)
        return GGML_STATUS_SUCCESS;
    return ggmlbackend_fail(failure, "%s", reason);
}

enum ggml_status
gb_sim_queue_report(struct gb_sim_queue *queue)
{
    gb_sim_lock();
    return report_and_unlock(queue);
}

enum ggml_status
gb_sim_mark_report(struct gb_sim_mark mark)
{
    return report_and_unlock(queue_of(gb_sim_lock(), mark));
}

static enum ggml_status
run_wait(struct gb_sim_job *job)
{
    const struct wait_job *wait = (const struct wait_job *)job;

    gb_sim_mark_wait(wait->mark);
    return GGML_STATUS_SUCCESS;
}

bool
gb_sim_queue_wait(struct gb_sim_queue *queue, struct gb_sim_mark mark)
{
    struct wait_job *wait = gb_sim_job_new(queue, sizeof(*wait));

    if (wait == NULL)
        return false;
    wait->job.run = run_wait;
    wait->mark = mark;
    gb_sim_queue_add(queue, &wait->job);
    return true;
}

bool
gb_sim_drain(void)
{
    struct gb_sim_state *state = gb_sim_lock();
    struct gb_sim_queue *queue = state->queues;
    bool is_busy = false;

    while (queue != NULL) {
        if (queue->n_done < queue->n_added) {
            is_busy = true;
            wait_for(state, mark_of(queue));
            /* Others may have come or gone meanwhile. */
            queue = state->queues;
        } else {
            queue = queue->next;
        }
    }
    gb_sim_unlock();
    return is_busy;
}
