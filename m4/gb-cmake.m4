# SPDX-License-Identifier: MIT
# GB_CMAKE: packages for programs that are built with CMake.
AC_DEFUN([GB_CMAKE], [
  AC_CHECK_SIZEOF([void *])
  AC_SUBST([ac_cv_sizeof_void_p])
  AC_CONFIG_FILES([
    cmake/ggml-config.cmake
    cmake/ggml-config-version.cmake:cmake/version.cmake.in
    cmake/ggmlbackend-config-version.cmake:cmake/version.cmake.in
    cmake/ggmlbackend-config.cmake])
])
