/* SPDX-License-Identifier: MIT */
/*
 * loader/direct.h - functions that name a backend, by what its registration offers.
 *
 * Clients of old name a backend in their code and never load modules, so the first
 * call does it for them.  Nothing here knows a backend: all is asked of its devices.
 *
 * A registration may be NULL, and has no devices then.
 */
#ifndef GB_LOADER_DIRECT_H
#define GB_LOADER_DIRECT_H

#include "ggml-backend.h"

#include <stdatomic.h>

struct gb_direct {
    const char *name;   /* of the registration */
    const char *module; /* libggml-<module>.so */
    /* Was it looked for in the folders?  Relaxed: nothing else hangs on it. */
    atomic_bool is_searched;
};

/* The registration of that name, after a look into the folders if need be; NULL
 * where there is none. */
ggml_backend_reg_t gb_direct_reg(struct gb_direct *direct);

/* Does BACKEND, which may be NULL, belong to a registration of that name? */
bool gb_direct_is(const struct gb_direct *direct, ggml_backend_t backend);

int gb_direct_count(ggml_backend_reg_t reg);

/* NULL, and nothing said, where there is no such device. */
ggml_backend_dev_t gb_direct_device(ggml_backend_reg_t reg, int device);

/*
 * What the functions of the headers do.  WHAT begins messages; those about memory
 * give NULL where there is no such device.
 */
ggml_backend_t gb_direct_init(
    ggml_backend_reg_t reg, const char *what, int device);
void gb_direct_description(
    ggml_backend_reg_t reg, const char *what, int device, char *description,
    size_t description_size);
void gb_direct_memory(
    ggml_backend_reg_t reg, const char *what, int device, size_t *free,
    size_t *total);
ggml_backend_buffer_type_t gb_direct_buffer_type(
    ggml_backend_reg_t reg, int device);
ggml_backend_buffer_type_t gb_direct_host_buffer_type(ggml_backend_reg_t reg);

#endif
