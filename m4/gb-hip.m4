# SPDX-License-Identifier: MIT
# GB_HIP: the HIP backend.  Its host part is that of CUDA; what is looked for here
# compiles the kernels, by any clang for AMDGPU, without a header or a library of the
# vendor's.  A clang alone does not mean that somebody wants that: one has to be
# named, or a hipcc be there.
AC_DEFUN([GB_HIP], [
  AC_ARG_VAR([HIPCC], [compiler for AMD's cards: hipcc, or clang 15 or later with lld, such as clang-19])
  AC_ARG_VAR([HIPFLAGS], [flags for the compiler for AMD's cards])
  AC_ARG_WITH([hip-arch],
    [AS_HELP_STRING([--with-hip-arch=LIST],
      [architectures of cards, such as gfx90a,gfx1100 @<:@all that the compiler knows of gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1101 gfx1102 gfx1151 gfx1200 gfx1201@:>@])],
    [], [with_hip_arch=default])
  gb_hip_archs= gb_hip_left_out=
  GB_BACKEND([hip], [AMD's cards], [GB_HIP_COMPILER])
  # The functions and names of ggml-cuda.h are CUDA's where both are built in.
  AS_IF([test "x$gb_backend_hip" = xbuiltin && test "x$gb_backend_cuda" = xbuiltin],
    [GB_USE_FLAGS=`AS_ECHO(["$GB_USE_FLAGS"]) | sed 's/ -DGGML_USE_HIP//'`
    GB_USE_LIST=`AS_ECHO(["$GB_USE_LIST"]) | sed 's/;GGML_USE_HIP//'`])
  AS_IF([test "x$gb_backend_hip" = xno], [gb_hip_kernels=${gb_why_not_hip:-none}],
    [gb_hip_kernels="$gb_hip_archs, by $HIPCC${gb_hip_left_out:+; not by it:$gb_hip_left_out}"])
  AC_SUBST([GB_HIP_ARCHS], [$gb_hip_archs])
])

AC_DEFUN([GB_HIP_COMPILER], [
  AS_IF([test -z "$HIPCC"],
    [AC_PATH_PROG([HIPCC], [hipcc], [], [$PATH$PATH_SEPARATOR${ROCM_PATH:-/opt/rocm}/bin])])
  AS_IF([test -z "$HIPCC"],
    [gb_missing="there is no hipcc in PATH or ${ROCM_PATH:-/opt/rocm}/bin: install it (Debian: hipcc), or give HIPCC=clang-19"], [
    AS_CASE([$HIPCC], [*hipcc*], [GB_HIP_DEVICE=--genco], [GB_HIP_DEVICE=--offload-device-only])
    AC_SUBST([GB_HIP_DEVICE])
    AS_ECHO(['extern "C" __attribute__((global)) void gb_probe(int *p) { *p = 1; }']) >conftest.cu
    GB_HIP_TRY_EACH
    rm -f conftest.cu conftest.image conftest.err])
])

# Each architecture is tried alone.  One that was asked for by name must work; of the
# usual ones those that fail are left out.
AC_DEFUN([GB_HIP_TRY_EACH], [
  gb_must=yes gb_reason=
  gb_list=`AS_ECHO(["$with_hip_arch"]) | tr ',' ' '`
  AS_CASE([$gb_list],
    [default], [gb_must=no gb_list='gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1101 gfx1102 gfx1151 gfx1200 gfx1201'],
    [yes|no|''], [AC_MSG_ERROR([--with-hip-arch needs a list of architectures, such as gfx90a,gfx1100])])
  for gb_arch in $gb_list; do
    AS_IF([AS_ECHO(["$gb_arch"]) | grep '^gfx[[0-9]][[-0-9a-z]]*$' >/dev/null], [],
      [AC_MSG_ERROR([--with-hip-arch: '$gb_arch' is no architecture; these are names such as gfx90a, gfx1100])])
    AC_MSG_CHECKING([whether $HIPCC makes code for $gb_arch])
    AS_IF([$HIPCC $HIPFLAGS $GB_HIP_DEVICE --no-gpu-bundle-output -x hip -nogpuinc -nogpulib --offload-arch=$gb_arch -o conftest.image conftest.cu >conftest.err 2>&1], [
      AC_MSG_RESULT([yes])
      gb_hip_archs="$gb_hip_archs $gb_arch"
    ], [
      AC_MSG_RESULT([no])
      gb_reason=`sed -n 's/^[[^ ]]*: line [[0-9]]*: //; /./{p;q;}' conftest.err`
      AS_IF([test $gb_must = yes],
        [AC_MSG_ERROR([--with-hip-arch=$with_hip_arch: $HIPCC makes no code for $gb_arch: $gb_reason])])
      gb_hip_left_out="$gb_hip_left_out $gb_arch"
    ])
  done
  gb_hip_archs=${gb_hip_archs# }
  AS_IF([test -z "$gb_hip_archs"],
    [gb_missing="$HIPCC makes code for none of$gb_hip_left_out: $gb_reason"])
])
