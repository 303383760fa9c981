/* SPDX-License-Identifier: MIT */
#include <ggml-cpu.h>
#include <ggmlbackend.h>

#include <stdio.h>

int
main(void)
{
    printf("AVX-VNNI %d, AVX-512 VNNI %d, AMX-INT8 %d\n",
           ggml_cpu_has_avx_vnni(), ggml_cpu_has_avx512_vnni(),
           ggml_cpu_has_amx_int8());
    printf("dot products %d, matrices of int8 %d, SVE of %d bytes\n",
           ggml_cpu_has_dotprod(), ggml_cpu_has_matmul_int8(),
           ggml_cpu_get_sve_cnt());
    printf("kernels: %s\n", ggmlbackend_cpu_level());
    /* What has AVX2 has AVX, and no machine has both families. */
    return ggml_cpu_has_avx2() <= ggml_cpu_has_avx() &&
           !(ggml_cpu_has_avx() && ggml_cpu_has_neon()) ? 0 : 1;
}
