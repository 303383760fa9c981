# SPDX-License-Identifier: MIT
# GB_BUILD_COMPILER: the C compiler for programs that run while the package is built.
# For another machine than this one that is not CC.
AC_DEFUN([GB_BUILD_COMPILER], [
  AC_ARG_VAR([CC_FOR_BUILD], [C compiler for programs that run during the build @<:@CC; cc where CC compiles for another machine@:>@])
  AC_ARG_VAR([CFLAGS_FOR_BUILD], [its flags @<:@-O2@:>@])
  AS_IF([test -z "$CC_FOR_BUILD"],
    [AS_IF([test "x$cross_compiling" = xyes], [CC_FOR_BUILD=cc], [CC_FOR_BUILD=$CC])])
  AS_IF([test -z "$CFLAGS_FOR_BUILD"], [CFLAGS_FOR_BUILD=-O2])
])
