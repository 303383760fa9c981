/* SPDX-License-Identifier: MIT */
/*
 * sim/state.h - what the files of the simulated device share.
 *
 * One lock protects all that is here, but what is read only; nothing is
 * computed or copied while it is held.
 */
#ifndef GB_SIM_STATE_H
#define GB_SIM_STATE_H

#include "backends/sim/sim.h"

#include <pthread.h>

struct gb_sim_device {
    struct ggml_backend_device handle;
    struct ggml_backend_buffer_type buft;
    struct ggml_backend_buffer_type host_buft;
    char name[16];
    char description[32];
    char pci[16], uuid[40];
    struct ggml_backend_feature properties[3];
    struct gb_sim_config config;
    struct gb_sim_counters counters;
    bool is_lost;
};

struct gb_sim_queue;

struct gb_sim_state {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a queue's counters, or what it shall do */
    struct gb_sim_device *devices[GB_SIM_MAX_DEVICES];
    int n_devices;
    struct gb_sim_queue *queues; /* all that live */
    uint64_t last_queue;         /* number of the newest */
    uint64_t faults[GB_SIM_FAULT_COUNT]; /* calls to go; 0: none fails */
};

struct gb_sim_state *gb_sim_lock(void);
void gb_sim_unlock(void);

/* The device behind a handle; NULL for another backend's device. */
struct gb_sim_device *gb_sim_device_of(ggml_backend_dev_t dev);

/* Set a new device's tables up, and again for another configuration. */
void gb_sim_device_init(struct gb_sim_device *device);
void gb_sim_buffer_types_init(struct gb_sim_device *device);

/* A buffer of the device's own kind over memory that the host can touch too. */
ggml_backend_buffer_t gb_sim_buffer_from_host_ptr(
    ggml_backend_dev_t dev, void *ptr, size_t size, size_t max_tensor_size);

/*
 * Count a call on DEVICE, whose counter is *counter.  False when it has to
 * fail.
 */
bool gb_sim_begin(
    struct gb_sim_device *device, enum gb_sim_fault fault, uint64_t *counter);

bool gb_sim_is_lost(const struct gb_sim_device *device);

/* Add to a counter of what lives; a negative N takes away. */
void gb_sim_add(uint64_t *counter, int64_t n);

/* SIZE zeroed bytes for a device's own use; NULL like any allocation. */
void *gb_sim_alloc(struct gb_sim_device *device, size_t size);

/*
 * Where the device has what the host knows as TENSOR's data; NULL for a tensor
 * that does not lie in memory of DEVICE (of any, for NULL).
 */
char *gb_sim_shadow(
    const struct gb_sim_device *device, const struct ggml_tensor *tensor);

/* The buffer of TENSOR, which has a shadow, as the CPU sees it. */
ggml_backend_buffer_t gb_sim_inside(const struct ggml_tensor *tensor);

/* The buffer that holds the tensor's data, a view's source's; NULL for none. */
static inline ggml_backend_buffer_t
gb_sim_home(const struct ggml_tensor *tensor)
{
    return tensor->view_src != NULL ? tensor->view_src->buffer : tensor->buffer;
}

static inline bool
gb_sim_lacks(const struct gb_sim_device *device, enum gb_sim_member member)
{
    return device->config.without[member];
}

/* Can a device be so? */
bool gb_sim_config_is_good(const struct gb_sim_config *config);

/* A backend on DEVICE, and is BACKEND one of those? */
ggml_backend_t gb_sim_backend_new(struct gb_sim_device *device);
bool gb_sim_is_backend(ggml_backend_t backend);

/* Events of a device; its backends record them and wait for them. */
ggml_backend_event_t gb_sim_event_new(ggml_backend_dev_t dev);
void gb_sim_event_free(ggml_backend_dev_t dev, ggml_backend_event_t event);
void gb_sim_event_synchronize(
    ggml_backend_dev_t dev, ggml_backend_event_t event);

#endif
