/* SPDX-License-Identifier: MIT */
/*
 * sim/queue.h - a backend's work, done in its order by a thread of its own, as
 * late as can be.
 */
#ifndef GB_SIM_QUEUE_H
#define GB_SIM_QUEUE_H

#include "backends/sim/state.h"

/* A piece of work; the caller's struct begins with it. */
struct gb_sim_job {
    struct gb_sim_job *next;
    struct timespec due;
    /* Done by the queue's thread, without the lock; a failure is recorded. */
    enum ggml_status (*run)(struct gb_sim_job *job);
    /* Afterwards; the job itself is freed by the queue. */
    void (*clear)(struct gb_sim_job *job);
};

/* All work of a queue up to some point; of no queue: none. */
struct gb_sim_mark {
    uint64_t queue;
    uint64_t n_jobs;
};

/* NULL, with the reason recorded. */
struct gb_sim_queue *gb_sim_queue_new(struct gb_sim_device *device);

/* Do all that is left, and end the thread. */
void gb_sim_queue_free(struct gb_sim_queue *queue);

/* A zeroed job of SIZE bytes for the queue; NULL without memory. */
void *gb_sim_job_new(struct gb_sim_queue *queue, size_t size);

/* The queue owns the job from now on. */
void gb_sim_queue_add(struct gb_sim_queue *queue, struct gb_sim_job *job);

/* All that is in the queue now. */
struct gb_sim_mark gb_sim_queue_mark(struct gb_sim_queue *queue);

/* Have it done; at once if the queue is gone, and empty therefore. */
void gb_sim_mark_wait(struct gb_sim_mark mark);

/*
 * Tell the calling thread of a failure in the queue that nobody was told of
 * yet; GGML_STATUS_SUCCESS without one.
 */
enum ggml_status gb_sim_queue_report(struct gb_sim_queue *queue);
enum ggml_status gb_sim_mark_report(struct gb_sim_mark mark);

/* Later work of the queue waits for MARK.  False without memory. */
bool gb_sim_queue_wait(struct gb_sim_queue *queue, struct gb_sim_mark mark);

/* Do all work of all queues; is there any? */
bool gb_sim_drain(void);

#endif
