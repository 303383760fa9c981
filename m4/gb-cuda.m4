# SPDX-License-Identifier: MIT
# GB_CUDA: the CUDA backend.  Its host part takes any C compiler and nothing of the
# vendor's; what is looked for here compiles the kernels, and tests need none of it.
AC_DEFUN([GB_CUDA], [
  AC_ARG_VAR([NVCC], [compiler for CUDA: nvcc, or clang++ 16 or later, which makes PTX alone])
  AC_ARG_VAR([NVCCFLAGS], [flags for the compiler for CUDA])
  AC_ARG_WITH([cuda-arch],
    [AS_HELP_STRING([--with-cuda-arch=LIST],
      [architectures of cards, such as 75,90a; native: of the card at hand @<:@all that the compiler knows of 60 61 70 75 80 86 89 90 90a 100 120@:>@])],
    [], [with_cuda_arch=default])
  gb_cuda_archs= gb_cuda_left_out= gb_cuda_gencode=
  GB_BACKEND([cuda], [NVIDIA's cards], [GB_CUDA_COMPILER])
  AS_IF([test "x$gb_backend_cuda" = xno], [gb_cuda_kernels=${gb_why_not_cuda:-none}],
    [gb_cuda_kernels="$gb_cuda_archs, by $NVCC${gb_cuda_left_out:+; not by it:$gb_cuda_left_out}"])
  AC_SUBST([GB_CUDA_ARCHS], [$gb_cuda_archs])
  AC_SUBST([GB_CUDA_RELEASE], [${gb_cuda_release:-0}])
  AC_SUBST([GB_CUDA_GENCODE], [$gb_cuda_gencode])
  AM_CONDITIONAL([CUDA_CLANG], [test "x$gb_cuda_is_clang" = xyes])
  AM_CONDITIONAL([CUDA_SOURCE_NAME], [test "x$gb_cuda_source_name" = xyes])
])

# Find the compiler and what it can do.  NVCC may be any command; it is not looked
# for then.
AC_DEFUN([GB_CUDA_COMPILER], [
  gb_cuda_folders=$PATH
  for gb_folder in "$CUDA_HOME" "$CUDA_PATH" /usr/local/cuda; do
    AS_IF([test -n "$gb_folder"],
      [gb_cuda_folders="$gb_cuda_folders$PATH_SEPARATOR$gb_folder/bin"])
  done
  AS_IF([test -z "$NVCC"], [AC_PATH_PROG([NVCC], [nvcc], [], [$gb_cuda_folders])])
  AS_IF([test -z "$NVCC"],
    [gb_missing="there is no nvcc in PATH, \$CUDA_HOME/bin, \$CUDA_PATH/bin or /usr/local/cuda/bin: install NVIDIA's CUDA toolkit (Debian: nvidia-cuda-toolkit), or give NVCC=clang++-16"],
    [gb_version=`$NVCC --version 2>&1` && gb_runs=yes || gb_runs=no
    AS_CASE([$gb_runs/$gb_version],
      [no/*], [gb_missing="NVCC=$NVCC does not run (`AS_ECHO(["$gb_version"]) | sed '1{s/.*line [[0-9]]*: //;q;}'`): give the nvcc of NVIDIA's CUDA toolkit (Debian: nvidia-cuda-toolkit), or clang++-16"],
      [yes/*clang*], [gb_cuda_is_clang=yes],
      [gb_cuda_is_clang=no
      # "release 13.0" is 13000, as the driver counts.
      gb_cuda_release=`AS_ECHO(["$gb_version"]) | sed -n 's/.*release \([[0-9]]*\)\.\([[0-9]]\).*/\1 \2/p' |
        { read -r gb_major gb_minor; AS_ECHO(["${gb_major:-0}0${gb_minor:-0}0"]); }`])])
  AS_IF([test -z "$gb_missing"], [
    AS_ECHO(['extern "C" __attribute__((global)) void gb_probe(int *p) { *p = 1; }']) >conftest.cu
    GB_CUDA_LIST
    GB_CUDA_TRY_EACH
    GB_CUDA_SOURCE_NAME
    rm -f conftest.cu conftest.image conftest.err])
])

# The list of architectures that is asked for: gb_list.
AC_DEFUN([GB_CUDA_LIST], [
  gb_list=`AS_ECHO(["$with_cuda_arch"]) | tr ',' ' '`
  gb_must=yes
  AS_CASE(["$gb_cuda_is_clang/$with_cuda_arch"],
    [yes/default], [gb_list=75 gb_must=no],
    [no/default], [gb_list='60 61 70 75 80 86 89 90 90a 100 120' gb_must=no],
    [yes/native], [AC_MSG_ERROR([--with-cuda-arch=native: $NVCC does not ask the card; give its architecture, such as 75])],
    [no/native], [GB_CUDA_NATIVE])
  AS_CASE([$gb_list],
    [yes|no|''], [AC_MSG_ERROR([--with-cuda-arch needs a list of architectures, such as 75,90a])])
  for gb_arch in $gb_list; do
    AS_IF([AS_ECHO(["$gb_arch"]) | grep '^[[1-9]][[0-9]]*[[af]]\{0,1\}$' >/dev/null], [],
      [AC_MSG_ERROR([--with-cuda-arch: '$gb_arch' is no architecture; these are numbers such as 75, 80, 90, 90a])])
  done
  AS_CASE(["$gb_cuda_is_clang/$gb_list"],
    [yes/*' '*], [AC_MSG_ERROR([--with-cuda-arch=$with_cuda_arch: $NVCC makes PTX for one architecture, which serves all later ones; give the lowest])])
])

# Without a card nvcc takes a default, and says so.
AC_DEFUN([GB_CUDA_NATIVE], [
  gb_said=`$NVCC -arch=native --dryrun -fatbin conftest.cu 2>&1`
  AS_CASE([$gb_said],
    [*'annot find'*|*'nsupported'*], [gb_list=],
    [gb_list=`AS_ECHO(["$gb_said"]) | sed -n 's/.*[[= ]]sm_\([[0-9]]*\).*/\1/p' | sed 1q`])
  AS_IF([test -z "$gb_list"],
    [AC_MSG_ERROR([--with-cuda-arch=native: nvcc finds no card here; give the list of architectures instead])])
])

# Each architecture is tried alone.  One that was asked for by name must work; of the
# usual ones those that fail are left out.  Then: PTX of the lowest, and of 90.
AC_DEFUN([GB_CUDA_TRY_EACH], [
  gb_ptx= gb_reason=
  for gb_arch in $gb_list; do
    AC_MSG_CHECKING([whether $NVCC makes code for $gb_arch])
    AS_IF([test $gb_cuda_is_clang = yes],
      [gb_flags="-x cuda -nocudainc -nocudalib --cuda-device-only -S --cuda-feature=+ptx75 --cuda-gpu-arch=sm_$gb_arch"],
      [gb_flags="-fatbin -gencode arch=compute_$gb_arch,code=sm_$gb_arch"])
    AS_IF([$NVCC $NVCCFLAGS $gb_flags -o conftest.image conftest.cu >conftest.err 2>&1], [
      AC_MSG_RESULT([yes])
      gb_cuda_archs="$gb_cuda_archs $gb_arch"
      AS_CASE([" $gb_ptx "], [*" ${gb_arch%[[af]]} "*], [],
        [AS_IF([test -z "$gb_ptx" || test $gb_arch = 90], [gb_ptx="$gb_ptx ${gb_arch%[[af]]}"])])
    ], [
      AC_MSG_RESULT([no])
      gb_reason=`grep . conftest.err | sed 1q`
      AS_IF([test $gb_must = yes],
        [AC_MSG_ERROR([--with-cuda-arch=$with_cuda_arch: $NVCC makes no code for $gb_arch: $gb_reason])])
      gb_cuda_left_out="$gb_cuda_left_out $gb_arch"
    ])
  done
  AS_IF([test -z "$gb_cuda_archs"],
    [gb_missing="$NVCC makes code for none of$gb_cuda_left_out: $gb_reason"])
  AS_IF([test $gb_cuda_is_clang = yes], [
    gb_cuda_gencode=$gb_flags gb_cuda_archs=ptx${gb_cuda_archs# }
  ], [
    for gb_arch in $gb_cuda_archs; do
      gb_cuda_gencode="$gb_cuda_gencode -gencode arch=compute_$gb_arch,code=sm_$gb_arch"
    done
    for gb_arch in $gb_ptx; do
      gb_cuda_archs="$gb_cuda_archs ptx$gb_arch"
      gb_cuda_gencode="$gb_cuda_gencode -gencode arch=compute_$gb_arch,code=compute_$gb_arch"
    done
    gb_cuda_archs=${gb_cuda_archs# }
  ])
])

# What is static in a kernel's file gets a name from the file's path, unless nvcc's
# compiler is told another one.
AC_DEFUN([GB_CUDA_SOURCE_NAME], [
  AS_IF([test $gb_cuda_is_clang = no], [
    AC_MSG_CHECKING([whether $NVCC can be told a source's name])
    AS_IF([$NVCC $NVCCFLAGS -ptx -Xcicc --orig_src_path_name -Xcicc conftest.cu -o conftest.image conftest.cu >conftest.err 2>&1],
      [gb_cuda_source_name=yes], [gb_cuda_source_name=no])
    AC_MSG_RESULT([$gb_cuda_source_name])])
])
