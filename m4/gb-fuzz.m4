# SPDX-License-Identifier: MIT
# GB_FUZZ: --enable-fuzzing links the entry points with clang's libFuzzer.  The
# corpus is replayed by make check in any case.
AC_DEFUN([GB_FUZZ], [
  AC_ARG_ENABLE([fuzzing],
    [AS_HELP_STRING([--enable-fuzzing], [build fuzzers (needs clang)])], [],
    [enable_fuzzing=no])
  GB_YES_OR_NO([fuzzing])
  AM_CONDITIONAL([FUZZING], [test "x$enable_fuzzing" = xyes])
  AS_IF([test "x$enable_fuzzing" = xyes], [
    GB_CC_HAS([-fsanitize=fuzzer-no-link], [],
      [AC_MSG_ERROR([--enable-fuzzing needs a compiler with libFuzzer, for example CC=clang (Debian: clang, libclang-rt-dev)])])
    GB_CFLAGS="$GB_CFLAGS -fsanitize=fuzzer-no-link"])
])
