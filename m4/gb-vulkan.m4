# SPDX-License-Identifier: MIT
# GB_VULKAN: the Vulkan backend.  Its host part takes the headers of Vulkan and no
# library; what is looked for besides compiles the shaders.
AC_DEFUN([GB_VULKAN], [
  AC_ARG_VAR([GLSLC], [compiler for Vulkan's shaders: glslc, or glslangValidator])
  AC_ARG_VAR([GLSLCFLAGS], [flags for the compiler for Vulkan's shaders])
  GB_BACKEND([vulkan], [devices with a driver for Vulkan], [GB_VULKAN_COMPILER])
  AS_IF([test "x$gb_backend_vulkan" = xno], [gb_vulkan_shaders=${gb_why_not_vulkan:-none}],
    [gb_vulkan_shaders="by $GLSLC"])
  AM_CONDITIONAL([GLSLANG], [test "x$gb_vulkan_is_glslang" = xyes])
])

AC_DEFUN([GB_VULKAN_COMPILER], [
  AC_CHECK_HEADER([vulkan/vulkan_core.h], [],
    [gb_missing='there is no header vulkan/vulkan_core.h: install it (Debian: libvulkan-dev)'])
  AS_IF([test -z "$GLSLC"], [AC_PATH_PROGS([GLSLC], [glslc glslangValidator])])
  AS_IF([test -z "$GLSLC"],
    [gb_missing='there is no glslc or glslangValidator in PATH: install one (Debian: glslc, glslang-tools), or give GLSLC'])
  AS_IF([test -z "$gb_missing"], [
    AS_CASE([$GLSLC], [*glslang*], [gb_vulkan_is_glslang=yes gb_flags='-V --quiet --target-env vulkan1.2'],
      [gb_vulkan_is_glslang=no gb_flags=--target-env=vulkan1.2])
    AS_ECHO(["#version 450
#extension GL_GOOGLE_include_directive : require
layout(local_size_x = 64) in;
void main() {}"]) >conftest.comp
    AC_MSG_CHECKING([whether $GLSLC makes SPIR-V for Vulkan 1.2])
    AS_IF([$GLSLC $gb_flags $GLSLCFLAGS -o conftest.spv conftest.comp >conftest.err 2>&1],
      [AC_MSG_RESULT([yes])],
      [AC_MSG_RESULT([no])
      gb_reason=`sed -n 's/^[[^ ]]*: line [[0-9]]*: //; /./{p;q;}' conftest.err`
      gb_missing="$GLSLC makes no SPIR-V for Vulkan 1.2${gb_reason:+: $gb_reason}"])
    rm -f conftest.comp conftest.spv conftest.err])
])
