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

/* What is wrong with tensor I, or NULL. */
static const char *
check_tensor(struct model *model, int64_t i)
{
    const uint8_t *data;

    if (model_is_cut(model, i))
        return "the file ends before its data does";
    data = model_data(model, i);
    if (data == NULL)
        return "its data cannot be read";
    tool_forget_reason();
    if (!ggml_validate_row_data(gguf_get_tensor_type(model->gguf, i), data,
                                gguf_get_tensor_size(model->gguf, i)))
        return "its data has values that its type cannot have";
    return NULL;
}

static void
add_problem(json_t *problems, const char *tensor, const char *why)
{
    json_t *row = json_object();

    tool_json_put(row, "tensor", tool_json_text(tensor));
    tool_json_put(row, "problem", tool_json_text(why));
    tool_json_add(problems, row);
}

int
command_check(const char *path, bool json, bool may_map)
{
    json_t *problems = json_array(), *root;
    struct progress bar;
    struct model model;
    int64_t n, bad = 0;

    if (!model_open(&model, path, may_map)) {
        json_decref(problems);
        return TOOL_FAILED;
    }
    n = gguf_get_n_tensors(model.gguf);
    progress_begin(&bar, "checking", (uint64_t)n);
    for (int64_t i = 0; i < n; i++) {
        const char *name = gguf_get_tensor_name(model.gguf, i);
        const char *why = check_tensor(&model, i);

        progress_update(&bar, (uint64_t)i + 1);
        if (why == NULL)
            continue;
        bad++;
        tool_error("%s: tensor '%s': %s", path, name, why);
        add_problem(problems, name, why);
    }
    progress_end(&bar);
    model_close(&model);
    if (!json) {
        json_decref(problems);
        if (bad == 0)
            printf("%s: %" PRId64 " tensors, nothing wrong\n",
                   text_quoted(path), n);
        return bad == 0 ? TOOL_OK : TOOL_FAILED;
    }
    root = json_object();
    tool_json_put(root, "tensors", json_integer(n));
    tool_json_put(root, "problems", problems);
    if (!tool_json_print(root))
        return TOOL_FAILED;
    return bad == 0 ? TOOL_OK : TOOL_FAILED;
}
