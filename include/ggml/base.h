/* SPDX-License-Identifier: MIT */
/*
 * ggml/base.h - part of ggml.h: API marks, limits, status, log, time.
 */
#ifndef GGML_H_PARTS
#error "include ggml.h instead of its parts"
#endif
#ifndef GGML_BASE_H
#define GGML_BASE_H

/*
 * Marks of declarations, for compilers that know GNU C's attributes; others do
 * without.  GGML_API and GGML_BACKEND_API mark what the library exports, which
 * is compiled with -fvisibility=hidden.  A client's macros, such as
 * GGML_SHARED, change nothing.
 */
#ifdef __GNUC__
#define GGML_API __attribute__((visibility("default"))) extern
#define GGML_ATTRIBUTE_FORMAT(...) __attribute__((format(printf, __VA_ARGS__)))
#define GGML_DEPRECATED(declaration, hint) \
    declaration __attribute__((deprecated(hint)))
#define GGML_NORETURN __attribute__((noreturn))
#define GGML_RESTRICT __restrict
#else
#define GGML_API extern
#define GGML_ATTRIBUTE_FORMAT(...)
#define GGML_DEPRECATED(declaration, hint) declaration
#define GGML_NORETURN
#define GGML_RESTRICT
#endif

/* For the CPU backend, which is a library of its own elsewhere. */
#define GGML_BACKEND_API GGML_API

/* Evaluates X and forgets it. */
#define GGML_UNUSED(x) (void)(x)

/*
 * For a client's code that is never reached: ends the process in builds for
 * debugging, and tells the compiler in others.
 */
#ifndef NDEBUG
#define GGML_UNREACHABLE() GGML_ABORT("reached what was said to be unreachable")
#elif defined(__GNUC__)
#define GGML_UNREACHABLE() __builtin_unreachable()
#else
#define GGML_UNREACHABLE() ((void)0)
#endif

/*
 * Files older than GGUF, which clients read by themselves: magic and version.
 */
#define GGML_FILE_MAGIC         0x67676d6c
#define GGML_FILE_VERSION       2

/*
 * Generation of the quantised formats; old files have type + factor * version.
 */
#define GGML_QNT_VERSION        2
#define GGML_QNT_VERSION_FACTOR 1000

/* Dimensions of a tensor, at most. */
#define GGML_MAX_DIMS 4

/* Sources of a node, at most. */
#define GGML_MAX_SRC 10

/* Bytes of a node's parameters. */
#define GGML_MAX_OP_PARAMS 64

/*
 * Bytes of a name with its terminator.  May be defined by a client before; it
 * changes struct ggml_tensor, so the library must have the same.
 */
#ifndef GGML_MAX_NAME
#define GGML_MAX_NAME 64
#endif

/* Not used. */
#define GGML_MAX_PARAMS 2048

/*
 * To what a context's pool aligns tensors and their data, in bytes; 4 where
 * addresses have 32 bits.
 */
#if UINTPTR_MAX == 0xFFFFFFFF
#define GGML_MEM_ALIGN 4
#else
#define GGML_MEM_ALIGN 16
#endif

/* Nodes that a graph has room for, and as many leafs, if nothing is said. */
#define GGML_DEFAULT_GRAPH_SIZE 2048

/* Threads of a pool or a plan: at most, and if nothing is said. */
#define GGML_MAX_N_THREADS     512
#define GGML_DEFAULT_N_THREADS 4

/* Exit codes of old programs. */
#define GGML_EXIT_SUCCESS 0
#define GGML_EXIT_ABORTED 1

/* Modes of rotary positions; VISION has the bit of MROPE. */
#define GGML_ROPE_TYPE_NEOX   2
#define GGML_ROPE_TYPE_MROPE  8
#define GGML_ROPE_TYPE_VISION 24

/* The rows of flash attention's mask are rounded up to a multiple of this. */
#define GGML_KQ_MASK_PAD 64

/* As many tasks as there are threads, for operations given by the client. */
#define GGML_N_TASKS_MAX (-1)

#ifdef __cplusplus
extern "C" {
#endif

/* -- Rounding up --------------------------------------------------------- */

/* X rounded up to a multiple of N, a power of two; N is evaluated twice. */
#define GGML_PAD(x, n) (((x) + (n) - 1) & ~((n) - 1))

/* -- Failures ------------------------------------------------------------ */

/*
 * What a call came to.  A failure, of a value below 0, leaves a reason behind,
 * which ggmlbackend_last_failure (ggmlbackend.h) gives.  ABORTED is what the
 * client's callback asked for, and no failure: it leaves none and is not
 * logged.
 */
enum ggml_status {
    GGML_STATUS_ALLOC_FAILED = -2,
    GGML_STATUS_FAILED       = -1,
    GGML_STATUS_SUCCESS      = 0,
    GGML_STATUS_ABORTED      = 1
};

/*
 * Asked by the thread that computes a graph, after each node that computed
 * something, the last one included.  True ends the graph: computing it gives
 * GGML_STATUS_ABORTED, after the last node too, when everything is done.
 *
 * Nodes up to the one after which it was asked are computed, and what they left
 * in memory can be read, as after a success; the nodes behind them have not
 * been touched.  The same graph may be computed again, with the same backend,
 * plan and pool, and starts from its first node.
 */
typedef bool (*ggml_abort_callback)(void *data);

/*
 * A sentence for STATUS; another value gives "GGML status: unknown".  Static.
 * Any thread.
 */
GGML_API const char *ggml_status_to_string(enum ggml_status status);

/*
 * End the process, for a client that asks for it: standard output is flushed,
 * "file:line: message" is written to standard error, and abort is called.  The
 * message is FMT with what follows it, as for printf.  Any thread.
 */
GGML_NORETURN GGML_ATTRIBUTE_FORMAT(3, 4)
GGML_API void ggml_abort(const char *file, int line, const char *fmt, ...);

/*
 * For a client's own checks; both end the process.  GGML_ASSERT is checked in
 * every build.  Both are expressions without a value, so that an else behind
 * them belongs to the client's own if.  The library itself uses neither.
 */
#define GGML_ABORT(...) ggml_abort(__FILE__, __LINE__, __VA_ARGS__)
#define GGML_ASSERT(x) \
    (!(x) ? GGML_ABORT("GGML_ASSERT(%s) failed", #x) : (void)0)

/* -- Log ----------------------------------------------------------------- */

/* NONE is text without a level; CONT goes on where the last message ended. */
enum ggml_log_level {
    GGML_LOG_LEVEL_NONE  = 0,
    GGML_LOG_LEVEL_DEBUG = 1,
    GGML_LOG_LEVEL_INFO  = 2,
    GGML_LOG_LEVEL_WARN  = 3,
    GGML_LOG_LEVEL_ERROR = 4,
    GGML_LOG_LEVEL_CONT  = 5
};

/*
 * Gets each message; TEXT ends with a newline unless a message of level CONT
 * follows, and is the callee's until it returns.  It is called by whatever
 * thread logs, by several at once too, and may call the library.
 */
typedef void (*ggml_log_callback)(
    enum ggml_log_level level, const char *text, void *user_data);

/*
 * Send all messages to LOG_CALLBACK with USER_DATA.  NULL brings the default
 * back, which writes warnings and errors to standard error (the environment's
 * GGMLBACKEND_LOG names another level).  Any thread; a message that is on its
 * way in another thread may still reach the sink before.
 */
GGML_API void ggml_log_set(ggml_log_callback log_callback, void *user_data);

/* -- Clock --------------------------------------------------------------- */

/* Does nothing: the clock needs no start.  Any thread. */
GGML_API void ggml_time_init(void);

/*
 * Milliseconds and microseconds of a clock that never goes back; only
 * differences mean anything.  Any thread.
 */
GGML_API int64_t ggml_time_ms(void);
GGML_API int64_t ggml_time_us(void);

/*
 * Processor time of the process, that of all its threads together, in units of
 * which ggml_cycles_per_ms go into a millisecond.  Any thread.
 */
GGML_API int64_t ggml_cycles(void);
GGML_API int64_t ggml_cycles_per_ms(void);

/* -- Files --------------------------------------------------------------- */

/*
 * fopen, with a name in UTF-8 on every system.  NULL when the file cannot be
 * opened (errno says why) or a parameter is NULL.  The caller closes it with
 * fclose.  Any thread.
 */
GGML_API FILE *ggml_fopen(const char *fname, const char *mode);

/* -- Identity of a backend ----------------------------------------------- */

/* Identifies a kind of backend. */
typedef uint8_t ggml_guid[16];
typedef ggml_guid *ggml_guid_t;

/* Are the 16 bytes equal?  False when one is NULL.  Any thread. */
GGML_API bool ggml_guid_matches(ggml_guid_t guid_a, ggml_guid_t guid_b);

#ifdef __cplusplus
}
#endif

#endif
