# SPDX-License-Identifier: MIT
# find_package(ggml), answered by libggmlbackend for those who ask for this folder:
# -Dggml_DIR=<this folder>.  Targets and variables have the names of ggml's own package
# of 2025-03, and every target is the one library.
get_filename_component(_ggml_here "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
include("${_ggml_here}/../../../cmake/ggmlbackend/ggmlbackend-config.cmake")
unset(_ggml_here)

set(GGML_BIN_DIR "${ggmlbackend_BIN_DIR}")
set(GGML_INCLUDE_DIR "${ggmlbackend_INCLUDE_DIR}")
set(GGML_LIB_DIR "${ggmlbackend_LIB_DIR}")

# How ggml was built, as far as it has a meaning here.
set(GGML_CPU "ON")
foreach(_ggml_option
    ACCELERATE ALL_WARNINGS ALL_WARNINGS_3RD_PARTY AMX_BF16 AMX_INT8 AMX_TILE AVX AVX2
    AVX512 AVX512_BF16 AVX512_VBMI AVX512_VNNI AVX_VNNI BACKEND_DL BLAS BUILD_EXAMPLES
    BUILD_TESTS CCACHE CPU_AARCH64 CPU_ALL_VARIANTS CPU_HBM CPU_KLEIDIAI CUDA CUDA_F16
    CUDA_FA CUDA_FA_ALL_QUANTS CUDA_FORCE_CUBLAS CUDA_FORCE_MMQ CUDA_GRAPHS
    CUDA_NO_PEER_COPY CUDA_NO_VMM F16C FATAL_WARNINGS FMA GPROF HIP HIP_GRAPHS
    HIP_NO_VMM HIP_UMA KOMPUTE LASX LLAMAFILE LSX LTO METAL METAL_EMBED_LIBRARY METAL_NDEBUG
    METAL_SHADER_DEBUG METAL_USE_BF16 MUSA NATIVE OPENCL OPENCL_EMBED_KERNELS
    OPENCL_PROFILING OPENCL_USE_ADRENO_KERNELS OPENMP RPC RVV SANITIZE_ADDRESS
    SANITIZE_THREAD SANITIZE_UNDEFINED STANDALONE STATIC SYCL SYCL_F16 VULKAN
    VULKAN_CHECK_RESULTS VULKAN_DEBUG VULKAN_MEMORY_DEBUG VULKAN_PERF
    VULKAN_RUN_TESTS VULKAN_SHADER_DEBUG_INFO VXE)
  set(GGML_${_ggml_option} "OFF")
endforeach()
unset(_ggml_option)
set(GGML_AVAILABLE_BACKENDS "ggml-cpu")
set(GGML_BUILD_COMMIT "")
set(GGML_BUILD_NUMBER "")
set(GGML_SCHED_MAX_COPIES "4")
file(GLOB GGML_PUBLIC_HEADERS "${GGML_INCLUDE_DIR}/*.h")

if(TARGET ggmlbackend::ggmlbackend)
  get_target_property(_ggml_type ggmlbackend::ggmlbackend TYPE)
  get_target_property(GGML_LIBRARY ggmlbackend::ggmlbackend IMPORTED_LOCATION)
  set(GGML_BASE_LIBRARY "${GGML_LIBRARY}")
  set(GGML_CPU_LIBRARY "${GGML_LIBRARY}")
  set(GGML_SHARED_LIB "OFF")
  if(_ggml_type STREQUAL "SHARED_LIBRARY")
    set(GGML_SHARED_LIB "ON")
  endif()
  unset(_ggml_type)
  foreach(_ggml_target ggml ggml-base ggml-cpu)
    if(NOT TARGET ggml::${_ggml_target})
      add_library(ggml::${_ggml_target} UNKNOWN IMPORTED)
      set_target_properties(ggml::${_ggml_target} PROPERTIES
        IMPORTED_LOCATION "${GGML_LIBRARY}"
        INTERFACE_LINK_LIBRARIES ggmlbackend::ggmlbackend)
    endif()
  endforeach()
  unset(_ggml_target)
  if(NOT TARGET ggml::all)
    add_library(ggml::all INTERFACE IMPORTED)
    set_target_properties(ggml::all PROPERTIES
      INTERFACE_LINK_LIBRARIES ggml::ggml-cpu)
  endif()
else()
  set(ggml_FOUND FALSE)
  set(ggml_NOT_FOUND_MESSAGE "${ggmlbackend_NOT_FOUND_MESSAGE}")
endif()
foreach(_ggml_part IN LISTS ggml_FIND_COMPONENTS)
  if(ggml_FIND_REQUIRED_${_ggml_part})
    set(ggml_FOUND FALSE)
    set(ggml_NOT_FOUND_MESSAGE "there is no component ${_ggml_part}")
  endif()
endforeach()
