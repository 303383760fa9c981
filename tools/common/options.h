/* SPDX-License-Identifier: MIT */
/*
 * common/options.h - a tool's command line, described once.
 *
 * Each tool has a file options.def of rows in the order of --help:
 *
 *   USAGE("words")       a form of the command line, behind the program's name
 *   OPERAND("WORD", completes)
 *                        what stands for such a word of the forms
 *   TEXT("line")         a line of --help
 *   COMMAND("name", function, n, "help")
 *                        a first operand that says what to do with n others
 *   OPTION(letter, "name", "ARGUMENT", completes, how, "help")
 *                        letter 0 and argument NULL where there is none
 *   HABIT("-n --name", "what is there instead")
 *                        options that users know from elsewhere, with blanks
 *                        between them: they are refused with these words; the
 *                        last rows
 *
 * HOW is where an option's value goes: SET or CLEAR(member) for a bool,
 * STRING(member), INTEGER or REAL(member, least, most) for an int64_t or a double,
 * READ(function), or EACH(function) for options that may be given again; HELP or
 * VERSION.  Members are those of the tool's struct options.
 *
 * COMPLETES is for shells: NONE, FILE, GGUF (a file), DEVICE, TYPE, CASE, OPERATION.
 * All but NONE are names, which are never empty.
 * options.awk makes their completions of the same rows, and the synopsis and the
 * list of options of the manual page.
 *
 * A tool includes this header and then its rows:
 *
 *   static const struct tool_row rows[] = {
 *   #include "tools/NAME/options.def"
 *   };
 */
#ifndef TOOLS_COMMON_OPTIONS_H
#define TOOLS_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Take TEXT, the argument of OPTION; false after a message. */
typedef bool (*tool_read_fn)(void *options, const char *option,
                             const char *text);

/* Do what a command says with its operands; a status to end with. */
typedef int (*tool_command_fn)(const void *options, char **operands);

enum tool_row_kind {
    TOOL_ROW_USAGE,
    TOOL_ROW_TEXT,
    TOOL_ROW_COMMAND,
    TOOL_ROW_OPTION,
    TOOL_ROW_HABIT,
};

enum tool_how {
    TOOL_HOW_SET,
    TOOL_HOW_CLEAR,
    TOOL_HOW_STRING,
    TOOL_HOW_INTEGER,
    TOOL_HOW_REAL,
    TOOL_HOW_READ,
    TOOL_HOW_HELP,
    TOOL_HOW_VERSION,
};

struct tool_row {
    enum tool_row_kind kind;
    const char *text; /* of --help */
    const char *name; /* of an option or a command */

    int letter;
    const char *argument;
    bool is_name;
    enum tool_how how;
    size_t member;
    int64_t least, most;
    tool_read_fn read;

    tool_command_fn run;
    int n_operands;
};

#define USAGE(words) { .kind = TOOL_ROW_USAGE, .text = words },
#define OPERAND(word, completes)
#define TEXT(line)   { .kind = TOOL_ROW_TEXT, .text = line },
#define COMMAND(word, function, n, help) \
    { .kind = TOOL_ROW_COMMAND, .text = help, .name = word, \
      .run = function, .n_operands = n },
#define OPTION(short_name, long_name, word, completes, to, help) \
    { .kind = TOOL_ROW_OPTION, .text = help, .name = long_name, \
      .letter = short_name, .argument = word, \
      .is_name = TOOL_IS_NAME_##completes, TOOL_TAKE_##to },
#define HABIT(option, instead) \
    { .kind = TOOL_ROW_HABIT, .text = instead, .name = option },

#define TOOL_IS_NAME_NONE      false
#define TOOL_IS_NAME_FILE      true
#define TOOL_IS_NAME_GGUF      true
#define TOOL_IS_NAME_DEVICE    true
#define TOOL_IS_NAME_TYPE      true
#define TOOL_IS_NAME_CASE      true
#define TOOL_IS_NAME_OPERATION true

#define TOOL_TAKE_TO(how_, member_) \
    .how = TOOL_HOW_##how_, .member = offsetof(struct options, member_)
#define TOOL_TAKE_SET(member_)    TOOL_TAKE_TO(SET, member_)
#define TOOL_TAKE_CLEAR(member_)  TOOL_TAKE_TO(CLEAR, member_)
#define TOOL_TAKE_STRING(member_) TOOL_TAKE_TO(STRING, member_)
#define TOOL_TAKE_INTEGER(member_, from, to) \
    TOOL_TAKE_TO(INTEGER, member_), .least = from, .most = to
#define TOOL_TAKE_REAL(member_, from, to) \
    TOOL_TAKE_TO(REAL, member_), .least = from, .most = to
#define TOOL_TAKE_READ(function) .how = TOOL_HOW_READ, .read = function
#define TOOL_TAKE_EACH(function) TOOL_TAKE_READ(function)
#define TOOL_TAKE_HELP           .how = TOOL_HOW_HELP
#define TOOL_TAKE_VERSION        .how = TOOL_HOW_VERSION

/*
 * Read the options of ARGV into OPTIONS, the tool's struct, by its N rows.  -1
 * when there is something to do, with the first operand at argv[optind]; else
 * the program exits with what is returned, after --help, --version or a message.
 */
int tool_options_read(const struct tool_row *rows, size_t n, int argc,
                      char **argv, void *options);

/* Run the command at argv[optind]; a status to end with. */
int tool_command_run(const struct tool_row *rows, size_t n, int argc,
                     char **argv, const void *options);

#endif
