/* SPDX-License-Identifier: MIT */
/*
 * cuda/driver/platform.h - what differs between the two vendors' drivers.
 *
 * platform.c answers for CUDA.  Where the same files are compiled for HIP,
 * GB_USE_HIP is defined and backends/hip has an answer of its own.
 */
#ifndef GB_CUDA_DRIVER_PLATFORM_H
#define GB_CUDA_DRIVER_PLATFORM_H

#include "backends/cuda/driver/driver.h"

struct gb_cuda_platform {
    const char *name;             /* of the registration; devices' begin so */
    const char *log_name;         /* begins a message about no single device */
    const char *const *libraries; /* the driver's, tried in turn; NULL ends */
    const char *const *blas;      /* the BLAS', in the same way */
    int least_version;            /* of a driver: 1000 * major + 10 * minor */
    const char *arch_word;        /* before a card's architecture: "compute" */
    const char *arch_option; /* of configure, for its code; NULL: not told */
    bool discrete_first; /* cards that share the host's memory are listed last */
    int most_changes;    /* of a recorded graph, then it is made anew; 0: any */
};

extern const struct gb_cuda_platform gb_cuda_platform;

/*
 * What the library's entry points do otherwise than driver.h says is put right
 * in DRIVER.  NULL, or (static) why that cannot be done.
 */
const char *gb_cuda_platform_adapt(
    struct gb_cuda_driver *driver, void *library);

/* What may be wrong where the driver does not start; NULL: nobody knows. */
const char *gb_cuda_platform_hint(void);

/*
 * What the driver of VERSION does wrong with recorded graphs on cards of ARCH, a
 * (static) text that goes on behind its name; NULL: nothing that is known.
 */
const char *gb_cuda_platform_graph_fault(int version, int arch);

/* An architecture: the number that images are chosen by, and people's word. */
struct gb_cuda_arch {
    int number; /* 90 for compute 9.0; 0x90a for gfx90a */
    char text[64];
};

/* The architecture of device HANDLE; otherwise the driver's result, and *OUT
 * is of no use. */
int gb_cuda_platform_arch(
    const struct gb_cuda_driver *driver, int handle, struct gb_cuda_arch *out);

/* UUID as the vendor's tools write it; a text of at most SIZE bytes. */
void gb_cuda_platform_uuid(
    const struct gb_cuda_uuid *uuid, char *text, size_t size);

#endif
