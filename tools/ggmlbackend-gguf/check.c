/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-gguf/check.c - is a file whole, and can each tensor's data be what its
 * type says?
 */
#include "tools/common/json.h"
#include "tools/common/progress.h"
#include "tools/common/text.h"
#include "tools/common/tool.h"
#include "tools/ggmlbackend-gguf/model.h"

#include <inttypes.h>
#include <stdio.h>

/* Problems of tensors, for people and for JSON. */
struct findings {
    struct model *model;
    json_t *problems;
    int64_t n;
};

/* What is wrong with the data of tensor I, which is not cut, or NULL. */
static const char *
check_data(struct model *model, int64_t i)
{
    const struct ggml_tensor *t = model_tensor(model, i);
    const uint8_t *data = model_data(model, i);

    if (data == NULL)
        return "its data cannot be read";
    tool_forget_reason();
    if (!ggml_validate_row_data(t->type, data, ggml_nbytes(t)))
        return "its data has values that its type cannot have";
    return NULL;
}

static void
check_tensor(struct findings *f, int64_t i)
{
    const bool is_cut = model_is_cut(f->model, i);
    const char *why = is_cut ? "the file ends before its data does"
                             : check_data(f->model, i);
    const char *name = model_tensor(f->model, i)->name;
    json_t *row;

    if (why == NULL)
        return;
    f->n++;
    if (!is_cut)
        tool_error("%s: tensor '%s': %s", model_path(f->model, i), name, why);
    row = json_object();
    tool_json_put(row, "tensor", tool_json_text(name));
    tool_json_put(row, "problem", tool_json_text(why));
    tool_json_add(f->problems, row);
}

/* Says once of PART how many of its tensors are cut. */
static void
say_cut(const struct model *model, const struct model_part *part)
{
    const char *first = NULL;
    int64_t n = 0;

    for (int64_t i = 0; i < model->n_tensors; i++) {
        const struct model_place *place = &model->files.places[i];

        if (place->part != part || !model_place_is_cut(place))
            continue;
        if (n++ == 0)
            first = place->tensor->name;
    }
    if (n > 0)
        tool_error("%s: ends after %zu bytes, before the data of %" PRId64
                   " of its %" PRId64 " tensors, '%s' the first; copy the file "
                   "again", part->path, part->input.size, n,
                   gguf_get_n_tensors(part->gguf), first);
}

static void
check_all(struct findings *f)
{
    const struct model *model = f->model;
    struct progress bar;

    for (int i = 0; i < model->files.n_parts; i++)
        say_cut(model, &model->files.parts[i]);
    progress_begin(&bar, "checking", (uint64_t)model->n_tensors);
    for (int64_t i = 0; i < model->n_tensors; i++) {
        check_tensor(f, i);
        progress_update(&bar, (uint64_t)i + 1);
    }
    progress_end(&bar);
}

static void
print_good(const char *path, const struct model *model)
{
    printf("%s: %" PRId64 " tensors", text_quoted(path), model->n_tensors);
    if (model->files.n_parts > 1)
        printf(" in %d parts", model->files.n_parts);
    puts(", nothing wrong");
}

/* Prints F, and releases its list; false if that cannot be done. */
static bool
print_json(struct findings *f)
{
    json_t *root = json_object();

    tool_json_put(root, "tensors", json_integer(f->model->n_tensors));
    tool_json_put(root, "problems", f->problems);
    return tool_json_print(root);
}

int
command_check(const char *path, bool json, bool may_map)
{
    struct model model;
    struct findings f = { .model = &model };
    bool is_told = true;

    if (!model_open(&model, path, may_map))
        return TOOL_FAILED;
    f.problems = json_array();
    check_all(&f);
    if (json)
        is_told = print_json(&f);
    else if (f.n == 0)
        print_good(path, &model);
    if (!json)
        json_decref(f.problems);
    model_close(&model);
    return is_told && f.n == 0 ? TOOL_OK : TOOL_FAILED;
}
