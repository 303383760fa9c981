# SPDX-License-Identifier: MIT
# GB_SUMMARY: what did I get?
AC_DEFUN([GB_SUMMARY], [
  cat <<EOF

  AC_PACKAGE_NAME AC_PACKAGE_VERSION

    prefix ................. $prefix
    compiler ............... $CC $CFLAGS
    CPU kernels ............ $gb_variants
    backends ............... cpu=builtin$gb_backends
    CUDA kernels ........... $gb_cuda_kernels
    HIP kernels ............ $gb_hip_kernels
    Vulkan shaders ......... $gb_vulkan_shaders
    symbol prefix .......... ${GB_PREFIX:-none}
    symbol versions ........ $gb_cv_version_script
    programs ............... $gb_tools
    tests .................. $gb_tests

EOF
])
