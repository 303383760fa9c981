/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/main.c - every operation on a device against a reference in
 * double precision.
 */
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
    const char *part;
    int64_t seed;
    bool json, list, verbose;
};

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

/* "2/5": the second of five parts. */
static bool
read_part(const char *text, struct suite *s)
{
    char behind;

    return sscanf(text, "%" SCNu64 "/%" SCNu64 "%c", &s->part, &s->parts,
                  &behind) == 2 &&
           strchr(text, '-') == NULL && s->part >= 1 && s->part <= s->parts;
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

int
main(int argc, char **argv)
{
    static struct suite s;
    static regex_t cases;
    struct options options = { .seed = 1 };
    int64_t totals[N_OUTCOMES] = { 0 };
    const char *device;
    int status;

    tool_begin("ggmlbackend-conformance");
    status = tool_options_read(rows, sizeof(rows) / sizeof(rows[0]), argc, argv,
                               &options);
    if (status >= 0)
        return tool_end(status);
    if (optind < argc)
        return tool_end(
            tool_usage_error("unexpected argument '%s'", argv[optind]));
    if (options.list)
        return tool_end(print_names());
    if (options.op != NULL && !is_operation(options.op))
        return tool_end(
            tool_usage_error("there is no operation '%s'", options.op));

    s.part = s.parts = 1;
    if (options.part != NULL && !read_part(options.part, &s))
        return tool_end(tool_usage_error(
            "'%s' is no part such as 2/5, the second of five", options.part));
    if (options.cases != NULL) {
        if (!read_cases(options.cases, &cases))
            return tool_end(TOOL_USAGE);
        s.cases = &cases;
    }

    tool_load_modules();
    s.backend = options.device != NULL
                    ? ggml_backend_init_by_name(options.device, NULL)
                    : ggml_backend_init_best();
    if (s.backend == NULL) {
        tool_error("there is no device '%s'",
                   options.device != NULL ? options.device : "");
        return tool_end(TOOL_FAILED);
    }
    device = ggml_backend_dev_name(ggml_backend_get_device(s.backend));
    s.only = options.op;
    s.seed = (uint64_t)options.seed;
    s.verbose = options.verbose;
    run_all(&s);

    for (int i = 0; i < N_NAMES; i++)
        for (int j = 0; j < N_OUTCOMES; j++)
            totals[j] += s.counts[i][j];
    if (options.json)
        status = print_json(&s, totals, device) ? TOOL_OK : TOOL_FAILED;
    else
        print_table(&s, totals);
    ggml_backend_free(s.backend);
    if (s.cases != NULL)
        regfree(&cases);
    return tool_end(status == TOOL_FAILED || totals[FAILED] > 0 ? TOOL_FAILED
                                                                : TOOL_OK);
}
