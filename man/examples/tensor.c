/* SPDX-License-Identifier: MIT */
#include <ggml.h>
#include <stdio.h>
#include <string.h>

int
main(void)
{
    const float values[] = { 1, 2, 3, 4, 5, 6 }; /* two rows of three */
    struct ggml_init_params params = { 1 << 16, NULL, false };
    struct ggml_context *ctx = ggml_init(params);

    if (ctx == NULL)
        return 1;

    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 3, 2);
    struct ggml_tensor *view = ggml_view_tensor(ctx, a);
    float element = 0;

    if (ggml_get_data(a) != NULL && ggml_nbytes(a) == sizeof(values)) {
        memcpy(a->data, values, sizeof(values));
        /* The view has the same memory: element (2, 1) is the last. */
        memcpy(&element,
               (const char *)view->data + 2 * view->nb[0] +
                   1 * view->nb[1],
               sizeof(element));
        printf("[%lld, %lld] of %s, rows %zu bytes apart, last is %g\n",
               (long long)view->ne[0], (long long)view->ne[1],
               ggml_type_name(view->type), view->nb[1], (double)element);
    }
    ggml_free(ctx);
    return element == 6 ? 0 : 1;
}
