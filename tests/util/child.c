/* SPDX-License-Identifier: MIT */
/*
 * tests/util/child.c - running a function in a process of its own.
 */
#include "tests/util/child.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* No status of a program that ends by itself. */
#define DONE 77

/* All there is; what does not fit is read and forgotten. */
static void
read_all(int fd, char *text, size_t size)
{
    char rest[512];
    size_t n = 0;

    for (;;) {
        const bool is_full = n + 1 >= size;
        const ssize_t got = is_full ? read(fd, rest, sizeof(rest))
                                    : read(fd, text + n, size - 1 - n);

        if (got <= 0)
            break;
        if (!is_full)
            n += (size_t)got;
    }
    text[n] = '\0';
}

void
gb_child_run(void (*run)(void), struct gb_child *out)
{
    int ends[2], status;
    pid_t pid;

    memset(out, 0, sizeof(*out));
    fflush(NULL);
    if (pipe(ends) != 0)
        return;
    pid = fork();
    if (pid == 0) {
        /* cmocka's handlers would go on with the parent's tests. */
        signal(SIGABRT, SIG_DFL);
        signal(SIGSEGV, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        run();
        exit(DONE); /* and counters of coverage are written */
    }
    close(ends[1]);
    if (pid > 0) {
        read_all(ends[0], out->errors, sizeof(out->errors));
        if (waitpid(pid, &status, 0) == pid) {
            out->is_done = WIFEXITED(status) && WEXITSTATUS(status) == DONE;
            out->is_aborted =
                WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
        }
    }
    close(ends[0]);
}

/* ---- with variables ---- */

static struct {
    void (*run)(void);
    const char *variables;
    const char *prefix;
} current;

static void
set_variables(const char *list)
{
    while (*list != '\0') {
        const size_t n = strcspn(list, " ");
        const char *const prefix = current.prefix;
        char one[512], name[sizeof(one) + 32];
        char *value;

        CHECK(n < sizeof(one));
        memcpy(one, list, n);
        one[n] = '\0';
        value = strchr(one, '=');
        CHECK(value != NULL);
        *value++ = '\0';
        snprintf(name, sizeof(name), "%s%s",
                 strncmp(one, prefix, strlen(prefix)) == 0
                     ? "GGMLBACKEND_TEST_"
                     : "",
                 one);
        setenv(name, value, 1);
        list += n + strspn(list + n, " ");
    }
}

static void
run_current(void)
{
    set_variables(current.variables);
    current.run();
}

void
gb_child_case(void (*run)(void), const char *variables, const char *prefix,
              const char **errors)
{
    static struct gb_child child;

    current.run = run;
    current.variables = variables;
    current.prefix = prefix;
    gb_child_run(run_current, &child);
    if (!child.is_done)
        fail_msg("[%s] %s", variables, child.errors);
    if (errors != NULL)
        *errors = child.errors;
}
