/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-gguf/main.c - shows, checks and converts GGUF files.
 */
#include "tools/common/tool.h"
#include "tools/ggmlbackend-gguf/model.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static void
print_help(void)
{
    puts("Usage: ggmlbackend-gguf show [--all] [--json] FILE\n"
         "       ggmlbackend-gguf check [--json] [--no-mmap] FILE\n"
         "       ggmlbackend-gguf convert [--pure] [--no-mmap] --type TYPE FILE OUTPUT\n"
         "Show, check and convert GGUF files.\n"
         "\n"
         "  -a, --all         whole arrays and texts\n"
         "  -t, --type TYPE   new type of the matrices: f32, f16, bf16, q8_0, "
         "q4_K…\n"
         "      --pure        the embedding and output matrices too, which "
         "otherwise get\n"
         "                    8 bits where TYPE has fewer\n"
         "      --no-mmap     read the file instead of mapping it, for file "
         "systems on a\n"
         "                    network\n"
         "      --json        one JSON object on standard output\n"
         "      --help        print this and exit\n"
         "      --version     print the version and exit\n"
         "\n"
         "Exit status: 0 all is well, 1 not, 2 wrong usage.");
}

struct options {
    bool all, json, pure, may_map;
    const char *type;
};

/* Fills OPTIONS; a status to end with, or -1 to go on. */
static int
parse(int argc, char **argv, struct options *options)
{
    enum { HELP = 256, VERSION, JSON, PURE, NO_MMAP };
    static const struct option longs[] = {
        { "all", no_argument, NULL, 'a' },
        { "type", required_argument, NULL, 't' },
        { "pure", no_argument, NULL, PURE },
        { "no-mmap", no_argument, NULL, NO_MMAP },
        { "json", no_argument, NULL, JSON },
        { "help", no_argument, NULL, HELP },
        { "version", no_argument, NULL, VERSION },
        { NULL, 0, NULL, 0 },
    };
    int c;

    while ((c = getopt_long(argc, argv, "at:", longs, NULL)) != -1) {
        switch (c) {
        case 'a':
            options->all = true;
            break;
        case 't':
            options->type = optarg;
            break;
        case PURE:
            options->pure = true;
            break;
        case NO_MMAP:
            options->may_map = false;
            break;
        case JSON:
            options->json = true;
            break;
        case HELP:
            print_help();
            return TOOL_OK;
        case VERSION:
            tool_print_version();
            return TOOL_OK;
        default:
            return tool_usage_error("wrong option");
        }
    }
    return -1;
}

int
main(int argc, char **argv)
{
    struct options options = { .may_map = true };
    const char *command;
    char **rest;
    int status, n;

    tool_begin("ggmlbackend-gguf");
    status = parse(argc, argv, &options);
    if (status >= 0)
        return tool_end(status);
    n = argc - optind - 1;
    if (n < 0)
        return tool_end(tool_usage_error("no command"));
    command = argv[optind];
    rest = argv + optind + 1;
    if (strcmp(command, "show") == 0 && n == 1)
        status = command_show(rest[0], options.json, options.all);
    else if (strcmp(command, "check") == 0 && n == 1)
        status = command_check(rest[0], options.json, options.may_map);
    else if (strcmp(command, "convert") == 0 && n == 2 && options.type != NULL)
        status = command_convert(rest[0], rest[1], options.type, options.pure,
                                 options.may_map);
    else
        status = tool_usage_error("wrong command or number of files");
    return tool_end(status);
}
