# SPDX-License-Identifier: MIT
# GB_SYSTEM: what the system's C library has.
AC_DEFUN([GB_SYSTEM], [
  AC_SEARCH_LIBS([sqrt], [m])
  AC_SEARCH_LIBS([pthread_create], [pthread], [],
    [AC_MSG_ERROR([POSIX threads are needed])])
  AC_SEARCH_LIBS([dlopen], [dl], [], [AC_MSG_ERROR([dlopen is needed])])
  dnl GCC before 14 has no instructions for those of one byte on riscv64, and
  dnl some machines of 32 bits have none for those of eight.
  AC_CACHE_CHECK([for the library of atomic operations], [gb_cv_lib_atomic],
    [gb_cv_lib_atomic=missing
    gb_save_LIBS=$LIBS
    for gb_lib in '' -latomic; do
      LIBS="$gb_save_LIBS $gb_lib"
      AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <stdatomic.h>
#include <stdint.h>
_Atomic _Bool flag;
_Atomic int64_t number;]],
        [[return atomic_exchange(&flag, 1) || atomic_fetch_add(&number, 1) > 0;]])],
        [gb_cv_lib_atomic=${gb_lib:-none}; break])
    done
    LIBS=$gb_save_LIBS])
  AS_CASE([$gb_cv_lib_atomic],
    [none], [],
    [missing], [AC_MSG_ERROR([C11's atomic operations are needed])],
    [LIBS="$LIBS $gb_cv_lib_atomic"])
  AC_CHECK_HEADERS([linux/futex.h execinfo.h link.h sys/auxv.h])
  AC_CHECK_FUNCS([secure_getenv sched_getaffinity pthread_setaffinity_np backtrace])
  dnl hwloc is opened at run time, so its header is enough.
  AC_ARG_WITH([hwloc],
    [AS_HELP_STRING([--without-hwloc], [do not ask hwloc for memory nodes])], [],
    [with_hwloc=check])
  AS_CASE([$with_hwloc], [yes|no|check], [],
    [AC_MSG_ERROR([--with-hwloc is yes or no, not '$with_hwloc'; CPPFLAGS says where its header is])])
  AS_IF([test "x$with_hwloc" != xno], [
    AC_CHECK_DECL([HWLOC_TYPE_DEPTH_NUMANODE],
      [AC_DEFINE([GB_HWLOC], [1], [hwloc, version 2, can be asked.])],
      [AS_IF([test "x$with_hwloc" = xyes],
        [AC_MSG_ERROR([--with-hwloc needs hwloc.h of version 2 (Debian: libhwloc-dev)])])],
      [[#include <hwloc.h>]])])
  AC_DEFINE([GB_BUILTIN_CPU], [1], [The CPU backend is built in.])
])
