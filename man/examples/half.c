/* SPDX-License-Identifier: MIT */
#include <ggml.h>
#include <math.h>
#include <stdio.h>

int
main(void)
{
    const float x[] = { 0.1f, 1.0f, 3.14159265f, -65504.0f, 1e6f };
    ggml_fp16_t half[5];
    float back[5];
    bool is_right = true;

    ggml_fp32_to_fp16_row(x, half, 5);
    ggml_fp16_to_fp32_row(half, back, 5);
    for (int i = 0; i < 5; i++) {
        const float brain = ggml_bf16_to_fp32(ggml_fp32_to_bf16(x[i]));

        printf("%12g   f16 %12g   bf16 %12g\n", (double)x[i],
               (double)back[i], (double)brain);
        /* 11 significant bits and 8; 1e6 is beyond what F16 can hold */
        is_right = is_right && fabsf(brain - x[i]) <= fabsf(x[i]) / 256 &&
                   (i == 4 ? isinf(back[i])
                           : fabsf(back[i] - x[i]) <= fabsf(x[i]) / 2048);
    }
    return is_right ? 0 : 1;
}
