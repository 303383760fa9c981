# SPDX-License-Identifier: MIT
# GB_SYSTEM: what the system's C library has.
AC_DEFUN([GB_SYSTEM], [
  AC_SEARCH_LIBS([sqrt], [m])
  AC_SEARCH_LIBS([pthread_create], [pthread], [],
    [AC_MSG_ERROR([POSIX threads are needed])])
  AC_SEARCH_LIBS([dlopen], [dl], [], [AC_MSG_ERROR([dlopen is needed])])
  AC_CHECK_HEADERS([linux/futex.h execinfo.h link.h sys/auxv.h])
  AC_CHECK_FUNCS([secure_getenv sched_getaffinity pthread_setaffinity_np backtrace])
  AC_DEFINE([GB_BUILTIN_CPU], [1], [The CPU backend is built in.])
])
