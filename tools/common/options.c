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

        if (r->kind == TOOL_ROW_HABIT)
            continue;
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
    /* Answer ':' where an argument is missing. */
    *letters++ = ':';
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
    for (size_t i = 0; c > 0 && i < n; i++)
        if (rows[i].kind == TOOL_ROW_OPTION && rows[i].letter == c)
            return &rows[i];
    return NULL;
}

/* ---- what is wrong ---- */

/* How many characters of WORD are an option of the HABIT row R; 0 for none.  An
 * argument may follow in the same word. */
static size_t
length_of_habit(const struct tool_row *r, const char *word)
{
    const char *name = r->name;
    size_t length = 0;

    for (; r->kind == TOOL_ROW_HABIT && *name != '\0'; name += length) {
        name += strspn(name, " ");
        length = strcspn(name, " ");
        if (length > 0 && strncmp(name, word, length) == 0 &&
            (word[length] == '\0' ||
             strchr("=-0123456789", word[length]) != NULL))
            return length;
    }
    return 0;
}

/* Explain WORD, which other programs or versions take: true when there is such
 * a row. */
static bool
explain(const struct tool_row *rows, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++) {
        const size_t length = length_of_habit(&rows[i], word);

        if (length > 0) {
            tool_usage_error("there is no option %.*s: %s", (int)length, word,
                             rows[i].text);
            return true;
        }
    }
    return false;
}

/* "--prompt, --perplexity": options that WORD begins; how many. */
static int
list_longer(const struct tool_row *rows, size_t n, const char *word,
            char *list, size_t size)
{
    const size_t length = strcspn(word, "=");
    size_t used = 0;
    int count = 0;

    for (size_t i = 0; i < n; i++)
        if (rows[i].kind == TOOL_ROW_OPTION && length > 2 && used < size &&
            strncmp(rows[i].name, word + 2, length - 2) == 0)
            used += (size_t)snprintf(list + used, size - used, "%s--%s",
                                     count++ == 0 ? "" : ", ", rows[i].name);
    return count;
}

/* WORD, which begins with two dashes, is no option, or the begin of several. */
static int
refuse_long(const struct tool_row *rows, size_t n, const char *word)
{
    char list[512];

    if (explain(rows, n, word))
        return TOOL_USAGE;
    if (list_longer(rows, n, word, list, sizeof(list)) > 1)
        return tool_usage_error("%s begins several options: %s", word, list);
    return tool_usage_error("there is no option %.*s",
                            (int)strcspn(word, "="), word);
}

/* The letter C, in a word that is argv[optind] or the one before. */
static int
refuse_letter(const struct tool_row *rows, size_t n, char **argv, int c)
{
    for (int i = optind; i >= optind - 1; i--)
        if (argv[i] != NULL && argv[i][0] == '-' && argv[i][1] == c &&
            explain(rows, n, argv[i]))
            return TOOL_USAGE;
    return tool_usage_error("there is no option -%c", c);
}

/* What getopt_long answered with C, ':' or '?'. */
static int
refuse(const struct tool_row *rows, size_t n, char **argv, int c)
{
    const struct tool_row *r = row_of(rows, n, optopt);

    if (c == ':')
        return r == NULL
            ? tool_usage_error("%s needs an argument", argv[optind - 1])
            : tool_usage_error("--%s needs an argument, %s", r->name,
                               r->argument);
    if (r != NULL)
        return tool_usage_error("--%s takes no argument", r->name);
    if (optopt != 0)
        return refuse_letter(rows, n, argv, optopt);
    return refuse_long(rows, n, argv[optind - 1]);
}

/* ---- taking them ---- */

/* Put TEXT, the argument of row R, where the row says; false after a message. */
static bool
take(void *options, const struct tool_row *r, const char *text)
{
    void *member = (char *)options + r->member;
    char name[80];

    snprintf(name, sizeof(name), "--%s", r->name);
    if (r->is_name && text[0] == '\0')
        return tool_error("%s '' names nothing, it needs %s", name,
                          r->argument);
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

/* Does the argument that R was given stand in one word with its letter, so that
 * the word is an option of another program: -ngl is no -n? */
static bool
is_explained(const struct tool_row *rows, size_t n, const struct tool_row *r,
             char **argv)
{
    const char *word = argv[optind - 1];

    return r->argument != NULL && optarg == word + 2 && word[1] != '-' &&
        explain(rows, n, word);
}

static int
read_all(const struct tool_row *rows, size_t n, int argc, char **argv,
         const char *letters, const struct option *table, void *options)
{
    int c;

    opterr = 0;
    while ((c = getopt_long(argc, argv, letters, table, NULL)) != -1) {
        const struct tool_row *r = c == ':' ? NULL : row_of(rows, n, c);

        if (r == NULL)
            return refuse(rows, n, argv, c);
        if (is_explained(rows, n, r, argv))
            return TOOL_USAGE;
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
