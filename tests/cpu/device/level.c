/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/device/level.c - the environment names a level of kernels, or one
 * that is not there.
 *
 * The choice is made once in a process, so each case is a child of its own, and
 * the parent never makes it.
 */
#include "config.h"

#include "ggml.h"
#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Run CHECK in a child in whose environment LEVEL is named. */
static bool
holds_in_child(const char *level, bool (*check)(const char *level))
{
    pid_t child;
    int status;

    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (setenv("GGMLBACKEND_CPU_LEVEL", level, 1) != 0)
            exit(2);
        exit(check(level) ? 0 : 1); /* and counters of coverage are written */
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Is the last one in use, but for what is for tests, or the one in front of
 * avx512_bf16 if that is the last and was measured to be slower? */
static bool
is_best_in_use(void)
{
    const char *best = "";
    const char *level;

    for (size_t i = 0; (level = ggmlbackend_cpu_level_at(i)) != NULL; i++)
        if (strcmp(level, "amx_generic") != 0)
            best = level;
    level = ggmlbackend_cpu_level();
    return strcmp(level, best) == 0 ||
           (strcmp(best, "avx512_bf16") == 0 &&
            strcmp(level, "avx512_vbmi") == 0);
}

static bool
is_in_use(const char *level)
{
    return strcmp(ggmlbackend_cpu_level(), level) == 0 &&
           strstr(ggmlbackend_cpu_level_reason(), "names it") != NULL;
}

/* True too for a level that this machine has not. */
static bool
is_in_use_if_there(const char *level)
{
    for (size_t i = 0; ggmlbackend_cpu_level_at(i) != NULL; i++) {
        if (strcmp(ggmlbackend_cpu_level_at(i), level) == 0)
            return is_in_use(level);
    }
    return is_best_in_use();
}

static bool warned;

static void
note_warning(enum ggml_log_level level, const char *text, void *user_data)
{
    (void)user_data;
    warned = warned || (level == GGML_LOG_LEVEL_WARN &&
                        strstr(text, "nonsense") != NULL);
}

static bool
is_refused(const char *level)
{
    ggml_log_set(note_warning, NULL);
    return is_best_in_use() && warned &&
           strstr(ggmlbackend_cpu_level_reason(), level) != NULL;
}

static bool
is_best(const char *level)
{
    (void)level;
    return is_best_in_use() &&
           strstr(ggmlbackend_cpu_level_reason(), "best") != NULL;
}

static void
a_level_that_is_named_is_used(void **state)
{
    (void)state;
    assert_true(holds_in_child("generic", is_in_use));
    assert_true(holds_in_child("amx_generic", is_in_use));
    assert_true(holds_in_child("avx2", is_in_use_if_there));
    assert_true(holds_in_child("avx512", is_in_use_if_there));
}

static void
without_a_name_the_best_is_used(void **state)
{
    (void)state;
    assert_true(holds_in_child("", is_best));
}

static void
a_name_that_is_not_there_is_a_warning(void **state)
{
    (void)state;
    assert_true(holds_in_child("nonsense", is_refused));
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_level_that_is_named_is_used),
        cmocka_unit_test(without_a_name_the_best_is_used),
        cmocka_unit_test(a_name_that_is_not_there_is_a_warning),
    };

    return cmocka_run_group_tests_name(
        "choice of a level", tests, NULL, NULL);
}
