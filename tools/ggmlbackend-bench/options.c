/* SPDX-License-Identifier: MIT */
/*
 * bench/options.c - the command line.
 */
#include "tools/ggmlbackend-bench/options.h"

#include "tools/common/options.h"
#include "tools/common/tool.h"

#include "ggml.h"
#include "ggmlbackend.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_LENGTH (1 << 20)
#define MAX_BATCH  256

/* Up to MAX numbers of at least LEAST with SEPARATOR between them. */
static bool
read_numbers(const char *option, const char *text, char separator,
             int64_t least, struct numbers *out)
{
    const char *at = text;

    out->n = 0;
    for (;;) {
        const size_t n = at[0] == '\0' ? 0 : strcspn(at, ",x");
        char number[24];

        if (n >= sizeof(number) || out->n == MAX_NUMBERS)
            return tool_error("%s: '%s' is too long", option, text);
        snprintf(number, sizeof(number), "%.*s", (int)n, at);
        if (!tool_parse_int(option, number, least, MAX_LENGTH,
                            &out->at[out->n]))
            return false;
        out->n++;
        if (at[n] == '\0')
            return true;
        if (at[n] != separator)
            return tool_error("%s: '%s' has no '%c' between its numbers",
                              option, text, separator);
        at += n + 1;
    }
}

static bool
read_prompts(void *options, const char *option, const char *text)
{
    return read_numbers(option, text, ',', 1,
                        &((struct options *)options)->prompts);
}

static bool
read_answers(void *options, const char *option, const char *text)
{
    return read_numbers(option, text, ',', 1,
                        &((struct options *)options)->answers);
}

static bool
read_depths(void *options, const char *option, const char *text)
{
    return read_numbers(option, text, ',', 0,
                        &((struct options *)options)->depths);
}

static bool
read_batches(void *options, const char *option, const char *text)
{
    struct numbers *batches = &((struct options *)options)->batches;

    if (!read_numbers(option, text, ',', 1, batches))
        return false;
    for (int i = 0; i < batches->n; i++)
        if (batches->at[i] > MAX_BATCH)
            return tool_error("%s: '%s' is more than %d sequences", option,
                              text, MAX_BATCH);
    return true;
}

static bool
read_size(void *options, const char *option, const char *text)
{
    struct numbers *size = &((struct options *)options)->size;

    if (!read_numbers(option, text, 'x', 1, size))
        return false;
    return size->n == 2 ||
        tool_error("%s: '%s' is not like 4096x4096", option, text);
}

static bool
add_pattern(void *options, const char *option, const char *text)
{
    struct options *o = options;

    (void)option;
    if (o->n_patterns == MAX_PATTERNS)
        return tool_error("more than %d patterns", MAX_PATTERNS);
    o->patterns[o->n_patterns++] = text;
    return true;
}

static bool
read_repack(void *options, const char *option, const char *text)
{
    return repack_mode_read(option, text, &((struct options *)options)->repack);
}

static const struct tool_row rows[] = {
#include "tools/ggmlbackend-bench/options.def"
};

/* Do the options make sense together? */
static bool
check(const struct options *o, int *status)
{
    *status = TOOL_USAGE;
    if (o->is_compare && o->n_files != 2)
        tool_usage_error("--compare needs two files");
    else if (o->n_files > 0 && !o->is_compare && o->plot == NULL &&
             o->report == NULL)
        tool_usage_error("'%s' belongs to no option", o->files[0]);
    else if (o->n_files > 0 && (o->against != NULL || o->model != NULL))
        tool_usage_error("files of results are not measured again");
    else if (o->is_by_op && (o->model == NULL || o->against != NULL))
        tool_usage_error("--by-op needs a model, and is of one library");
    else if (o->batches.n > 0 && o->model == NULL)
        tool_usage_error("-b needs a model");
    else if (o->device != NULL && strchr(o->device, ',') != NULL)
        tool_usage_error("--device names one device here");
    else
        return true;
    return false;
}

static void
set_defaults(struct options *o)
{
    const int n = ggmlbackend_n_cpus();

    memset(o, 0, sizeof(*o));
    o->prompts = (struct numbers){ { 512 }, 1 };
    o->answers = (struct numbers){ { 128 }, 1 };
    o->depths = (struct numbers){ { 0 }, 1 };
    o->size = (struct numbers){ { 4096, 4096 }, 2 };
    o->n_threads = n < GGML_MAX_N_THREADS ? n : GGML_MAX_N_THREADS;
    o->seconds = 0.3;
    o->may_map = true;
    o->repack = REPACK_OFF;
}

bool
options_read(struct options *o, int argc, char **argv, int *status)
{
    set_defaults(o);
    *status = tool_options_read(rows, sizeof(rows) / sizeof(rows[0]), argc,
                                argv, o);
    if (*status >= 0)
        return false;
    while (optind < argc && o->n_files < 2)
        o->files[o->n_files++] = argv[optind++];
    if (optind < argc) {
        *status = tool_usage_error("unexpected argument '%s'", argv[optind]);
        return false;
    }
    return check(o, status);
}
