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

struct gb_cuda_blas_library;

struct gb_cuda_blas_platform {
    const char *const *names;    /* of the library, tried in turn; NULL ends */
    const char *const *statuses; /* their names, or NULL */
    int n_statuses;
    /*
     * Can the one in folder LIBRARY be called for cards of ARCH, "gfx90a", and
     * not end the process?  Where its files are looked for is in FILES of SIZE
     * bytes.  It is asked for each card that the driver shows, of a library in
     * the driver's folder.  NULL: any can, and it may lie anywhere.
     */
    bool (*serves)(
        const char *library, const char *arch, char *files, size_t size);
    /* Put right in BLAS what its entry points do otherwise than blas.h says;
     * NULL: nothing. */
    void (*adapt)(struct gb_cuda_blas_library *blas);
};

extern const struct gb_cuda_blas_platform gb_cuda_blas_platform;

#endif
