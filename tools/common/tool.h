/* SPDX-License-Identifier: MIT */
/*
 * common/tool.h - messages, exit codes and numbers of the command line.
 *
 * A tool calls tool_begin first and returns tool_end(status) from main.  All
 * messages go to stderr as "NAME: message".  One thread.
 */
#ifndef TOOLS_COMMON_TOOL_H
#define TOOLS_COMMON_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOOL_OK     0
#define TOOL_FAILED 1
#define TOOL_USAGE  2

#if defined(__GNUC__)
#define TOOL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define TOOL_PRINTF(fmt, args)
#endif

/*
 * Name the program in messages, and take the library's log: warnings are shown
 * under the program's name, an error is kept for tool_reason, so that the tool
 * can say in one line what could not be done and why.  NAME is kept.
 */
void tool_begin(const char *name);

/* That name. */
const char *tool_name(void);

/* Flush stdout.  False, without a message, if text did not arrive: tool_end says why. */
bool tool_flush(void);

/*
 * Flush stdout; STATUS, or TOOL_FAILED (and a message) when what was written
 * there did not arrive.
 */
int tool_end(int status);

/*
 * Say whether text on stdout stands in a line that is not at its end.
 * Messages, and tool_end_line, end the line where they are seen below the text:
 * on a terminal, or where stdout and stderr are one file.
 */
void tool_set_in_line(bool is_in_line);
void tool_end_line(void);

/* Print "NAME: message"; always false, for "return tool_error(…)". */
TOOL_PRINTF(1, 2)
bool tool_error(const char *fmt, ...);

/* Print "NAME: warning: message". */
TOOL_PRINTF(1, 2)
void tool_warning(const char *fmt, ...);

/* Print "NAME: message" and where to find the usage; always TOOL_USAGE. */
TOOL_PRINTF(1, 2)
int tool_usage_error(const char *fmt, ...);

/*
 * Load the modules that there are; what is broken about them is warned of.
 */
void tool_load_modules(void);

/* Forget the library's error, before a call that may fail. */
void tool_forget_reason(void);

/* Has the library said an error since then? */
bool tool_has_reason(void);

/* The library's first error since then, "unknown reason" without.  Static. */
const char *tool_reason(void);

/* What --version prints, to stdout. */
void tool_print_version(void);

/*
 * The decimal number that TEXT, the argument of OPTION, is in whole, without a
 * blank or a plus in front, when it is in [MIN, MAX]; else false, after a message.
 */
bool tool_parse_int(const char *option, const char *text, int64_t min,
                    int64_t max, int64_t *out);
bool tool_parse_real(const char *option, const char *text, double min,
                     double max, double *out);

/*
 * The whole file PATH ("-" is stdin) with a NUL after it; NULL after a message.
 * The caller frees it.
 */
char *tool_read_file(const char *path, size_t *size);

#endif
