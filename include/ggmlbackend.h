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

#define GGMLBACKEND_VERSION_MAJOR 0
#define GGMLBACKEND_VERSION_MINOR 2
#define GGMLBACKEND_VERSION_PATCH 0

/* The library's version, "MAJOR.MINOR.PATCH"; the macros are this header's. */
GGML_API const char *ggmlbackend_version(void);

/* The API level that the library serves: 202503. */
GGML_API int ggmlbackend_api_level(void);

/*
 * The reason of the calling thread's last failed call, "" when none failed yet.
 * It is the thread's, and changes with its next failing call.
 */
GGML_API const char *ggmlbackend_last_failure(void);

/* Forget the calling thread's last failure. */
GGML_API void ggmlbackend_clear_failure(void);

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
 * Name of the level of CPU kernels in use ("generic", "avx2", "avx2_vnni",
 * "avx512", "avx512_vnni", "avx512_bf16"; on arm64 "neon", "dotprod", "i8mm",
 * "sve"), and a sentence that says why it was chosen; "" without the CPU backend.
 */
GGML_API const char *ggmlbackend_cpu_level(void);
GGML_API const char *ggmlbackend_cpu_level_reason(void);

/*
 * The INDEX-th level of CPU kernels that this library has and this machine can
 * run, the slowest first; NULL beyond the last.
 */
GGML_API const char *ggmlbackend_cpu_level_at(size_t index);

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

struct ggml_backend_reg;

/*
 * The file that a registered backend was loaded from; NULL for one that is part
 * of the library or that the program brought itself.
 */
GGML_API const char *ggmlbackend_module_path(struct ggml_backend_reg *reg);

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

/*
 * Threads that a new CPU backend uses: the smaller of GGML_DEFAULT_N_THREADS
 * and the CPUs that the process may use (affinity mask and cgroup quota).
 */
GGML_API int ggmlbackend_default_n_threads(void);

/*
 * Send one formatted message to the log's sink, as it is: a line's newline is
 * the caller's to write, and GGML_LOG_LEVEL_CONT goes on in the line.  The
 * macros of ggml-impl.h call it.
 */
GGML_ATTRIBUTE_FORMAT(2, 3)
GGML_API void ggmlbackend_log(enum ggml_log_level level, const char *fmt, ...);

#ifdef __cplusplus
}
#endif

#endif
