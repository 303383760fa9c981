/* SPDX-License-Identifier: MIT */
/*
 * common/tool.c - messages, exit codes and numbers of the command line.
 */
#include "config.h"

#include "tools/common/tool.h"

#include "tools/common/text.h"

#include "ggml-backend.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *program = "ggmlbackend";

/* Is text on stdout in the middle of a line? */
static bool is_in_line;

/* The library's first error since tool_forget_reason; long ones are cut. */
static char reason[512];

/* Why text did not reach stdout; 0 if it did. */
static int output_error;

/* Does what goes to stderr appear behind what goes to stdout? */
static bool
is_seen_together(void)
{
    struct stat out, err;

    return isatty(STDOUT_FILENO) == 1 ||
        (fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 &&
         out.st_dev == err.st_dev && out.st_ino == err.st_ino);
}

void
tool_set_in_line(bool value)
{
    is_in_line = value;
}

void
tool_end_line(void)
{
    if (is_in_line && is_seen_together()) {
        putchar('\n');
        fflush(stdout);
    }
    is_in_line = false;
}

/* What is too long, which only paths can be, is cut. */
static void
print(const char *kind, const char *fmt, va_list args)
{
    char text[8192];

    /* First: the text of strerror or dlerror among ARGS may not outlive a call. */
    vsnprintf(text, sizeof(text), fmt, args);
    tool_end_line();
    fprintf(stderr, "%s: %s", program, kind);
    text_put(stderr, text, strlen(text), "");
    fputc('\n', stderr);
}

static void
keep_reason(const char *text)
{
    snprintf(reason, sizeof(reason), "%s", text);
    reason[strcspn(reason, "\n")] = '\0';
}

static void
take_log(enum ggml_log_level level, const char *text, void *user_data)
{
    (void)user_data;
    if (level == GGML_LOG_LEVEL_ERROR && reason[0] == '\0')
        keep_reason(text);
    else if (level == GGML_LOG_LEVEL_WARN)
        tool_warning("%.*s", (int)strcspn(text, "\n"), text);
    else if (level == GGML_LOG_LEVEL_NONE)
        text_put(stderr, text, strlen(text), "\n\t");
}

/* A file that is opened later would get the number of a standard stream that is
 * closed, and be read or written in its place.  This one fails at once. */
static void
occupy_closed_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void
tool_begin(const char *name)
{
    occupy_closed_streams();
    program = name;
    ggml_log_set(take_log, NULL);
}

const char *
tool_name(void)
{
    return program;
}

bool
tool_flush(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return true;
    if (output_error == 0)
        output_error = errno;
    return false;
}

int
tool_end(int status)
{
    const bool is_written = tool_flush();

    if (output_error != 0)
        tool_error("standard output: %s", strerror(output_error));
    else if (!is_written)
        tool_error("standard output: not all of it could be written");
    else
        return status;
    return TOOL_FAILED;
}

bool
tool_error(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    print("", fmt, args);
    va_end(args);
    return false;
}

void
tool_warning(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    print("warning: ", fmt, args);
    va_end(args);
}

int
tool_usage_error(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    print("", fmt, args);
    va_end(args);
    fprintf(stderr, "%s: try %s --help\n", program, program);
    return TOOL_USAGE;
}

void
tool_forget_reason(void)
{
    reason[0] = '\0';
}

bool
tool_has_reason(void)
{
    return reason[0] != '\0';
}

const char *
tool_reason(void)
{
    return reason[0] == '\0' ? "unknown reason" : reason;
}

void
tool_load_modules(void)
{
    tool_forget_reason();
    ggml_backend_load_all();
    if (reason[0] != '\0')
        tool_warning("%s", reason);
    tool_forget_reason();
}

void
tool_print_version(void)
{
    printf("%s (libggmlbackend) %s\n", program, PACKAGE_VERSION);
}

/* How many digits TEXT begins with. */
static size_t
n_digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* Is TEXT digits, with a minus before them or none?  strtoll takes blanks and a
 * plus as well. */
static bool
is_whole(const char *text)
{
    text += text[0] == '-';
    return n_digits(text) > 0 && text[n_digits(text)] == '\0';
}

/* Is TEXT such digits with a point among them or none, and an exponent or none?
 * strtod takes hexadecimal, infinity and NaN as well. */
static bool
is_decimal(const char *text)
{
    size_t n;

    text += text[0] == '-';
    n = n_digits(text);
    text += n;
    if (text[0] == '.') {
        n += n_digits(text + 1);
        text += 1 + n_digits(text + 1);
    }
    if (n == 0)
        return false;
    if (text[0] != 'e' && text[0] != 'E')
        return text[0] == '\0';
    text += 1 + (text[1] == '-' || text[1] == '+');
    return n_digits(text) > 0 && text[n_digits(text)] == '\0';
}

bool
tool_parse_int(const char *option, const char *text, int64_t min, int64_t max,
               int64_t *out)
{
    long long value;

    if (!is_whole(text))
        return tool_error("%s: '%s' is not a whole number", option, text);
    errno = 0;
    value = strtoll(text, NULL, 10);
    if (errno != 0 || value < min || value > max)
        return tool_error("%s: %s is not between %lld and %lld", option, text,
                          (long long)min, (long long)max);
    *out = value;
    return true;
}

bool
tool_parse_real(const char *option, const char *text, double min, double max,
                double *out)
{
    double value;

    if (!is_decimal(text))
        return tool_error("%s: '%s' is not a number", option, text);
    value = strtod(text, NULL);
    if (value < min || value > max)
        return tool_error("%s: %s is not between %g and %g", option, text, min,
                          max);
    *out = value;
    return true;
}

/* All of FILE; NULL with errno set. */
static char *
read_stream(FILE *file, size_t *size)
{
    size_t room = 65536, used = 0, got;
    char *text = malloc(room);

    while (text != NULL) {
        got = fread(text + used, 1, room - used - 1, file);
        used += got;
        if (got == 0)
            break;
        if (used == room - 1) {
            char *larger = realloc(text, room * 2);

            if (larger == NULL) {
                free(text);
                return NULL;
            }
            text = larger;
            room *= 2;
        }
    }
    if (text == NULL || ferror(file)) {
        free(text);
        return NULL;
    }
    text[used] = '\0';
    *size = used;
    return text;
}

char *
tool_read_file(const char *path, size_t *size)
{
    const bool is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(path, "rb");
    char *text = file == NULL ? NULL : read_stream(file, size);

    if (text == NULL)
        tool_error("%s: %s", is_stdin ? "standard input" : path,
                   strerror(errno));
    if (file != NULL && !is_stdin)
        fclose(file);
    return text;
}
