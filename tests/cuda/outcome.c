/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/outcome.c - what a user sees of a tiny model's run.
 */
#include "config.h"

#include "tests/cuda/outcome.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TIME_LIMIT = 60 }; /* seconds */

struct outcome_case outcome_case = { .name = "a run" };

static void
time_is_over(int number)
{
    static const char text[] = ": a run does not come to its end\n";

    (void)number;
    (void)!write(STDERR_FILENO, outcome_case.name, strlen(outcome_case.name));
    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    _exit(1);
}

/* With stderr going to FILE meanwhile. */
static void
run_into(FILE *file, const struct tiny_run *run, struct outcome *out)
{
    const int own = dup(STDERR_FILENO);
    size_t size;

    if (own < 0 || dup2(fileno(file), STDERR_FILENO) < 0)
        abort();
    signal(SIGALRM, time_is_over);
    alarm(TIME_LIMIT);
    out->is_done = tiny_model_run(run, &out->answer);
    alarm(0);
    if (dup2(own, STDERR_FILENO) < 0)
        abort();
    close(own);
    rewind(file);
    size = fread(out->said, 1, sizeof(out->said) - 1, file);
    out->said[size] = '\0';
}

void
outcome_of(const struct tiny_run *run, struct outcome *out)
{
    FILE *file = tmpfile();

    if (file == NULL)
        abort();
    run_into(file, run, out);
    fclose(file);
}

void
outcome_is_wrong(const char *what, const char *said)
{
    fprintf(stderr, "%s %d: %s: %s\n", outcome_case.name, (int)outcome_case.n,
            what, said);
    outcome_case.n_wrong++;
}

bool
outcome_is_right(const struct outcome *out, int n_tokens)
{
    const struct tiny_answer *right = &outcome_case.right;

    return memcmp(out->answer.tokens, right->tokens,
                  (size_t)n_tokens * sizeof(*right->tokens)) == 0 &&
           memcmp(out->answer.logits, right->logits,
                  (size_t)n_tokens * sizeof(*right->logits)) == 0;
}

/* Lines of the program's that are no warnings. */
static int
count_errors(const char *said)
{
    static const char own[] = "test: ", warning[] = "test: warning: ";
    int n = 0;

    for (; said != NULL; said = strchr(said, '\n')) {
        said += *said == '\n';
        n += strncmp(said, own, strlen(own)) == 0 &&
             strncmp(said, warning, strlen(warning)) != 0;
    }
    return n;
}

void
outcome_check(const struct outcome *out, const char *reason)
{
    if (out->is_done && !outcome_is_right(out, TINY_TOKENS))
        outcome_is_wrong("the answer is wrong", out->said);
    if (out->is_done && count_errors(out->said) != 0)
        outcome_is_wrong("an answer, and an error", out->said);
    if (!out->is_done && count_errors(out->said) != 1)
        outcome_is_wrong("not one line", out->said);
    if (!out->is_done && strstr(out->said, reason) == NULL)
        outcome_is_wrong("the reason is missing", out->said);
}
