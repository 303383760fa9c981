/* SPDX-License-Identifier: MIT */
/*
 * run/options.c - the command line.
 */
#include "tools/ggmlbackend-run/options.h"

#include "tools/common/tool.h"

#include "ggml.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum kind { TEXT, INTEGER, REAL, SET, CLEAR };

/* The letter of options that have none; beyond any letter. */
enum { NO_LETTER = 256 };

struct option_row {
    int letter;
    const char *name;
    const char *argument; /* its name, NULL without */
    const char *help;
    enum kind kind;
    double min, max;
    size_t member;
};

#define AT(field) offsetof(struct options, field)

static const struct option_row rows[] = {
    { 'm', "model", "FILE", "the model, a GGUF file", TEXT, 0, 0, AT(model) },
    { 'p', "prompt", "TEXT", "the text to continue", TEXT, 0, 0, AT(prompt) },
    { 'f', "file", "FILE", "read the text from FILE, - for standard input",
      TEXT, 0, 0, AT(prompt_file) },
    { 'n', "n-predict", "N", "at most N tokens, -1 for no limit (256)", INTEGER,
      -1, INT32_MAX, AT(n_predict) },
    { 'c', "ctx-size", "N", "positions in the context (up to 4096)", INTEGER, 0,
      1 << 24, AT(n_ctx) },
    { 't', "threads", "N", "threads (the device's default)", INTEGER, 1,
      GGML_MAX_N_THREADS, AT(n_threads) },
    { NO_LETTER, "temp", "T", "temperature, 0 for the best token always (0)",
      REAL, 0, 1e6, AT(temperature) },
    { NO_LETTER, "top-k", "N", "draw from the N best tokens, 0 for all (40)",
      INTEGER, 0, INT32_MAX, AT(top_k) },
    { NO_LETTER, "top-p", "P", "draw from the best with P together (0.95)",
      REAL, 0, 1, AT(top_p) },
    { NO_LETTER, "seed", "N", "seed of the random numbers (1)", INTEGER, 0,
      (double)INT32_MAX, AT(seed) },
    { NO_LETTER, "chat", NULL, "the text is a message; answer it", SET, 0, 0,
      AT(is_chat) },
    { NO_LETTER, "device", "NAME", "the device that computes (the best)", TEXT,
      0, 0, AT(device) },
    { NO_LETTER, "no-mmap", NULL, "copy the weights instead of mapping them",
      CLEAR, 0, 0, AT(may_map) },
    { NO_LETTER, "no-flash-attn", NULL, "attention by several operations",
      CLEAR, 0, 0, AT(may_fuse) },
    { NO_LETTER, "perplexity", "FILE",
      "how well the model foresees FILE's text", TEXT, 0, 0, AT(perplexity) },
    { NO_LETTER, "chunks", "N", "look at N windows of the text (all)", INTEGER,
      0, INT32_MAX, AT(n_chunks) },
    { NO_LETTER, "json", NULL, "write one JSON object instead of text", SET, 0,
      0, AT(is_json) },
    { NO_LETTER, "logits", NULL, "with --json: the logits after the prompt",
      SET, 0, 0, AT(has_logits) },
    { 'h', "help", NULL, "print this", SET, 0, 0, 0 },
    { 'V', "version", NULL, "print the version", SET, 0, 0, 0 },
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static void
print_help(void)
{
    puts("usage: ggmlbackend-run -m FILE [-p TEXT | -f FILE] [OPTION]...\n"
         "       ggmlbackend-run -m FILE --perplexity FILE [OPTION]...\n\n"
         "Continue a text with a language model, or measure how well the\n"
         "model foresees one.\n");
    for (size_t i = 0; i < N_ROWS; i++) {
        const struct option_row *r = &rows[i];
        char left[64], letter[8] = "    ";

        if (r->letter < NO_LETTER)
            snprintf(letter, sizeof(letter), "-%c, ", r->letter);
        snprintf(left, sizeof(left), "%s--%s%s%s", letter, r->name,
                 r->argument == NULL ? "" : " ",
                 r->argument == NULL ? "" : r->argument);
        printf("  %-24s %s\n", left, r->help);
    }
}

/* What getopt_long wants to know: VAL is NO_LETTER plus the row's number. */
static void
describe(struct option table[N_ROWS + 1], char letters[2 * N_ROWS + 2])
{
    size_t n = 0;

    memset(table, 0, (N_ROWS + 1) * sizeof(*table));
    for (size_t i = 0; i < N_ROWS; i++) {
        table[i].name = rows[i].name;
        table[i].has_arg =
            rows[i].argument == NULL ? no_argument : required_argument;
        table[i].val = NO_LETTER + (int)i;
        if (rows[i].letter == NO_LETTER)
            continue;
        letters[n++] = (char)rows[i].letter;
        if (rows[i].argument != NULL)
            letters[n++] = ':';
    }
    letters[n] = '\0';
}

/* The row that getopt_long's answer means, NULL for an unknown option. */
static const struct option_row *
row_of(int c)
{
    if (c >= NO_LETTER)
        return &rows[c - NO_LETTER];
    for (size_t i = 0; i < N_ROWS; i++)
        if (rows[i].letter == c)
            return &rows[i];
    return NULL;
}

/* Put what follows the option of row R into its member. */
static bool
take(struct options *options, const struct option_row *r, const char *text)
{
    char name[32];
    void *member = (char *)options + r->member;

    snprintf(name, sizeof(name), "--%s", r->name);
    switch (r->kind) {
    case TEXT: *(const char **)member = text; return true;
    case SET: *(bool *)member = true; return true;
    case CLEAR: *(bool *)member = false; return true;
    case INTEGER:
        return tool_parse_int(name, text, (int64_t)r->min, (int64_t)r->max,
                              member);
    case REAL: return tool_parse_real(name, text, r->min, r->max, member);
    }
    return false;
}

/* Do the options make sense together? */
static bool
check(const struct options *o, int *status)
{
    const int n_texts = (o->prompt != NULL) + (o->prompt_file != NULL) +
        (o->perplexity != NULL);

    *status = TOOL_USAGE;
    if (o->model == NULL)
        tool_usage_error("no model, see -m");
    else if (n_texts != 1)
        tool_usage_error("one of -p, -f and --perplexity is needed");
    else if (o->has_logits && (!o->is_json || o->perplexity != NULL))
        tool_usage_error("--logits needs --json and a prompt");
    else if (o->is_chat && o->perplexity != NULL)
        tool_usage_error("--chat and --perplexity exclude each other");
    else
        return true;
    return false;
}

bool
options_read(struct options *o, int argc, char **argv, int *status)
{
    struct option table[N_ROWS + 1];
    char letters[2 * N_ROWS + 2];
    int c;

    memset(o, 0, sizeof(*o));
    o->n_predict = 256;
    o->top_k = 40;
    o->top_p = 0.95;
    o->seed = 1;
    o->may_map = true;
    o->may_fuse = true;
    describe(table, letters);
    while ((c = getopt_long(argc, argv, letters, table, NULL)) != -1) {
        const struct option_row *r = row_of(c);

        *status = r == NULL ? TOOL_USAGE : TOOL_OK;
        if (r == NULL)
            return false;
        if (r->letter == 'h')
            print_help();
        else if (r->letter == 'V')
            tool_print_version();
        else if (take(o, r, optarg))
            continue;
        else
            *status = TOOL_USAGE;
        return false;
    }
    if (optind < argc) {
        *status = tool_usage_error("'%s' belongs to no option", argv[optind]);
        return false;
    }
    return check(o, status);
}
