// SPDX-License-Identifier: MIT
//
// install/client.cpp - the same through a scheduler, in C++.
//
#include <ggml-cpp.h>
#include <ggml-cpu.h>

#include <cstdio>

int
main()
{
    ggml_backend_ptr backend(
        ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, nullptr));
    ggml_context_ptr ctx(ggml_init({ 1024 * 1024, nullptr, true }));
    ggml_backend_t backends[] = { backend.get() };
    ggml_backend_sched_ptr sched(
        ggml_backend_sched_new(backends, nullptr, 1, 16, false));
    if (!backend || !ctx || !sched)
        return 1;
    ggml_tensor *a = ggml_new_tensor_1d(ctx.get(), GGML_TYPE_F32, 4);
    ggml_tensor *sum = ggml_add(ctx.get(), a, a);
    ggml_cgraph *graph = ggml_new_graph(ctx.get());
    ggml_build_forward_expand(graph, sum);
    ggml_backend_buffer_ptr buffer(
        ggml_backend_alloc_ctx_tensors(ctx.get(), backend.get()));
    const float in[4] = { 1, 2, 3, 4 };
    float out[4];
    ggml_backend_tensor_set(a, in, 0, sizeof(in));
    if (ggml_backend_sched_graph_compute(sched.get(), graph) !=
        GGML_STATUS_SUCCESS)
        return 1;
    ggml_backend_tensor_get(sum, out, 0, sizeof(out));
    std::printf("%s: 4 + 4 is %g\n", ggml_backend_name(backend.get()), out[3]);
    return out[3] == 8 ? 0 : 1;
}
