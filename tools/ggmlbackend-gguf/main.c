/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-gguf/main.c - shows, checks and converts GGUF files.
 */
#include "tools/common/options.h"
#include "tools/common/tool.h"
#include "tools/ggmlbackend-gguf/model.h"
#include "tools/ggmlbackend-gguf/types.h"

struct options {
    bool all, json, pure, may_map;
    const char *type;
};

static int
show(const void *options, char **files)
{
    const struct options *o = options;

    return command_show(files[0], o->json, o->all);
}

static int
check(const void *options, char **files)
{
    const struct options *o = options;

    return command_check(files[0], o->json, o->may_map);
}

static int
convert(const void *options, char **files)
{
    const struct options *o = options;
    enum ggml_type type;
    char names[400];

    if (o->type == NULL)
        return tool_usage_error("convert needs --type TYPE; types: %s",
                                type_names(names, sizeof(names)));
    if (!type_find(o->type, &type))
        return TOOL_USAGE;
    return command_convert(files[0], files[1], type, o->pure, o->may_map);
}

static int
types(const void *options, char **files)
{
    (void)options;
    (void)files;
    return command_types();
}

static const struct tool_row rows[] = {
#include "tools/ggmlbackend-gguf/options.def"
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

int
main(int argc, char **argv)
{
    struct options options = { .may_map = true };
    int status;

    tool_begin("ggmlbackend-gguf");
    status = tool_options_read(rows, N_ROWS, argc, argv, &options);
    if (status < 0)
        status = tool_command_run(rows, N_ROWS, argc, argv, &options);
    return tool_end(status);
}
