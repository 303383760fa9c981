/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/card.h - a physical card: what it is, and what the process has on
 * it.
 *
 * Two devices of the registration may be one card (GGMLBACKEND_GPU_DEVICES).
 * Context, kernels and copy stream belong to the card.
 */
#ifndef GB_CUDA_DEVICE_CARD_H
#define GB_CUDA_DEVICE_CARD_H

#include "backends/cuda/device/image.h"
#include "backends/cuda/driver/platform.h"
#include "backends/cuda/ops/emit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

/* A module of kernels that was loaded, or could not be. */
struct gb_cuda_card_module {
    const unsigned char *image;
    gb_cuda_module handle; /* NULL: it could not */
};

/* What trials of the vendor's BLAS found, and whether it is used at all. */
enum { GB_CUDA_BLAS_SHAPES = 64 };

struct gb_cuda_blas_findings {
    bool is_wanted; /* the environment says so; the same from the listing on */
    pthread_mutex_t lock; /* for what follows */
    bool is_off; /* it is missing, or a call of it failed */
    int n;
    struct {
        uint64_t shape;
        bool is_faster; /* than our own kernels */
    } shapes[GB_CUDA_BLAS_SHAPES];
};

struct gb_cuda_copier;

struct gb_cuda_card {
    /* What it is; the same from its listing on. */
    const struct gb_cuda_driver *driver;
    pid_t process;     /* that opened the driver: no other may use it */
    int handle;        /* the driver's */
    char label[16];    /* its first device's name, for messages */
    char name[96];
    char pci[32];      /* "00000000:01:00.0" */
    char uuid_text[48]; /* "GPU-…" as the vendor's tools have it, or "" */
    char driver_text[16]; /* what the driver serves, "13.0" */
    struct gb_cuda_arch arch;
    size_t memory;     /* bytes */
    size_t most_memory; /* that the process may take */
    int64_t spin_us;   /* that a wait asks before it sleeps; < 0: for ever */
    bool records_graphs; /* the environment lets it, and the driver can */
    bool fuses;          /* so it does this: groups of nodes in one kernel */
    bool overlaps;       /* and this: kernels that begin before others end */
    bool is_integrated;
    bool reads_pageable; /* memory of the host as well as its own */
    struct gb_cuda_image image;
    struct gb_cuda_limits limits; /* but for the variant */

    /* Goes down where a kernel is missing; relaxed, as any value is right. */
    atomic_int variant;

    /* Until its last backend is freed.  The reason is written before. */
    atomic_bool has_failed;
    pthread_mutex_t failure_lock;
    char failure[256];

    /* Under the lock. */
    pthread_mutex_t lock;
    gb_cuda_context context; /* NULL: nothing of ours is there */
    int n_users;             /* buffers, backends and events that hold it */
    int n_backends;          /* of these */
    atomic_uint generation;  /* of the context; changes when one is lost */
    size_t n_bytes;          /* that the process has taken */

    /* Under a lock of their own, since loading may take long. */
    pthread_mutex_t kernel_lock;
    struct gb_cuda_card_module modules[GB_CUDA_KERNEL_COUNT];
    int n_modules;
    /* Found under the lock, then read by anyone (acquire, release). */
    _Atomic(gb_cuda_function) functions[GB_CUDA_KERNEL_COUNT];

    struct gb_cuda_blas_findings blas;

    /* The blocking copies' own, under a lock of its own. */
    pthread_mutex_t copy_lock;
    struct gb_cuda_copier *copier; /* NULL: not used yet */
};

/*
 * Make CARD of the driver's device HANDLE.  False for one that cannot be used;
 * *REASON of SIZE bytes then says why.  LABEL is copied.
 */
bool gb_cuda_card_init(
    struct gb_cuda_card *card, const struct gb_cuda_driver *driver, int ordinal,
    const char *label, char *reason, size_t size);

/* What kernels are chosen by, now. */
struct gb_cuda_limits gb_cuda_card_limits(struct gb_cuda_card *card);

/* Free and total bytes, as the environment limits them; takes no context. */
void gb_cuda_card_memory(
    struct gb_cuda_card *card, size_t *free, size_t *total);

#endif
