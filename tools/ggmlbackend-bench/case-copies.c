/* SPDX-License-Identifier: MIT */
/*
 * bench/case-copies.c - bytes to a device, from it, and on it.
 */
#include "tools/ggmlbackend-bench/case.h"
#include "tools/model/array.h"

static const int64_t sizes[] = {
    (int64_t)4 << 10, (int64_t)256 << 10, (int64_t)16 << 20,
    (int64_t)128 << 20,
};

/* Two tensors of the size in KiB, and as much memory of the host. */
static bool
open_copy(struct job *job, const struct bench *bench,
          const struct bench_case *c, bool *is_supported)
{
    const int64_t size = c->size[0];
    struct ggml_tensor *from, *to;

    (void)is_supported;
    if (!job_begin(job, bench->device, 1))
        return false;
    from = ggml_new_tensor_1d(job->leafs, GGML_TYPE_I8, size);
    to = ggml_new_tensor_1d(job->leafs, GGML_TYPE_I8, size);
    tool_forget_reason();
    job->buffer = ggml_backend_alloc_ctx_tensors_from_buft(job->leafs,
                                                           job->device->buft);
    if (job->buffer == NULL)
        return tool_error("no memory for tensors: %s", tool_reason());
    job->bytes = new_zeroed((size_t)size, 1);
    if (job->bytes == NULL)
        return false;
    ggml_backend_tensor_set(from, job->bytes, 0, (size_t)size);
    ggml_backend_tensor_set(to, job->bytes, 0, (size_t)size);
    job->work = 2.0 * (double)size;
    job->demand.bytes = job->work;
    return true;
}

static bool
run_set(struct job *job)
{
    struct ggml_tensor *t = ggml_get_first_tensor(job->leafs);

    ggml_backend_tensor_set(t, job->bytes, 0, ggml_nbytes(t));
    return true;
}

static bool
run_get(struct job *job)
{
    struct ggml_tensor *t = ggml_get_first_tensor(job->leafs);

    ggml_backend_tensor_get(t, job->bytes, 0, ggml_nbytes(t));
    return true;
}

static bool
run_copy(struct job *job)
{
    struct ggml_tensor *from = ggml_get_first_tensor(job->leafs);

    ggml_backend_tensor_copy(from, ggml_get_next_tensor(job->leafs, from));
    return true;
}

static const struct {
    const char *name;
    struct case_kind kind;
} ways[] = {
    { "set", { UNIT_BYTES, open_copy, run_set, NULL } },
    { "get", { UNIT_BYTES, open_copy, run_get, NULL } },
    { "tensor", { UNIT_BYTES, open_copy, run_copy, NULL } },
};

void
cases_copies(struct case_list *list, const struct options *o)
{
    (void)o;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
        for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++)
            case_add(list,
                     (struct bench_case){ .kind = &ways[i].kind,
                                          .size = { sizes[j] } },
                     "copy/%s/%lldKiB", ways[i].name,
                     (long long)sizes[j] >> 10);
}
