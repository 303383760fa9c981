/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/device.h - devices as the interface knows them, and their kinds
 * of memory.
 */
#ifndef GB_CUDA_DEVICE_DEVICE_H
#define GB_CUDA_DEVICE_DEVICE_H

#include "backends/cuda/device/card.h"

#include "ggml-backend-impl.h"

/* Most devices of the registration, as ggml-cuda.h has it. */
#define GB_CUDA_MAX_DEVICES 16

#define GB_CUDA_MAX_PROPERTIES 8

struct gb_cuda_device {
    struct ggml_backend_device handle;
    struct ggml_backend_buffer_type buft;
    struct gb_cuda_card *card;
    int index;
    char name[16];         /* "CUDA0" */
    char description[128]; /* the card's name */
    struct ggml_backend_feature properties[GB_CUDA_MAX_PROPERTIES];
};

/* Set a device's tables up; the card is known. */
void gb_cuda_device_init(
    struct gb_cuda_device *device, ggml_backend_reg_t reg, int index);

/* The device behind a handle; NULL for another backend's. */
struct gb_cuda_device *gb_cuda_device_of(ggml_backend_dev_t dev);

/* The INDEX-th device; NULL beyond the last. */
struct gb_cuda_device *gb_cuda_device_at(int index);
int gb_cuda_device_count(void);

/*
 * The card in whose context memory of the host is pinned: one that has a
 * context already, or else the first; NULL without devices.
 */
struct gb_cuda_card *gb_cuda_card_for_host(void);

/* ---- kinds of memory ---- */

void gb_cuda_buffer_type_init(struct gb_cuda_device *device);
bool gb_cuda_is_buffer_type(ggml_backend_buffer_type_t buft);

/* Pinned memory of the host, for all devices. */
struct gb_cuda_host_type {
    struct ggml_backend_buffer_type buft;
    char name[16];       /* "CUDA_Host" */
    atomic_flag is_told; /* that there was none, once */
};

void gb_cuda_host_type_init(
    struct gb_cuda_host_type *type, struct gb_cuda_device *first);
/* The registration's. */
ggml_backend_buffer_type_t gb_cuda_host_buffer_type(void);

/* A buffer over memory of the host that the card reads as it does its own. */
ggml_backend_buffer_t gb_cuda_buffer_from_host(
    ggml_backend_dev_t dev, void *memory, size_t size,
    size_t max_tensor_size);

/* ---- backends and events ---- */

ggml_backend_t gb_cuda_backend_new(struct gb_cuda_device *device);
bool gb_cuda_is_backend(ggml_backend_t backend);
void gb_cuda_set_abort_callback(
    ggml_backend_t backend, ggml_abort_callback callback, void *data);

ggml_backend_event_t gb_cuda_event_new(ggml_backend_dev_t dev);
void gb_cuda_event_free(ggml_backend_dev_t dev, ggml_backend_event_t event);
void gb_cuda_event_synchronize(
    ggml_backend_dev_t dev, ggml_backend_event_t event);

#endif
