/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/run/converse.c - conversations on a terminal, and interrupts.
 */
#include "config.h"

#include "tests/tools/run/program.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define CTRL_C "\x03"
#define CTRL_D "\x04"

#define USER   "<|im_start|>user\n"
#define ANSWER "<|im_end|>\n<|im_start|>assistant\n"

static const char *
model(void)
{
    make_model("model", "-a llama -p smollm -s 19");
    return in_folder("model");
}

/* The same without an end: none of its first tokens, among which are all that
 * end an answer, is ever the best one. */
static const char *
endless_model(void)
{
    struct ggml_context *ctx;
    const struct gguf_init_params params = { false, &ctx };
    struct gguf_context *gguf = gguf_init_from_file(model(), params);
    struct ggml_tensor *rows; /* of the output, too */

    assert_non_null(gguf);
    rows = ggml_get_tensor(ctx, "token_embd.weight");
    assert_non_null(rows);
    memset(rows->data, 0, 3 * rows->nb[1]);
    write_model("endless", gguf, ctx);
    return in_folder("endless");
}

/* A terminal shows the keys, too, in front of the answer. */
static void
ask(struct terminal *t, const char *message)
{
    terminal_type(t, message);
    terminal_type(t, "\n");
    terminal_wait(t, "\n> ");
}

/* The answer to a whole prompt, as a terminal shows it. */
static struct result
answer_to(const char *prompt)
{
    char arguments[600];

    write_file("prompt", prompt, strlen(prompt));
    snprintf(arguments, sizeof(arguments),
             "-m %s --special -n 3 -f %s 2>/dev/null", model(),
             in_folder("prompt"));
    return run_on_terminal("ggmlbackend-run", arguments);
}

/*
 * The second answer knows the first message and its answer.  What the terminal
 * shows of that is the text itself, as it is of printable characters here.
 */
static void
what_was_said_is_the_context_of_what_is_said_next(void **state)
{
    char arguments[300], prompt[800], wanted[600];
    struct terminal t;
    struct result first, second, r;

    (void)state;
    first = answer_to(USER "the" ANSWER);
    assert_null(strstr(first.out, "\\x"));
    first.out[strcspn(first.out, "\r\n")] = '\0';
    snprintf(prompt, sizeof(prompt), USER "the%s%s<|im_end|>\n" USER "and%s",
             ANSWER, first.out, ANSWER);
    second = answer_to(prompt);
    second.out[strcspn(second.out, "\r\n")] = '\0';
    assert_string_not_equal(first.out, second.out);

    snprintf(arguments, sizeof(arguments), "-m %s --chat -n 3", model());
    terminal_open(&t, "ggmlbackend-run", arguments);
    terminal_wait(&t, "\n> ");
    ask(&t, "the");
    ask(&t, "and");
    terminal_type(&t, CTRL_D);
    r = terminal_close(&t);
    assert_int_equal(r.status, 0);
    snprintf(wanted, sizeof(wanted), "> the\r\n%s\r\n", first.out);
    if (strstr(r.out, wanted) == NULL)
        fail_msg("no '%s' in %s", wanted, r.out);
    snprintf(wanted, sizeof(wanted), "> and\r\n%s\r\n", second.out);
    if (strstr(r.out, wanted) == NULL)
        fail_msg("no '%s' in %s", wanted, r.out);
    assert_non_null(strstr(r.out, "2 answers, "));
    assert_non_null(strstr(r.out, "cut after 3 tokens, see -n"));
    result_free(&first);
    result_free(&second);
    result_free(&r);
}

/* A context that holds one question alone; one that no context holds. */
static void
what_is_too_long_is_forgotten(void **state)
{
    char arguments[300], line[400];
    struct terminal t;
    struct result r;

    (void)state;
    snprintf(arguments, sizeof(arguments), "-m %s --chat -n 6 -c 90", model());
    terminal_open(&t, "ggmlbackend-run", arguments);
    terminal_wait(&t, "\n> ");
    ask(&t, "abcdefghijklmnopqrstuvwxyz abcdefg");
    ask(&t, "abcdefghijklmnopqrstuvwxyz");
    memset(line, 'a', 300);
    line[300] = '\0';
    ask(&t, line);
    ask(&t, "b");
    terminal_type(&t, CTRL_D);
    r = terminal_close(&t);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "the context is full; 1 of the oldest"));
    assert_non_null(strstr(r.out, "the message has "));
    assert_non_null(strstr(r.out, "3 answers, "));
    result_free(&r);
}

/* Endless, and slow enough to be interrupted. */
#define ENDLESS "-n -1 -c 200000 -t 1 --no-flash-attn"

static void
an_interrupt_ends_an_answer_and_not_the_conversation(void **state)
{
    char arguments[300];
    struct terminal t;
    struct result r;

    (void)state;
    snprintf(arguments, sizeof(arguments), "-m %s --chat " ENDLESS,
             endless_model());
    terminal_open(&t, "ggmlbackend-run", arguments);
    terminal_wait(&t, "\n> ");
    for (int i = 0; i < 3; i++) {
        terminal_type(&t, "the hello\n");
        terminal_wait(&t, "hello\r\n");
        usleep(100000);
        terminal_type(&t, CTRL_C);
        terminal_wait(&t, "\n> ");
    }
    /* Where nothing is answered it throws away what was typed. */
    terminal_type(&t, "abc" CTRL_C);
    terminal_wait(&t, "(Ctrl-D ends");
    terminal_wait(&t, "> ");
    terminal_type(&t, CTRL_D);
    r = terminal_close(&t);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.out, "3 answers, "));
    result_free(&r);
}

static void
a_second_interrupt_ends_the_program(void **state)
{
    char arguments[300];
    struct terminal t;
    struct result r;

    (void)state;
    snprintf(arguments, sizeof(arguments), "-m %s --chat", model());
    terminal_open(&t, "ggmlbackend-run", arguments);
    terminal_wait(&t, "\n> ");
    terminal_type(&t, CTRL_C);
    terminal_wait(&t, "(Ctrl-D ends");
    terminal_type(&t, CTRL_C);
    r = terminal_close(&t);
    assert_int_equal(r.status, -SIGINT);
    result_free(&r);
}

/* True if the process CHILD is the program itself, no shell that will start it, and
 * catches SIGINT. */
static bool
catches_interrupts(pid_t child)
{
    unsigned long long caught = 0;
    char name[64], line[200] = "";
    FILE *f;

    snprintf(name, sizeof(name), "/proc/%d/exe", (int)child);
    if (readlink(name, line, sizeof(line) - 1) > 0 &&
        strstr(line, "ggmlbackend-run") == NULL)
        return false;
    snprintf(name, sizeof(name), "/proc/%d/status", (int)child);
    f = fopen(name, "r");
    if (f == NULL)
        return true;
    while (fgets(line, sizeof(line), f) != NULL &&
           sscanf(line, "SigCgt: %llx", &caught) != 1)
        continue;
    fclose(f);
    return (caught >> (SIGINT - 1) & 1) != 0;
}

/* Run with OPTIONS and interrupt what is computed: a second after the program
 * catches interrupts, however late it does. */
static struct result
interrupted(const char *options)
{
    char arguments[400];
    struct terminal t;

    snprintf(arguments, sizeof(arguments), "-m %s %s", endless_model(), options);
    terminal_open(&t, "ggmlbackend-run", arguments);
    for (int i = 0; i < 3000 && !catches_interrupts(t.child); i++)
        usleep(10000);
    usleep(1000000);
    terminal_type(&t, CTRL_C);
    return terminal_close(&t);
}

/* The JSON object between the messages on the terminal. */
static json_t *
object_in(const struct result *r)
{
    char *begin = strchr(r->out, '{'), *end = strrchr(r->out, '}');
    json_t *json;

    assert_non_null(begin);
    assert_non_null(end);
    json = json_loadb(begin, (size_t)(end - begin) + 1, JSON_ALLOW_NUL, NULL);
    if (json == NULL)
        fail_msg("no JSON: %s", r->out);
    return json;
}

static void
check_text(const json_t *json, const char *key, const char *wanted)
{
    const char *text = json_string_value(json_object_get(json, key));

    assert_non_null(text);
    assert_string_equal(text, wanted);
}

static void
an_interrupted_text_is_kept_and_reported(void **state)
{
    struct result r = interrupted("-p 'the hello' " ENDLESS);
    json_t *json;

    (void)state;
    assert_int_equal(r.status, -SIGINT);
    assert_non_null(strstr(r.out, "tokens/s; stopped by interrupt"));
    result_free(&r);

    r = interrupted("-p 'the hello' --json " ENDLESS);
    assert_int_equal(r.status, -SIGINT);
    json = object_in(&r);
    check_text(json, "stop", "interrupt");
    check_text(json, "stopped", "interrupt");
    assert_true(json_array_size(json_object_get(json, "answer_ids")) > 0);
    assert_true(
        json_string_length(json_object_get(json, "text")) > 0);
    json_decref(json);
    result_free(&r);
}

/* While the prompt is computed there is no answer yet. */
static void
an_interrupted_prompt_is_reported(void **state)
{
    char options[200];
    char *text = malloc(150000);
    struct result r;
    json_t *json;

    (void)state;
    assert_non_null(text);
    for (int i = 0; i < 150000; i++)
        text[i] = "abcdefgh "[i % 9];
    write_file("long", text, 150000);
    free(text);
    snprintf(options, sizeof(options), "-f %s --json --logits " ENDLESS,
             in_folder("long"));
    r = interrupted(options);
    assert_int_equal(r.status, -SIGINT);
    json = object_in(&r);
    check_text(json, "stopped", "interrupt");
    check_text(json, "text", "");
    assert_null(json_object_get(json, "logits"));
    json_decref(json);
    result_free(&r);

    snprintf(options, sizeof(options), "--perplexity %s --json -t 1 -c 256",
             in_folder("long"));
    r = interrupted(options);
    assert_int_equal(r.status, -SIGINT);
    json = object_in(&r);
    check_text(json, "stopped", "interrupt");
    assert_int_equal(json_integer_value(json_object_get(json, "chunks")),
                     json_array_size(json_object_get(json, "running")));
    json_decref(json);
    result_free(&r);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_said_is_the_context_of_what_is_said_next),
        cmocka_unit_test(what_is_too_long_is_forgotten),
        cmocka_unit_test(an_interrupt_ends_an_answer_and_not_the_conversation),
        cmocka_unit_test(a_second_interrupt_ends_the_program),
        cmocka_unit_test(an_interrupted_text_is_kept_and_reported),
        cmocka_unit_test(an_interrupted_prompt_is_reported),
    };

    return cmocka_run_group_tests_name("converse", tests, folder_make,
                                       folder_remove);
}
