/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/main.c - every operation on a device against a reference in
 * double precision.
 */
#include "tools/common/device.h"
#include "tools/common/json.h"
#include "tools/common/options.h"
#include "tools/common/tool.h"
#include "tools/ggmlbackend-conformance/reference.h"
#include "tools/ggmlbackend-conformance/suite.h"

#include "ggmlbackend.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct options {
    const char *cases;
    const char *device;
    const char *op;
    int64_t part, parts;
    int64_t seed;
    bool json, list, list_devices, verbose;
};

/* "2/5": the second of five parts. */
static bool
read_part(void *options, const char *option, const char *text)
{
    struct options *o = options;
    const char *slash = strchr(text, '/');
    char part[32];

    if (slash == NULL || slash - text >= (ptrdiff_t)sizeof(part))
        return tool_error("%s: '%s' is no part such as 2/5, the second of five",
                          option, text);
    snprintf(part, sizeof(part), "%.*s", (int)(slash - text), text);
    return tool_parse_int(option, slash + 1, 1, INT64_MAX, &o->parts) &&
        tool_parse_int(option, part, 1, o->parts, &o->part);
}

static const struct tool_row rows[] = {
#include "tools/ggmlbackend-conformance/options.def"
};

/* The operations, and behind them the functions of one number. */
enum { N_NAMES = GGML_OP_COUNT + GGML_UNARY_OP_COUNT };

static const char *
name_of(int i)
{
    return i < GGML_OP_COUNT
               ? ggml_op_name((enum ggml_op)i)
               : ggml_unary_op_name((enum ggml_unary_op)(i - GGML_OP_COUNT));
}

static bool
is_operation(const char *name)
{
    for (int i = 0; i < N_NAMES; i++)
        if (strcmp(name_of(i), name) == 0)
            return true;
    return false;
}

/* An extended regular expression of POSIX, told where it is none. */
static bool
read_cases(const char *text, regex_t *cases)
{
    char reason[160];
    const int error = regcomp(cases, text, REG_EXTENDED | REG_NOSUB);

    if (error == 0)
        return true;
    regerror(error, cases, reason, sizeof(reason));
    tool_usage_error("'%s' is no regular expression: %s", text, reason);
    return false;
}

static int
print_names(void)
{
    for (int i = 0; i < N_NAMES; i++)
        puts(name_of(i));
    return TOOL_OK;
}

static int
print_devices(void)
{
    tool_load_modules();
    for (size_t i = 0; i < ggml_backend_dev_count(); i++)
        puts(ggml_backend_dev_name(ggml_backend_dev_get(i)));
    return TOOL_OK;
}

/* All cases, as new tensors lie and with other strides where those mean
 * nothing; the last ones once. */
static void
run_all(struct suite *s)
{
    for (int pass = 0; pass < 2; pass++) {
        s->loose = pass > 0;
        cases_elements(s);
        cases_layout(s);
        cases_copies(s);
        cases_products(s);
        cases_networks(s);
        cases_attention(s);
        cases_sequences(s);
        cases_images(s);
        cases_single(s);
        cases_types(s);
        cases_far(s);
        cases_chains(s);
        reference_cases(s);
    }
    s->loose = false;
    cases_many_products(s);
    cases_cache_types(s);
    cases_long_products(s);
}

static void
print_table(const struct suite *s, const int64_t totals[N_OUTCOMES])
{
    printf("%-24s %8s %8s %12s\n", "operation", "passed", "failed",
           "unsupported");
    for (int i = 0; i < N_NAMES; i++) {
        const int64_t *n = s->counts[i];

        if (n[PASSED] + n[FAILED] + n[UNSUPPORTED] > 0)
            printf("%-24s %8" PRId64 " %8" PRId64 " %12" PRId64 "\n", name_of(i),
                   n[PASSED], n[FAILED], n[UNSUPPORTED]);
    }
    printf("%-24s %8" PRId64 " %8" PRId64 " %12" PRId64 "\n", "all",
           totals[PASSED], totals[FAILED], totals[UNSUPPORTED]);
}

static json_t *
json_counts(const int64_t n[N_OUTCOMES])
{
    json_t *root = json_object();

    tool_json_put(root, "passed", json_integer(n[PASSED]));
    tool_json_put(root, "failed", json_integer(n[FAILED]));
    tool_json_put(root, "unsupported", json_integer(n[UNSUPPORTED]));
    return root;
}

static bool
print_json(const struct suite *s, const int64_t totals[N_OUTCOMES],
           const char *device)
{
    json_t *root = json_counts(totals), *ops = json_object();

    for (int i = 0; i < N_NAMES; i++) {
        const int64_t *n = s->counts[i];

        if (n[PASSED] + n[FAILED] + n[UNSUPPORTED] > 0)
            tool_json_put(ops, name_of(i), json_counts(n));
    }
    tool_json_put(root, "device", tool_json_text(device));
    tool_json_put(root, "cpu_level", tool_json_text(ggmlbackend_cpu_level()));
    tool_json_put(root, "operations", ops);
    return tool_json_print(root);
}

/* Number all cases first: the bar has to know how many there are. */
static void
run_with_bar(struct suite *s)
{
    s->is_counting = true;
    run_all(s);
    s->is_counting = false;
    progress_begin(&s->bar, "checking", s->n_cases);
    s->n_cases = 0;
    run_all(s);
    progress_end(&s->bar);
}

/* Print what came of all cases on DEVICE; a status to end with. */
static int
conclude(const struct suite *s, const char *device, bool is_json)
{
    int64_t totals[N_OUTCOMES] = { 0 };
    bool is_printed = true;

    for (int i = 0; i < N_NAMES; i++)
        for (int j = 0; j < N_OUTCOMES; j++)
            totals[j] += s->counts[i][j];
    if (is_json)
        is_printed = print_json(s, totals, device);
    else
        print_table(s, totals);
    return is_printed && totals[FAILED] == 0 ? TOOL_OK : TOOL_FAILED;
}

static int
check_device(struct suite *s, const struct options *options)
{
    ggml_backend_dev_t dev;
    int status;

    tool_load_modules();
    dev = tool_device_find(options->device);
    if (dev == NULL)
        return TOOL_FAILED;
    tool_forget_reason();
    s->backend = ggml_backend_dev_init(dev, NULL);
    if (s->backend == NULL) {
        tool_error("device %s: %s", ggml_backend_dev_name(dev), tool_reason());
        return TOOL_FAILED;
    }
    run_with_bar(s);
    status = conclude(s, ggml_backend_dev_name(dev), options->json);
    ggml_backend_free(s->backend);
    return status;
}

/* Do what the options say; a status to end with. */
static int
work(const struct options *options)
{
    static struct suite s;
    static regex_t cases;
    int status;

    if (options->list)
        return print_names();
    if (options->list_devices)
        return print_devices();
    if (options->op != NULL && !is_operation(options->op))
        return tool_usage_error("there is no operation '%s', see --list",
                                options->op);
    if (options->cases != NULL && !read_cases(options->cases, &cases))
        return TOOL_USAGE;
    s.cases = options->cases != NULL ? &cases : NULL;
    s.part = (uint64_t)options->part;
    s.parts = (uint64_t)options->parts;
    s.only = options->op;
    s.seed = (uint64_t)options->seed;
    s.verbose = options->verbose;
    status = check_device(&s, options);
    if (s.cases != NULL)
        regfree(&cases);
    return status;
}

int
main(int argc, char **argv)
{
    struct options options = { .seed = 1, .part = 1, .parts = 1 };
    int status;

    tool_begin("ggmlbackend-conformance");
    status = tool_options_read(rows, sizeof(rows) / sizeof(rows[0]), argc, argv,
                               &options);
    if (status < 0)
        status = optind < argc
            ? tool_usage_error("unexpected argument '%s'", argv[optind])
            : work(&options);
    return tool_end(status);
}
