/* SPDX-License-Identifier: MIT */
/*
 * bench/compare.c - results that were written as JSON, read and compared.
 */
#include "tools/ggmlbackend-bench/compare.h"

#include "tools/common/json.h"
#include "tools/common/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct result *
find(const struct result_list *list, const struct result *like)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->at[i].n_threads == like->n_threads &&
            strcmp(list->at[i].name, like->name) == 0)
            return &list->at[i];
    return NULL;
}

/*
 * Add the samples of R to OLD's.  A sample is of one run, and runs of limits do
 * not all do as much, so its seconds are those of OLD's work.
 */
static bool
merge(struct result *old, const struct result *r)
{
    for (size_t i = 0; i < r->seconds.n; i++)
        if (!samples_push(&old->seconds,
                          r->seconds.at[i] * old->work / r->work))
            return false;
    return true;
}

static bool
take(struct result_list *list, struct result *r)
{
    struct result *old = find(list, r);
    bool is_taken;

    if (old == NULL || !old->is_supported || !r->is_supported)
        return old != NULL || result_list_take(list, r);
    is_taken = merge(old, r);
    result_clear(r);
    return is_taken;
}

/* A file may have two libraries; LIBRARY is the one whose results count. */
struct reader {
    struct result_list *list;
    char library[512];
    bool has_others;
};

static bool
is_other_library(struct reader *reader, json_t *json)
{
    const char *library =
        json_string_value(json_object_get(json, "library"));

    if (library == NULL)
        return false;
    if (reader->library[0] == '\0')
        snprintf(reader->library, sizeof(reader->library), "%s", library);
    return strncmp(reader->library, library, sizeof(reader->library) - 1) != 0;
}

/* Keep what MEMBER of a line says, where it says something. */
static void
keep(char *to, size_t size, json_t *json, const char *member)
{
    const char *text = json_string_value(json_object_get(json, member));

    if (text != NULL)
        snprintf(to, size, "%s", text);
}

static void
keep_about(struct about *about, json_t *json)
{
    keep(about->cpu, sizeof(about->cpu), json, "cpu");
    keep(about->placement, sizeof(about->placement), json, "placement");
    keep(about->device, sizeof(about->device), json, "device");
    keep(about->library, sizeof(about->library), json, "library");
}

static bool
read_line(struct reader *reader, const char *line, size_t n, const char *where)
{
    json_error_t error;
    json_t *json = json_loadb(line, n, 0, &error);
    struct result r = { .n_threads = 0 };
    bool is_read;

    if (json == NULL)
        return tool_error("%s: is not JSON: %s", where, error.text);
    if (is_other_library(reader, json)) {
        reader->has_others = true;
        is_read = true;
    } else {
        keep_about(&reader->list->about, json);
        is_read = result_from_json(&r, json, where) && take(reader->list, &r);
        result_clear(&r);
    }
    json_decref(json);
    return is_read;
}

bool
compare_read(struct result_list *list, const char *path)
{
    struct reader reader = { .list = list };
    size_t size, at = 0;
    char *text = tool_read_file(path, &size);
    bool is_read = text != NULL;

    for (int line = 1; is_read && at < size; line++) {
        const char *end = memchr(text + at, '\n', size - at);
        const size_t n = end == NULL ? size - at : (size_t)(end - text) - at;
        char where[512];

        snprintf(where, sizeof(where), "%s, line %d", path, line);
        is_read = n == 0 || read_line(&reader, text + at, n, where);
        at += n + 1;
    }
    free(text);
    if (is_read && reader.has_others)
        tool_warning("%s: only the results of %s are looked at", path,
                     reader.library);
    return is_read &&
        (list->n > 0 || tool_error("%s: has no results", path));
}

static bool
print_json(const struct result *a, const struct result *b)
{
    double ratio, p;
    const char *verdict = report_verdict(a, b, &ratio, &p);
    json_t *root;

    if (verdict == NULL)
        return false;
    root = json_object();
    tool_json_put(root, "name", tool_json_text(a->name));
    tool_json_put(root, "threads", json_integer(a->n_threads));
    tool_json_put(root, "unit", tool_json_text(unit_name(a->unit)));
    tool_json_put(root, "a", tool_json_real(result_median(a)));
    tool_json_put(root, "b", tool_json_real(result_median(b)));
    tool_json_put(root, "ratio", tool_json_real(ratio));
    tool_json_put(root, "p", tool_json_real(p));
    tool_json_put(root, "verdict", tool_json_text(verdict));
    return tool_json_print(root);
}

bool
compare_print(const struct result_list *a, const struct result_list *b,
              const char *const labels[2], bool is_json)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n; i++) {
        const struct result *other = find(b, &a->at[i]);

        if (other == NULL || other->unit != a->at[i].unit ||
            !other->is_supported || !a->at[i].is_supported)
            continue;
        if (n++ == 0 && !is_json)
            report_pair_heading(labels[0], labels[1]);
        if (!(is_json ? print_json : report_pair)(&a->at[i], other))
            return false;
    }
    return n > 0 || tool_error("%s and %s have no case in common", labels[0],
                               labels[1]);
}
