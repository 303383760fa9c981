/* SPDX-License-Identifier: MIT */
/*
 * model/devices.h - the devices that a model's layers are divided over.
 *
 * Mostly there is one, which computes all.  Several have the layers in their
 * order, each as many as its share says.
 */
#ifndef TOOLS_MODEL_DEVICES_H
#define TOOLS_MODEL_DEVICES_H

#include "tools/model/device.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEVICES_MAX 16

/* Numbers whose proportions are those of the devices' layers. */
struct shares {
    double at[DEVICES_MAX];
    int n; /* 0: by free memory */
};

struct devices {
    struct device at[DEVICES_MAX];
    double share[DEVICES_MAX];
    int n;
    struct device cpu;  /* a scheduler's last one, if none of several is one */
    bool is_pipelined;  /* all of several queue their work and have events */
    char names[256];    /* "CUDA0,CUDA1" */
};

/* What lies on one of them. */
struct part {
    struct ggml_context *ctx;
    ggml_backend_buffer_t buffer;
};

/* The numbers of TEXT, OPTION's; false after a message, also where all are 0. */
bool shares_read(const char *option, const char *text, struct shares *shares);

/* How many devices NAMES lists, NULL for the best one. */
int devices_count(const char *names);

/* Does NAMES, the argument of OPTION, list names that may be devices, and not too
 * many?  False after a message. */
bool devices_are_named(const char *option, const char *names);

/*
 * Open the devices that NAMES lists, NULL for the best one, to be used as SHARES
 * say, which has as many; one whose share is 0 is not opened.  N_THREADS 0
 * leaves the number to the device.  False after a message.
 */
bool devices_open(struct devices *devices, const char *names,
                  const struct shares *shares, int n_threads);

void devices_close(struct devices *devices);

/* The number of the device that has layer IL of N. */
int devices_of_layer(const struct devices *devices, int64_t il, int64_t n);

/* A scheduler over all of several, for graphs of about N_TENSORS; NULL without
 * memory. */
ggml_backend_sched_t devices_new_sched(const struct devices *devices,
                                       size_t n_tensors);

/* The same as device_has_copied, of all of them. */
bool devices_have_copied(const struct devices *devices);

/* A part for each device, of room for N_TENSORS; NULL after a message. */
struct part *parts_new(const struct devices *devices, size_t n_tensors);

/* Memory on DEVICE for a part that has tensors; false without it. */
bool part_allocate(struct part *part, const struct device *device);

/* Clear N of them; NULL is allowed. */
void parts_free(struct part *parts, int n);

#endif
