# SPDX-License-Identifier: MIT
# GB_VULKAN: the Vulkan backend.  Its host part takes the headers of Vulkan and no
# library; what is looked for besides compiles the shaders.
AC_DEFUN([GB_VULKAN], [
  AC_ARG_VAR([GLSLC], [compiler for Vulkan's shaders: glslc, or glslangValidator])
  AC_ARG_VAR([GLSLCFLAGS], [flags for the compiler for Vulkan's shaders])
  GB_BACKEND([vulkan], [devices with a driver for Vulkan], [GB_VULKAN_COMPILER])
  AS_IF([test "x$gb_backend_vulkan" = xno], [gb_vulkan_shaders=${gb_why_not_vulkan:-none}],
    [gb_vulkan_shaders="by $GLSLC${gb_vulkan_without:+ (without $gb_vulkan_without, which it does not know)}"])
  AM_CONDITIONAL([VULKAN_COOPMAT], [test "x$gb_vulkan_no_coopmat" = x])
  AC_SUBST([GLSLC_SMALL])
  AM_CONDITIONAL([VULKAN_DOT], [test "x$gb_vulkan_no_dot" = x])
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
    AS_ECHO(["#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint M = 16;
shared uvec4 a[[64]];
void main() {
  coopmat<float16_t, gl_ScopeSubgroup, M, M, gl_MatrixUseA> m;
  coopMatLoad(m, a, 0, M / 8u, gl_CooperativeMatrixLayoutRowMajor);
}"]) >conftest.comp
    AC_MSG_CHECKING([whether $GLSLC knows cooperative matrices])
    AS_IF([$GLSLC $gb_flags $GLSLCFLAGS -o conftest.spv conftest.comp >conftest.err 2>&1],
      [AC_MSG_RESULT([yes])],
      [AC_MSG_RESULT([no])
      gb_vulkan_no_coopmat=yes
      gb_vulkan_without='cooperative matrices'])
    AS_ECHO(["#version 450
#extension GL_EXT_spirv_intrinsics : require
layout(local_size_x = 64) in;
layout(binding = 0) buffer b { int w[[]]; };
spirv_instruction(extensions = [[\"SPV_KHR_integer_dot_product\"]],
  capabilities = [[6018, 6019]], id = 4450) int dot4(int a, int b, spirv_literal int format);
void main() { w[[0]] = dot4(w[[1]], w[[2]], 0); }"]) >conftest.comp
    AC_MSG_CHECKING([whether $GLSLC makes dot products of bytes])
    AS_IF([$GLSLC $gb_flags $GLSLCFLAGS -o conftest.spv conftest.comp >conftest.err 2>&1],
      [AC_MSG_RESULT([yes])],
      [AC_MSG_RESULT([no])
      gb_vulkan_no_dot=yes
      gb_vulkan_without="${gb_vulkan_without:+$gb_vulkan_without and }dot products of bytes"])
    AC_MSG_CHECKING([whether $GLSLC makes small files])
    AS_IF([AS_ECHO(["#version 450
layout(local_size_x = 64) in;
void main() {}"]) >conftest.comp && $GLSLC $gb_flags -Os $GLSLCFLAGS -o conftest.spv conftest.comp >conftest.err 2>&1],
      [AC_MSG_RESULT([yes])
      GLSLC_SMALL=-Os],
      [AC_MSG_RESULT([no])])
    rm -f conftest.comp conftest.spv conftest.err])
])
