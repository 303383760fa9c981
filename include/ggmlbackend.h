/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend.h - what this library adds to the interface.
 *
 * All functions may be called from any thread.  Strings are static, or live as
 * long as the process, unless it is said otherwise.
 */
#ifndef GGMLBACKEND_H
#define GGMLBACKEND_H

#include "ggml.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gguf_context;
struct ggml_backend_device;
struct ggml_backend_feature;
struct ggml_backend_reg;

/* ---- version ---- */

#define GGMLBACKEND_VERSION_MAJOR 0
#define GGMLBACKEND_VERSION_MINOR 2
#define GGMLBACKEND_VERSION_PATCH 0

/* The library's version, "MAJOR.MINOR.PATCH"; the macros are this header's. */
GGML_API const char *ggmlbackend_version(void);

/* The API level that the library serves: 202503. */
GGML_API int ggmlbackend_api_level(void);

/* ---- failures ---- */

/*
 * The reason of the calling thread's last failed call, "" when none failed yet.
 * It is the thread's, and changes with its next failing call.
 */
GGML_API const char *ggmlbackend_last_failure(void);

/* Forget the calling thread's last failure. */
GGML_API void ggmlbackend_clear_failure(void);

/*
 * HOOK is called when a precondition of a public call is broken, with the
 * reason, by the thread that made the call.  The call fails in its usual way
 * after the hook returns.  NULL brings the default back, which does nothing
 * unless GGMLBACKEND_STRICT is 1 in the environment: then it ends the process.
 */
typedef void (*ggmlbackend_precondition_fn)(
    const char *reason, void *user_data);
GGML_API void ggmlbackend_set_precondition_hook(
    ggmlbackend_precondition_fn hook, void *user_data);

/* ---- for writers of backends ---- */

/*
 * For writers of backends: log the reason (a line without its newline) as an
 * error, make it the calling thread's last failure and give STATUS back.  A
 * member that returns nothing tells of a failure by this alone: the functions
 * above it that have a status to return then return GGML_STATUS_FAILED.
 */
GGML_ATTRIBUTE_FORMAT(2, 3)
GGML_API enum ggml_status ggmlbackend_fail(
    enum ggml_status status, const char *fmt, ...);

/*
 * Send one formatted message to the log's sink, as it is: a line's newline is
 * the caller's to write, and GGML_LOG_LEVEL_CONT goes on in the line.  The
 * macros of ggml-impl.h call it.
 */
GGML_ATTRIBUTE_FORMAT(2, 3)
GGML_API void ggmlbackend_log(enum ggml_log_level level, const char *fmt, ...);

/* ---- backends that are not for this machine ---- */

/*
 * For a module's ggml_backend_init, and what it calls: the backend finds nothing
 * to work with on this machine, which is no failure, and the reason (a line
 * without its newline) is for people.  Always NULL, which ggml_backend_init then
 * gives: return ggmlbackend_not_here("there is no %s", name).  The library keeps
 * the reason with the module (ggmlbackend_refused_get) and logs it as
 * information.
 */
GGML_ATTRIBUTE_FORMAT(1, 2)
GGML_API struct ggml_backend_reg *ggmlbackend_not_here(const char *fmt, ...);

/* ---- what is known of a device ---- */

/*
 * A registration may give a function of this type for the name
 * "ggmlbackend_dev_get_properties" (ggml_backend_reg_get_proc_address).  It
 * returns rows of names and values for people, the last with NULL as its name,
 * which live as long as the device.  Two names have a meaning: "PCI" is the
 * device's address, such as 0000:65:00.0, and "UUID" is the same in every
 * process, so that both tell whether two devices are one card.
 */
typedef const struct ggml_backend_feature *(*ggmlbackend_dev_get_properties_t)(
    struct ggml_backend_device *device);

/*
 * What a device can do at most, measured by its backend: a registration may give
 * a function of this type for the name "ggmlbackend_dev_measure_limits".  It
 * takes about a second, memory of its own, and its place beside other work on
 * the device, which makes the figures lower and is not disturbed otherwise.
 *
 * The caller sets the first three members; later versions add members at the
 * end, and a function fills those that SIZE has room for.  A figure is 0 where
 * the device cannot do it, or has not the memory.  On failure, which is told as
 * ggmlbackend_fail tells it, LIMITS is as it was.
 */
struct ggmlbackend_dev_limits {
    size_t size;       /* sizeof(struct ggmlbackend_dev_limits) */
    size_t max_memory; /* bytes that may be taken; 0: a quarter of what is free */
    double seconds;    /* that a sample of a figure lasts; 0: 0.02 */

    size_t cache;      /* bytes of the last cache; 0: not known */
    size_t array;      /* bytes that were read, and copied */
    double read;       /* bytes a second, beyond the cache */
    double copy;       /* bytes a second that are read and written */
    double f16;        /* operations a second: a multiplication or an addition */
    double bf16;
    double int8;
    double f32;
    double launch;     /* seconds from a kernel that does nothing to the next */
    double recorded_launch; /* the same in a recorded graph */
    double to_device;  /* bytes a second, from memory that is pinned */
    double to_host;

    uint32_t slowed;   /* GGMLBACKEND_SLOWED_BY_… of any sample */
    uint32_t unused;
};
typedef enum ggml_status (*ggmlbackend_dev_measure_limits_t)(
    struct ggml_backend_device *device, struct ggmlbackend_dev_limits *limits);

/* Why a device runs slower than it could: bits. */
enum ggmlbackend_slowed {
    GGMLBACKEND_SLOWED_BY_POWER = 1,   /* what it may take */
    GGMLBACKEND_SLOWED_BY_HEAT = 2,
    GGMLBACKEND_SLOWED_BY_SETTING = 4, /* clocks that somebody chose */
    GGMLBACKEND_SLOWED_BY_OTHER = 8,
};

/*
 * How a device is just now: a registration may give a function of this type for
 * the name "ggmlbackend_dev_get_state".  It disturbs nothing.  SIZE is as above;
 * what is not known is 0.  False, and STATE as it was, where nothing is known.
 */
struct ggmlbackend_dev_state {
    size_t size;
    double clock;        /* Hz, of its processors */
    double max_clock;
    double memory_clock;
    double power;        /* watts */
    double max_power;
    double temperature;  /* degrees Celsius */
    uint32_t slowed;     /* GGMLBACKEND_SLOWED_BY_… */
    uint32_t n_processes; /* that compute on it, the caller's too */
};
typedef bool (*ggmlbackend_dev_get_state_t)(
    struct ggml_backend_device *device, struct ggmlbackend_dev_state *state);

/* ---- profile ---- */

/* What of a step of a graph: its sources prepared, which may be for later steps as
 * well, its result computed, or put together. */
enum ggmlbackend_part {
    GGMLBACKEND_PART_PREPARE = 0,
    GGMLBACKEND_PART_RUN = 1,
    GGMLBACKEND_PART_FINISH = 2,
};

/*
 * NS nanoseconds were spent on PART of the step that computes NODE, by all threads
 * together; or, with NULL for NODE, the threads that took part were there for NS in
 * all, from a graph's beginning to its end, busy or waiting.
 */
typedef void (*ggmlbackend_profile_callback)(
    void *data, const struct ggml_tensor *node, enum ggmlbackend_part part,
    int64_t ns);

/*
 * Where the time goes: a registration may give a function of this type for the name
 * "ggmlbackend_set_profile".  From then on each graph that its devices compute is
 * told of step by step, on the thread that computes it, when it has ended; the order
 * is that of the work, and steps overlap where they do without a profile as well.
 * NULL for CALLBACK ends it.  It is for one caller in a process, while nothing is
 * computed.
 */
typedef void (*ggmlbackend_set_profile_t)(
    ggmlbackend_profile_callback callback, void *data);

/* ---- timeline ---- */

/*
 * The calling thread's track on the timeline, among those of the backend of that
 * name; 0 when no timeline is written, which is nearly always.  Asked for when a
 * computation begins.
 */
GGML_API int ggmlbackend_trace_track(const char *backend);

/* Nanoseconds of the timeline's clock, which begins anywhere. */
GGML_API int64_t ggmlbackend_trace_now(void);

/*
 * On TRACK, which may be another thread's while that waits, NAME lasted DURATION
 * nanoseconds from START on.  Spans of one track lie beside or in each other.
 * Track 0 takes nothing.
 */
GGML_API void ggmlbackend_trace_span(
    int track, const char *name, int64_t start, int64_t duration);

/*
 * Bring all spans so far to the file.  For the end of a computation that no
 * scheduler has asked for, since a process says nothing before it ends.
 */
GGML_API void ggmlbackend_trace_flush(void);

/* ---- level of CPU kernels ---- */

/*
 * Name of the level of CPU kernels in use ("generic", "amx_generic", "avx2",
 * "avx2_vnni", "avx512", "avx512_vnni", "avx512_vbmi", "avx512_bf16", "amx"; on
 * arm64 "neon", "dotprod", "i8mm", "sve"), and a sentence that says why it was
 * chosen; "" without the CPU backend.
 */
GGML_API const char *ggmlbackend_cpu_level(void);
GGML_API const char *ggmlbackend_cpu_level_reason(void);

/*
 * The INDEX-th level of CPU kernels that this library has and this machine can
 * run, the slowest first; NULL beyond the last.
 */
GGML_API const char *ggmlbackend_cpu_level_at(size_t index);

/* ---- environment ---- */

/* One environment variable that the library reads. */
struct ggmlbackend_env_entry {
    const char *name;
    const char *type;          /* "bool", "int", "string", "path" */
    const char *default_value; /* as text, "" when there is none */
    const char *help;          /* one sentence */
    const char *value;         /* what is in force, NULL when unset */
};

/*
 * How many environment variables the library knows, and the INDEX-th of them;
 * false, with nothing written, beyond the last.  All are read together, on
 * first use; a privileged program sees none of them.
 */
GGML_API size_t ggmlbackend_env_count(void);
GGML_API bool ggmlbackend_env_get(
    size_t index, struct ggmlbackend_env_entry *entry);

/*
 * The value in force of the variable called NAME; NULL when it is unset, and for
 * a name that is none of them.
 */
GGML_API const char *ggmlbackend_env_value(const char *name);

/* ---- strings of GGUF files ---- */

/*
 * Bytes of string I of the key with number KEY_ID; I is 0 for a single string.
 * Strings of a file may hold any bytes, zero bytes as well, and one zero byte that
 * is not counted follows each.  gguf_get_val_str and gguf_get_arr_str return the
 * string itself.  0, after a logged reason, without such a string.
 */
GGML_API size_t ggmlbackend_gguf_string_size(
    const struct gguf_context *ctx, int64_t key_id, size_t i);

/* ---- module files ---- */

/* One module that was tried and refused. */
struct ggmlbackend_refused_module {
    const char *path;
    const char *reason;
};

/*
 * Modules that were tried and refused so far, oldest first, each once for the
 * same reason; false, with nothing written, beyond the last.  A module that
 * stands here may have been loaded later.
 */
GGML_API size_t ggmlbackend_refused_count(void);
GGML_API bool ggmlbackend_refused_get(
    size_t index, struct ggmlbackend_refused_module *module);

/* Where the modules of this release are installed. */
GGML_API const char *ggmlbackend_module_folder(void);

/*
 * The file that a registered backend was loaded from; NULL for one that is part
 * of the library or that the program brought itself.
 */
GGML_API const char *ggmlbackend_module_path(struct ggml_backend_reg *reg);

/* ---- threads ---- */

/*
 * CPUs that the process may use, at least 1: those of the calling thread's
 * affinity mask, as far as the quota of the process's cgroups goes.
 */
GGML_API int ggmlbackend_n_cpus(void);

/*
 * Threads that a new CPU backend uses: GGMLBACKEND_N_THREADS of the environment
 * if it is set, else the smaller of GGML_DEFAULT_N_THREADS and
 * ggmlbackend_n_cpus.
 */
GGML_API int ggmlbackend_default_n_threads(void);

#ifdef __cplusplus
}
#endif

#endif
