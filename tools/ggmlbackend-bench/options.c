/* SPDX-License-Identifier: MIT */
/*
 * bench/options.c - the command line.
 */
#include "tools/ggmlbackend-bench/options.h"

#include "tools/common/tool.h"

#include "ggml.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_LENGTH (1 << 20)

static void
print_help(void)
{
    puts("usage: ggmlbackend-bench [-m FILE] [-c PATTERN]... [OPTION]...\n"
         "       ggmlbackend-bench --compare A.jsonl B.jsonl [--plot FILE]\n"
         "       ggmlbackend-bench --plot FILE A.jsonl [B.jsonl]\n"
         "\n"
         "Measure models and operations, and how near to the machine's limits\n"
         "they come; without arguments the limits and some matrix products.\n"
         "\n"
         "  -m, --model FILE      a GGUF file: prompts and generation\n"
         "  -p, --prompt N,...    lengths of prompts (512)\n"
         "  -g, --generate N,...  tokens to generate (128)\n"
         "  -d, --depth N,...     tokens there are before (0)\n"
         "  -c, --case PATTERN    cases whose names fit, may be repeated\n"
         "      --list            print the names of the cases and exit\n"
         "      --size KxN        weights of N rows of K elements (4096x4096)\n"
         "  -t, --threads N       threads (one a processor)\n"
         "  -s, --seconds S       seconds for each case (0.3)\n"
         "      --device NAME     the device that computes (the best)\n"
         "      --against LIBRARY the same on another library, in turns\n"
         "      --json            write JSON, one line a result\n"
         "      --compare         compare two files of such lines\n"
         "      --plot FILE       draw the results as SVG\n"
         "      --serve           take cases from standard input\n"
         "  -h, --help            print this\n"
         "  -V, --version         print the version");
}

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
read_size(const char *text, struct numbers *out)
{
    if (!read_numbers("--size", text, 'x', 1, out))
        return false;
    return out->n == 2 ||
        tool_error("--size: '%s' is not like 4096x4096", text);
}

static bool
add_pattern(struct options *o, const char *pattern)
{
    if (o->n_patterns == MAX_PATTERNS)
        return tool_error("more than %d patterns", MAX_PATTERNS);
    o->patterns[o->n_patterns++] = pattern;
    return true;
}

/* Do the options make sense together? */
static bool
check(const struct options *o, int *status)
{
    *status = TOOL_USAGE;
    if (o->is_compare && o->n_files != 2)
        tool_usage_error("--compare needs two files");
    else if (o->n_files > 0 && !o->is_compare && o->plot == NULL)
        tool_usage_error("'%s' belongs to no option", o->files[0]);
    else if (o->n_files > 0 && (o->against != NULL || o->model != NULL))
        tool_usage_error("files of results are not measured again");
    else
        return true;
    return false;
}

static void
set_defaults(struct options *o)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN);

    memset(o, 0, sizeof(*o));
    o->prompts = (struct numbers){ { 512 }, 1 };
    o->answers = (struct numbers){ { 128 }, 1 };
    o->depths = (struct numbers){ { 0 }, 1 };
    o->size = (struct numbers){ { 4096, 4096 }, 2 };
    o->n_threads = n < 1 ? 1 : n > GGML_MAX_N_THREADS ? GGML_MAX_N_THREADS : n;
    o->seconds = 0.3;
}

enum { HELP = 'h', VERSION = 'V', LIST = 256, SIZE, DEVICE, AGAINST, JSON,
       COMPARE, PLOT, SERVE };

/* Take option C; false when its argument is not usable. */
static bool
take(struct options *o, int c, const char *text)
{
    switch (c) {
    case 'm': o->model = text; return true;
    case 'p': return read_numbers("--prompt", text, ',', 1, &o->prompts);
    case 'g': return read_numbers("--generate", text, ',', 1, &o->answers);
    case 'd': return read_numbers("--depth", text, ',', 0, &o->depths);
    case 'c': return add_pattern(o, text);
    case 't':
        return tool_parse_int("--threads", text, 1, GGML_MAX_N_THREADS,
                              &o->n_threads);
    case 's':
        return tool_parse_real("--seconds", text, 0.0, 3600.0, &o->seconds);
    case SIZE: return read_size(text, &o->size);
    case DEVICE: o->device = text; return true;
    case AGAINST: o->against = text; return true;
    case PLOT: o->plot = text; return true;
    case LIST: o->is_list = true; return true;
    case JSON: o->is_json = true; return true;
    case COMPARE: o->is_compare = true; return true;
    case SERVE: o->is_serve = true; return true;
    }
    return false;
}

bool
options_read(struct options *o, int argc, char **argv, int *status)
{
    static const struct option longs[] = {
        { "model", required_argument, NULL, 'm' },
        { "prompt", required_argument, NULL, 'p' },
        { "generate", required_argument, NULL, 'g' },
        { "depth", required_argument, NULL, 'd' },
        { "case", required_argument, NULL, 'c' },
        { "list", no_argument, NULL, LIST },
        { "size", required_argument, NULL, SIZE },
        { "threads", required_argument, NULL, 't' },
        { "seconds", required_argument, NULL, 's' },
        { "device", required_argument, NULL, DEVICE },
        { "against", required_argument, NULL, AGAINST },
        { "json", no_argument, NULL, JSON },
        { "compare", no_argument, NULL, COMPARE },
        { "plot", required_argument, NULL, PLOT },
        { "serve", no_argument, NULL, SERVE },
        { "help", no_argument, NULL, HELP },
        { "version", no_argument, NULL, VERSION },
        { NULL, 0, NULL, 0 },
    };
    int c;

    set_defaults(o);
    while ((c = getopt_long(argc, argv, "m:p:g:d:c:t:s:hV", longs, NULL)) !=
           -1) {
        *status = c == HELP || c == VERSION ? TOOL_OK : TOOL_USAGE;
        if (c == HELP)
            print_help();
        else if (c == VERSION)
            tool_print_version();
        else if (take(o, c, optarg))
            continue;
        return false;
    }
    while (optind < argc && o->n_files < 2)
        o->files[o->n_files++] = argv[optind++];
    if (optind < argc) {
        *status = tool_usage_error("unexpected argument '%s'", argv[optind]);
        return false;
    }
    return check(o, status);
}
