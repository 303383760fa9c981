/* SPDX-License-Identifier: MIT */
/*
 * sim/sim.h - devices that are not there, for tests.
 *
 * The registration "Sim" has devices Sim0, Sim1 … of type GPU.  Each computes
 * with the CPU's own kernels, so that results are those of the CPU to the bit,
 * and is otherwise as unlike the CPU as a device can be:
 *
 * - its memory has addresses that the host cannot touch: a copy that was
 *   forgotten is a fault where it happens;
 * - each backend has a queue with a thread of its own, which runs late: only
 *   when somebody waits for the work, or after a delay.  A wait that was
 *   forgotten gives old data;
 * - a blocking copy does not wait for any queue, and an asynchronous copy
 *   between devices runs in the source's queue: neither waits for what the
 *   destination's queue still has to read;
 * - every optional member of the interface's tables can be missing, operations
 *   and types can be, memory is limited, and the n-th call of a kind fails.
 *
 * Programs that know nothing of this file have one environment variable,
 * GGMLBACKEND_SIM, a list of settings such as "devices=4,delay=100"; config.c
 * has all of them, and "none" stands for a machine without the devices.  Tests link the device in and call the functions below, or
 * ask a loaded module for them with ggml_backend_reg_get_proc_address; names
 * and types stand beside them.
 *
 * All functions may be called from any thread.
 */
#ifndef GB_SIM_SIM_H
#define GB_SIM_SIM_H

#include "ggml-backend-impl.h"

#define GB_SIM_MAX_DEVICES 64

enum gb_sim_member {
#define GB_SIM_MEMBER(id, name) GB_SIM_##id,
#include "backends/sim/members.def"
#undef GB_SIM_MEMBER
    GB_SIM_MEMBER_COUNT
};

/* What a device is like. */
struct gb_sim_config {
    size_t memory;       /* bytes that it has */
    size_t max_buffer;   /* bytes of its largest buffer */
    size_t alignment;    /* of tensors, a power of two */
    size_t padding;      /* bytes that a tensor takes beyond its data */
    int64_t delay_us;    /* until queued work runs unasked; below 0: never */
    int64_t offload_min; /* rows of an operation worth an offload; 0: none is */
    bool without[GB_SIM_MEMBER_COUNT];
    bool without_op[GGML_OP_COUNT];
    bool without_type[GGML_TYPE_COUNT];
};

/*
 * The settings of a device that nobody has configured: 8 GiB, or 2 GiB where
 * sizes have 32 bits, alignment 128,
 * work that runs when waited for, offload from 32 rows on; all members but
 * from_host_ptr, as most GPUs have it.
 */
void gb_sim_default(struct gb_sim_config *out);

/*
 * Change *n_devices and *config as SETTINGS (config.c) say; false, with neither
 * changed, for what is wrong with them.
 *
 * "ggml_backend_sim_parse"
 */
bool gb_sim_parse(
    const char *settings, int *n_devices, struct gb_sim_config *config);
typedef bool (*gb_sim_parse_fn)(
    const char *settings, int *n_devices, struct gb_sim_config *config);

/*
 * Let devices FIRST to FIRST + N - 1 be so from now on.  There are as many
 * devices as that needs afterwards; a registry that has the registration
 * already keeps those that it knows.  Buffers and backends that live keep the
 * members that they have.  False, with nothing changed, for what no device can
 * be and for more than GB_SIM_MAX_DEVICES.
 *
 * "ggml_backend_sim_configure"; "ggml_backend_sim_default" for the above.
 */
bool gb_sim_configure(int first, int n, const struct gb_sim_config *config);
typedef bool (*gb_sim_configure_fn)(
    int first, int n, const struct gb_sim_config *config);
typedef void (*gb_sim_default_fn)(struct gb_sim_config *out);

/* What fails. */
enum gb_sim_fault {
    GB_SIM_FAULT_ALLOC,   /* memory: buffers, backends, events, queued work */
    GB_SIM_FAULT_COPY,    /* set, get, fill, copy, at once or queued */
    GB_SIM_FAULT_COMPUTE, /* a graph, when it is handed over */
    GB_SIM_FAULT_RUN,     /* a graph, when its turn in the queue comes */
    GB_SIM_FAULT_LOST,    /* any of these: the device is lost with it */
    GB_SIM_FAULT_COUNT
};

/*
 * Let the NTH call of that kind from now on fail, on whatever device; 1 is the
 * next, 0 none.  A device that is lost fails in everything until all of its
 * backends are freed.
 *
 * "ggml_backend_sim_fail"
 */
void gb_sim_fail(enum gb_sim_fault fault, uint64_t nth);
typedef void (*gb_sim_fail_fn)(enum gb_sim_fault fault, uint64_t nth);

/* How often that happened, or how much there is now. */
struct gb_sim_counters {
    uint64_t buffers, bytes, backends, events, plans; /* that live */
    uint64_t alloc, clear, reset, init_tensor;
    uint64_t set, get, fill, copy;
    uint64_t set_async, get_async, copy_async;
    uint64_t compute, nodes, synchronize;
    uint64_t event_record, event_wait, event_synchronize;
    uint64_t failed;    /* calls that failed, injected ones and others */
    uint64_t freed_busy; /* buffers freed while work was queued that may use
                            them; the queues were emptied first */
};

/*
 * Of all devices together.
 *
 * "ggml_backend_sim_count"
 */
void gb_sim_count(struct gb_sim_counters *out);
typedef void (*gb_sim_count_fn)(struct gb_sim_counters *out);

/*
 * The registration; NULL when GGMLBACKEND_SIM has what no device can be, which
 * is logged, and when it is "none".
 */
ggml_backend_reg_t ggml_backend_sim_reg(void);

#endif
