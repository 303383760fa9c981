/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-gguf/check.c - is a file whole, and can each tensor's data be what its
 * type says?
 */
#include "tools/common/json.h"
#include "tools/common/progress.h"
#include "tools/common/tool.h"
#include "tools/ggmlbackend-gguf/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What is wrong with tensor I, or NULL. */
static const char *
check_tensor(const struct model *model, int64_t i)
{
    const uint8_t *data = model_data(model, i);

    if (data == NULL)
        return "the file ends before its data does";
    tool_forget_reason();
    if (!ggml_validate_row_data(gguf_get_tensor_type(model->gguf, i), data,
                                gguf_get_tensor_size(model->gguf, i)))
        return "its data has values that its type cannot have";
    return NULL;
}

int
command_check(const char *path, bool json)
{
    json_t *problems = json_array(), *root;
    struct progress bar;
    struct model model;
    int64_t n, bad = 0;

    if (!model_open(&model, path)) {
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
        json_array_append_new(
            problems, json_pack("{s:o,s:s}", "tensor",
                                tool_json_string(name, strlen(name)), "problem",
                                why));
    }
    progress_end(&bar);
    model_close(&model);
    if (!json) {
        json_decref(problems);
        if (bad == 0)
            printf("%s: %" PRId64 " tensors, nothing wrong\n", path, n);
        return bad == 0 ? TOOL_OK : TOOL_FAILED;
    }
    root = json_object();
    json_object_set_new(root, "tensors", json_integer(n));
    json_object_set_new(root, "problems", problems);
    if (!tool_json_print(root))
        return TOOL_FAILED;
    return bad == 0 ? TOOL_OK : TOOL_FAILED;
}
