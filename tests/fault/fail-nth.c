/* SPDX-License-Identifier: MIT */
/*
 * tests/fault/fail-nth.c - a library to preload that lets the nth call of a
 * function fail.
 *
 *     FAIL_COUNTS=FILE           write how often each function was called
 *     FAIL_CALL=open FAIL_NTH=3  the third call of open fails
 *     FAIL_SIGNAL=15             that signal comes instead; the call is made
 *
 * Only calls that pass from one file to another are seen, so not those that the
 * C library makes for itself, but its calls of malloc.  Counted is from when
 * this library is initialised until the program exits.
 */
#define _GNU_SOURCE

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Name, result, parameters, arguments, what a failed call gives, its errno. */
#define CALLS(X)                                                              \
    X(malloc, void *, (size_t size), (size), NULL, ENOMEM)                    \
    X(realloc, void *, (void *old, size_t size), (old, size), NULL, ENOMEM)   \
    X(aligned_alloc, void *, (size_t align, size_t size), (align, size),      \
      NULL, ENOMEM)                                                           \
    X(posix_memalign, int, (void **out, size_t align, size_t size),           \
      (out, align, size), ENOMEM, 0)                                          \
    X(strdup, char *, (const char *text), (text), NULL, ENOMEM)               \
    X(strndup, char *, (const char *text, size_t n), (text, n), NULL, ENOMEM) \
    X(realpath, char *, (const char *path, char *out), (path, out), NULL,     \
      ENOMEM)                                                                 \
    X(read, ssize_t, (int fd, void *to, size_t n), (fd, to, n), -1, EIO)      \
    X(write, ssize_t, (int fd, const void *from, size_t n), (fd, from, n),    \
      -1, EIO)                                                                \
    X(pread, ssize_t, (int fd, void *to, size_t n, off_t at),                 \
      (fd, to, n, at), -1, EIO)                                               \
    X(mmap, void *, (void *at, size_t n, int prot, int flags, int fd,         \
      off_t from), (at, n, prot, flags, fd, from), MAP_FAILED, ENOMEM)        \
    X(fstat, int, (int fd, struct stat *out), (fd, out), -1, EIO)             \
    X(stat, int, (const char *path, struct stat *out), (path, out), -1,       \
      EACCES)                                                                 \
    X(fchmod, int, (int fd, mode_t mode), (fd, mode), -1, EPERM)              \
    X(fsync, int, (int fd), (fd), -1, EIO)                                    \
    X(rename, int, (const char *from, const char *to), (from, to), -1,        \
      EACCES)                                                                 \
    X(opendir, DIR *, (const char *path), (path), NULL, ENOMEM)               \
    X(fopen, FILE *, (const char *path, const char *mode), (path, mode),      \
      NULL, EMFILE)                                                           \
    X(fdopen, FILE *, (int fd, const char *mode), (fd, mode), NULL, ENOMEM)   \
    X(fread, size_t, (void *to, size_t size, size_t n, FILE *file),           \
      (to, size, n, file), 0, EIO)                                            \
    X(fclose, int, (FILE *file), (file), fail_close(file), EIO)               \
    X(pthread_create, int, (pthread_t *out, const pthread_attr_t *attr,       \
      void *(*run)(void *), void *arg), (out, attr, run, arg), EAGAIN, 0)

/* The same for files beyond 2 GiB, where those are functions of their own. */
#if defined(__GLIBC__)
#define CALLS_64(X)                                                           \
    X(pread64, ssize_t, (int fd, void *to, size_t n, off64_t at),             \
      (fd, to, n, at), -1, EIO)                                               \
    X(mmap64, void *, (void *at, size_t n, int prot, int flags, int fd,       \
      off64_t from), (at, n, prot, flags, fd, from), MAP_FAILED, ENOMEM)      \
    X(fstat64, int, (int fd, struct stat64 *out), (fd, out), -1, EIO)         \
    X(stat64, int, (const char *path, struct stat64 *out), (path, out), -1,   \
      EACCES)                                                                 \
    X(fopen64, FILE *, (const char *path, const char *mode), (path, mode),    \
      NULL, EMFILE)
#define OPEN_64(X) X(open64)
#else
#define CALLS_64(X)
#define OPEN_64(X)
#endif

/* Those that are written out below. */
#define OTHER_CALLS(X) X(calloc) X(open) OPEN_64(X) X(dlopen)

enum call {
#define NUMBER(name, ...) CALL_##name,
    CALLS(NUMBER) CALLS_64(NUMBER) OTHER_CALLS(NUMBER)
    N_CALLS
};

static const char *const names[N_CALLS] = {
#define NAME(name, ...) #name,
    CALLS(NAME) CALLS_64(NAME) OTHER_CALLS(NAME)
};

static atomic_long counts[N_CALLS];
static int failing = -1;
static long failing_nth;
static int failing_signal;
static bool is_counting;

/* Memory for what dlsym asks for before calloc is found. */
static _Alignas(16) char early[4096];
static size_t early_used;

/* Does this call of CALL fail? */
static bool
is_failing(enum call call)
{
    if (!is_counting ||
        atomic_fetch_add(&counts[call], 1) + 1 != failing_nth ||
        (int)call != failing)
        return false;
    if (failing_signal == 0)
        return true;
    raise(failing_signal);
    return false;
}

/* The next definition of NAME, kept in *KEPT. */
static void *
find(const char *name, void **kept)
{
    if (*kept == NULL)
        *kept = dlsym(RTLD_NEXT, name);
    return *kept;
}

/* The real function, as its own type: ISO C has no conversion for that. */
#define REAL(name, type)                                                      \
    static void *kept;                                                        \
    union {                                                                   \
        void *object;                                                         \
        type;                                                                 \
    } real;                                                                   \
    real.object = find(#name, &kept)

/* The file is closed, but what was in its buffer did not arrive. */
static int
fail_close(FILE *file)
{
    REAL(fclose, int (*call)(FILE *));
    real.call(file);
    errno = EIO;
    return EOF;
}

#define DEFINE(name, result, parameters, arguments, failed, error)            \
    result name parameters;                                                   \
    result name parameters                                                    \
    {                                                                         \
        REAL(name, result(*call) parameters);                                 \
        if (is_failing(CALL_##name)) {                                        \
            if (error != 0)                                                   \
                errno = error;                                                \
            return failed;                                                    \
        }                                                                     \
        return real.call arguments;                                           \
    }
CALLS(DEFINE)
CALLS_64(DEFINE)

void *
calloc(size_t n, size_t size)
{
    static bool is_looking;
    void *memory;

    if (is_looking) {
        memory = early + early_used;
        early_used += (n * size + 15) & ~(size_t)15;
        return early_used <= sizeof(early) ? memory : NULL;
    }
    is_looking = true;
    REAL(calloc, void *(*call)(size_t, size_t));
    is_looking = false;
    if (is_failing(CALL_calloc)) {
        errno = ENOMEM;
        return NULL;
    }
    return real.call(n, size);
}

void
free(void *memory)
{
    REAL(free, void (*call)(void *));
    if ((char *)memory < early || (char *)memory >= early + sizeof(early))
        real.call(memory);
}

#define DEFINE_OPEN(name)                                                     \
    int name(const char *path, int flags, ...);                               \
    int name(const char *path, int flags, ...)                                \
    {                                                                         \
        va_list args;                                                         \
        mode_t mode;                                                          \
        REAL(name, int (*call)(const char *, int, ...));                      \
        va_start(args, flags);                                                \
        mode = (flags & O_CREAT) != 0 ? va_arg(args, mode_t) : 0;             \
        va_end(args);                                                         \
        if (is_failing(CALL_##name)) {                                        \
            errno = EMFILE;                                                   \
            return -1;                                                        \
        }                                                                     \
        return real.call(path, flags, mode);                                  \
    }
DEFINE_OPEN(open)
OPEN_64(DEFINE_OPEN)

/* A failed one leaves its reason for dlerror. */
void *
dlopen(const char *path, int flags)
{
    REAL(dlopen, void *(*call)(const char *, int));
    return real.call(is_failing(CALL_dlopen) ? "/no/such/file" : path, flags);
}

__attribute__((constructor)) static void
begin(void)
{
    const char *call = getenv("FAIL_CALL"), *nth = getenv("FAIL_NTH");
    const char *number = getenv("FAIL_SIGNAL");

    for (int i = 0; call != NULL && i < N_CALLS; i++)
        if (strcmp(call, names[i]) == 0)
            failing = i;
    failing_nth = nth == NULL ? 0 : atol(nth);
    failing_signal = number == NULL ? 0 : atoi(number);
    is_counting = true;
}

static void
stop_counting(void)
{
    is_counting = false;
}

typedef int main_fn(int argc, char **argv, char **environment);

static main_fn *real_main;

/*
 * Programs built with --coverage read and write their counters after this
 * handler: a failure there would lose what programs before had counted.
 */
static int
run_main(int argc, char **argv, char **environment)
{
    return atexit(stop_counting) == 0 ? real_main(argc, argv, environment)
                                      : EXIT_FAILURE;
}

/* What a program's first instructions call. */
int __libc_start_main(main_fn *program, int argc, char **argv,
                      void (*init)(void), void (*fini)(void),
                      void (*unload)(void), void *stack_end);
int
__libc_start_main(main_fn *program, int argc, char **argv, void (*init)(void),
                  void (*fini)(void), void (*unload)(void), void *stack_end)
{
    REAL(__libc_start_main,
         int (*call)(main_fn *, int, char **, void (*)(void), void (*)(void),
                     void (*)(void), void *));
    real_main = program;
    return real.call(run_main, argc, argv, init, fini, unload, stack_end);
}

__attribute__((destructor)) static void
end(void)
{
    const char *path = getenv("FAIL_COUNTS");
    int fd;

    fd = path == NULL ? -1 : open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    for (int i = 0; fd >= 0 && i < N_CALLS; i++)
        dprintf(fd, "%s %ld\n", names[i], atomic_load(&counts[i]));
    if (fd >= 0)
        close(fd);
}
