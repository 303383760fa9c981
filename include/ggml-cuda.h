/* SPDX-License-Identifier: MIT */
/*
 * ggml-cuda.h - functions of the backend for NVIDIA's cards, and for AMD's.
 *
 * They are there whether or not the library has such a backend: the first call of
 * one of them loads it from the folders of modules if it is not registered, the
 * one for NVIDIA's cards before the one for AMD's.  Where there is none, they
 * give NULL, 0 or false, or do nothing; ggmlbackend_refused_get has the reason.
 * Any thread.
 */
#ifndef GGML_CUDA_H
#define GGML_CUDA_H

#include "ggml-backend.h"
#include "ggml.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What names of devices begin with, and whose matrix products there may be. */
#if defined(GGML_USE_HIP)
#define GGML_CUDA_NAME   "ROCm"
#define GGML_CUBLAS_NAME "hipBLAS"
#elif defined(GGML_USE_MUSA)
#define GGML_CUDA_NAME   "MUSA"
#define GGML_CUBLAS_NAME "muBLAS"
#else
#define GGML_CUDA_NAME   "CUDA"
#define GGML_CUBLAS_NAME "cuBLAS"
#endif

/* Devices that the backend has at most. */
#define GGML_CUDA_MAX_DEVICES 16

/* ---- cards ---- */

/* A backend on the DEVICE-th card; NULL without it, or without memory. */
GGML_BACKEND_API ggml_backend_t ggml_backend_cuda_init(int device);

/* Is it a backend on such a card, however it was made?  False for NULL. */
GGML_BACKEND_API bool ggml_backend_is_cuda(ggml_backend_t backend);

/* How many cards there are. */
GGML_BACKEND_API int ggml_backend_cuda_get_device_count(void);

/*
 * The DEVICE-th card's model, cut to DESCRIPTION_SIZE bytes with its terminator;
 * "" without that card.
 */
GGML_BACKEND_API void ggml_backend_cuda_get_device_description(
    int device, char *description, size_t description_size);

/* Bytes of the DEVICE-th card's memory; both 0 without that card. */
GGML_BACKEND_API void ggml_backend_cuda_get_device_memory(
    int device, size_t *free, size_t *total);

/* The registration, of which the cards are the devices. */
GGML_BACKEND_API ggml_backend_reg_t ggml_backend_cuda_reg(void);

/* ---- memory of cards, and for them ---- */

/* The DEVICE-th card's memory. */
GGML_BACKEND_API ggml_backend_buffer_type_t ggml_backend_cuda_buffer_type(
    int device);

/*
 * Memory of all cards, for matrices of weights whose rows are shared out:
 * TENSOR_SPLIT has GGML_CUDA_MAX_DEVICES shares, of any sum, and NULL or shares
 * that are all 0 go by the cards' memory.  Products are computed on all cards and
 * gathered on MAIN_DEVICE.  The same shares give the same type again.
 */
GGML_BACKEND_API ggml_backend_buffer_type_t ggml_backend_cuda_split_buffer_type(
    int main_device, const float *tensor_split);

/* The host's memory that cards can read and write at the link's full speed. */
GGML_BACKEND_API ggml_backend_buffer_type_t ggml_backend_cuda_host_buffer_type(
    void);

/*
 * Let cards read SIZE bytes of the caller's memory at the link's full speed, until
 * the second function is called with the same address, which is due before the
 * memory is freed.  It happens where GGML_CUDA_REGISTER_HOST of the environment
 * asks for it; false otherwise, and when the system refuses.
 */
GGML_BACKEND_API bool ggml_backend_cuda_register_host_buffer(
    void *buffer, size_t size);
GGML_BACKEND_API void ggml_backend_cuda_unregister_host_buffer(void *buffer);

#ifdef __cplusplus
}
#endif

#endif
