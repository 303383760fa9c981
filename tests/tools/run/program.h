/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/run/program.h - tiny models, and the program run on them.
 *
 * Programs are those of the build folder, $top_builddir.  Files are made in a
 * folder of the test's own below the working directory.
 */
#ifndef TESTS_TOOLS_RUN_PROGRAM_H
#define TESTS_TOOLS_RUN_PROGRAM_H

#include "ggml.h"
#include "gguf.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

/* Groups' set-up and tear-down: the folder. */
int folder_make(void **state);
int folder_remove(void **state);

/* The path of NAME in the folder; valid until the tenth call after it. */
const char *in_folder(const char *name);

/* Write SIZE bytes into NAME in the folder. */
void write_file(const char *name, const void *data, size_t size);

/* Make NAME in the folder with make-tiny-model's OPTIONS, once. */
void make_model(const char *name, const char *options);

/* Write GGUF with the data of CTX's tensors to NAME in the folder, and free
 * both. */
void write_model(
    const char *name, struct gguf_context *gguf, struct ggml_context *ctx);

/* What a program did. */
struct result {
    int status;  /* of its exit; -1 when it ended by a signal */
    char *out;   /* NUL-terminated */
    size_t size; /* of out */
    char *err;
};

/* Run ggmlbackend-run with ARGUMENTS, which a shell reads. */
struct result run(const char *arguments, ...)
    __attribute__((format(printf, 1, 2)));

/* The same for another program of the build folder. */
struct result run_other(const char *program, const char *arguments, ...)
    __attribute__((format(printf, 2, 3)));

/* The same on a terminal: .out has all that it shows. */
struct result run_on_terminal(const char *program, const char *arguments);

/* A program on a terminal, and what that has shown. */
struct terminal {
    int master;
    pid_t child;
    char *shown; /* NUL-terminated */
    size_t size;
    size_t seen; /* of shown, by terminal_wait */
    time_t deadline; /* when a test that still waits fails */
};

/* Begin to run PROGRAM; wait until TEXT is shown, behind what was waited for
 * before; type KEYS, of which \x03 is Ctrl-C and \x04 Ctrl-D; wait for the
 * end.  .status is the negative number of a signal that ended the program. */
void terminal_open(struct terminal *t, const char *program,
                   const char *arguments);
void terminal_wait(struct terminal *t, const char *text);
void terminal_type(struct terminal *t, const char *keys);
struct result terminal_close(struct terminal *t);
void result_free(struct result *result);

/* The object that ggmlbackend-run --json writes; json_decref it. */
json_t *run_json(const char *arguments, ...)
    __attribute__((format(printf, 1, 2)));

/* Number I of the array KEY. */
double number_at(const json_t *json, const char *key, size_t i);

#endif
