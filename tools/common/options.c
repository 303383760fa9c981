/* SPDX-License-Identifier: MIT */
/*
 * common/options.c - a tool's command line, by the rows of its options.def.
 */
#include "tools/common/options.h"

#include "tools/common/tool.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What getopt_long answers for row 0; beyond any letter. */
enum { FIRST_ROW = 256 };

/* What stands on the left of a row's help; its length. */
static int
left_of(const struct tool_row *r, char *left, size_t size)
{
    if (r->kind == TOOL_ROW_COMMAND)
        return snprintf(left, size, "%s", r->name);
    return snprintf(left, size, "%c%c%c --%s%s%s", r->letter == 0 ? ' ' : '-',
                    r->letter == 0 ? ' ' : r->letter,
                    r->letter == 0 ? ' ' : ',', r->name,
                    r->argument == NULL ? "" : " ",
                    r->argument == NULL ? "" : r->argument);
}

static bool
has_left(const struct tool_row *r)
{
    return r->kind == TOOL_ROW_COMMAND || r->kind == TOOL_ROW_OPTION;
}

static int
widest_left(const struct tool_row *rows, size_t n)
{
    int widest = 0;

    for (size_t i = 0; i < n; i++) {
        const int width = has_left(&rows[i]) ? left_of(&rows[i], NULL, 0) : 0;

        if (width > widest)
            widest = width;
    }
    return widest;
}

/* All rows in their order, with an empty line between those of two kinds. */
static void
print_help(const struct tool_row *rows, size_t n)
{
    const int width = widest_left(rows, n);

    for (size_t i = 0; i < n; i++) {
        const struct tool_row *r = &rows[i];
        char left[80];

        if (i > 0 && rows[i - 1].kind != r->kind)
            putchar('\n');
        if (r->kind == TOOL_ROW_USAGE) {
            printf("%s %s %s\n", i == 0 ? "Usage:" : "      ", tool_name(),
                   r->text);
        } else if (has_left(r)) {
            left_of(r, left, sizeof(left));
            printf("  %-*s  %s\n", width, left, r->text);
        } else {
            puts(r->text);
        }
    }
}

/* What getopt_long wants to know of the options; it answers a row's number. */
static void
describe(const struct tool_row *rows, size_t n, struct option *table,
         char *letters)
{
    for (size_t i = 0; i < n; i++) {
        const struct tool_row *r = &rows[i];

        if (r->kind != TOOL_ROW_OPTION)
            continue;
        *table++ = (struct option){
            .name = r->name,
            .has_arg = r->argument == NULL ? no_argument : required_argument,
            .val = FIRST_ROW + (int)i,
        };
        if (r->letter == 0)
            continue;
        *letters++ = (char)r->letter;
        if (r->argument != NULL)
            *letters++ = ':';
    }
}

/* The row that getopt_long's answer means, NULL for an unknown option. */
static const struct tool_row *
row_of(const struct tool_row *rows, size_t n, int c)
{
    if (c >= FIRST_ROW)
        return &rows[c - FIRST_ROW];
    for (size_t i = 0; i < n; i++)
        if (rows[i].letter == c)
            return &rows[i];
    return NULL;
}

/* Put TEXT, the argument of row R, where the row says; false after a message. */
static bool
take(void *options, const struct tool_row *r, const char *text)
{
    void *member = (char *)options + r->member;
    char name[80];

    snprintf(name, sizeof(name), "--%s", r->name);
    switch (r->how) {
    case TOOL_HOW_SET: *(bool *)member = true; return true;
    case TOOL_HOW_CLEAR: *(bool *)member = false; return true;
    case TOOL_HOW_STRING: *(const char **)member = text; return true;
    case TOOL_HOW_INTEGER:
        return tool_parse_int(name, text, r->least, r->most, member);
    case TOOL_HOW_REAL:
        return tool_parse_real(name, text, (double)r->least, (double)r->most,
                               member);
    case TOOL_HOW_READ: return r->read(options, name, text);
    case TOOL_HOW_HELP:
    case TOOL_HOW_VERSION: break;
    }
    return false;
}

static int
read_all(const struct tool_row *rows, size_t n, int argc, char **argv,
         const char *letters, const struct option *table, void *options)
{
    int c;

    while ((c = getopt_long(argc, argv, letters, table, NULL)) != -1) {
        const struct tool_row *r = row_of(rows, n, c);

        if (r == NULL)
            return tool_usage_error("wrong option");
        if (r->how == TOOL_HOW_HELP)
            print_help(rows, n);
        else if (r->how == TOOL_HOW_VERSION)
            tool_print_version();
        else if (take(options, r, optarg))
            continue;
        else
            return TOOL_USAGE;
        return TOOL_OK;
    }
    return -1;
}

int
tool_options_read(const struct tool_row *rows, size_t n, int argc, char **argv,
                  void *options)
{
    struct option *table = calloc(n + 1, sizeof(*table));
    char *letters = calloc(n + 1, 2);
    int status = TOOL_FAILED;

    if (table == NULL || letters == NULL) {
        tool_error("no memory");
    } else {
        describe(rows, n, table, letters);
        status = read_all(rows, n, argc, argv, letters, table, options);
    }
    free(table);
    free(letters);
    return status;
}

/* Says that there is no command WORD, and which there are. */
static int
refuse_command(const struct tool_row *rows, size_t n, const char *word)
{
    char names[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < n; i++)
        if (rows[i].kind == TOOL_ROW_COMMAND && used < sizeof(names))
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
                                     used == 0 ? "" : ", ", rows[i].name);
    if (word == NULL)
        return tool_usage_error("no command; commands: %s", names);
    return tool_usage_error("there is no command '%s'; commands: %s", word,
                            names);
}

int
tool_command_run(const struct tool_row *rows, size_t n, int argc, char **argv,
                 const void *options)
{
    const char *word = optind < argc ? argv[optind] : NULL;
    const int n_operands = argc - optind - 1;

    for (size_t i = 0; word != NULL && i < n; i++) {
        if (rows[i].kind != TOOL_ROW_COMMAND || strcmp(rows[i].name, word) != 0)
            continue;
        if (rows[i].n_operands != n_operands)
            return tool_usage_error("%s takes %d file%s, not %d", word,
                                    rows[i].n_operands,
                                    rows[i].n_operands == 1 ? "" : "s",
                                    n_operands);
        return rows[i].run(options, argv + optind + 1);
    }
    return refuse_command(rows, n, word);
}
