/* SPDX-License-Identifier: MIT */
/*
 * run/options.c - the command line.
 */
#include "tools/ggmlbackend-run/options.h"

#include "tools/common/options.h"
#include "tools/common/tool.h"

#include "ggml.h"

#include <string.h>
#include <unistd.h>

/* Below what an option may say: 256, and no limit in a conversation. */
#define N_PREDICT_DEFAULT (-2)

static bool
read_repack(void *options, const char *option, const char *text)
{
    return repack_mode_read(option, text, &((struct options *)options)->repack);
}

static bool
read_split(void *options, const char *option, const char *text)
{
    return shares_read(option, text, &((struct options *)options)->shares);
}

static const struct tool_row rows[] = {
#include "tools/ggmlbackend-run/options.def"
};

/* Do the options make sense together? */
static bool
check(const struct options *o, int *status)
{
    const int n_texts = (o->prompt != NULL) + (o->prompt_file != NULL) +
        (o->perplexity != NULL);
    const int n_devices = devices_count(o->devices);

    *status = TOOL_USAGE;
    if (o->model == NULL)
        tool_usage_error("no model, see -m");
    else if (n_texts != 1 && !o->is_conversation)
        tool_usage_error("one of -p, -f and --perplexity is needed, or --chat "
                         "alone on a terminal");
    else if (o->is_conversation && o->is_json)
        tool_usage_error("--json needs a text, see -p and -f");
    else if (o->system != NULL && !o->is_chat)
        tool_usage_error("--system is for --chat");
    else if (o->n_chunks > 0 && o->perplexity == NULL)
        tool_usage_error("--chunks is for --perplexity");
    else if (o->has_logits && (!o->is_json || o->perplexity != NULL))
        tool_usage_error("--logits needs --json and a prompt");
    else if (o->is_chat && o->perplexity != NULL)
        tool_usage_error("--chat and --perplexity exclude each other");
    else if (o->devices != NULL && !devices_are_named("--device", o->devices))
        return false;
    else if (o->shares.n > 0 && o->shares.n != n_devices)
        tool_usage_error("--split has %d numbers for %d devices", o->shares.n,
                         n_devices);
    else if (n_devices > 1 && o->repack == REPACK_ON)
        tool_usage_error("--repack on is for one device");
    else
        return true;
    return false;
}

bool
options_read(struct options *o, int argc, char **argv, int *status)
{
    memset(o, 0, sizeof(*o));
    o->n_predict = N_PREDICT_DEFAULT;
    o->top_k = 40;
    o->top_p = 0.95;
    o->seed = 1;
    o->repack = REPACK_AUTO;
    o->may_map = true;
    o->may_fuse = true;
    *status = tool_options_read(rows, sizeof(rows) / sizeof(rows[0]), argc,
                                argv, o);
    if (*status >= 0)
        return false;
    if (optind < argc) {
        *status = tool_usage_error("'%s' belongs to no option", argv[optind]);
        return false;
    }
    o->is_conversation = o->is_chat && o->prompt == NULL &&
        o->prompt_file == NULL && o->perplexity == NULL &&
        isatty(STDIN_FILENO) == 1;
    if (o->n_predict == N_PREDICT_DEFAULT)
        o->n_predict = o->is_conversation ? -1 : 256;
    return check(o, status);
}
