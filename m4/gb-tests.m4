# SPDX-License-Identifier: MIT
# GB_TESTS: make check needs cmocka; the rest is skipped where it is missing.  With
# --enable-installed-tests make install installs tests as well.
AC_DEFUN([GB_TESTS], [
  PKG_CHECK_MODULES([CMOCKA], [cmocka >= 1.1.5], [gb_tests=yes],
    [gb_tests="no, they need ${gb_pkgconf}libcmocka-dev"])
  AM_CONDITIONAL([TESTS_CMOCKA], [test "x$gb_tests" = xyes])
  # The emulated GPU driver is C++, and switches stacks as this processor does.  It
  # sees what kernels do by the calls that are made for finding races of threads;
  # some compilers (clang 14) leave out copies of structs, which become memcpy.
  AC_LANG_PUSH([C++])
  AC_CACHE_CHECK([whether $CXX makes the emulated GPU driver], [gb_cv_emulator],
    [gb_save_CXXFLAGS=$CXXFLAGS
    CXXFLAGS="$CXXFLAGS -std=c++17"
    AS_CASE([$CXXFLAGS], [*-fsanitize*], [],
      [CXXFLAGS="$CXXFLAGS -fsanitize=thread"])
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#include <memory>
#if !defined(__x86_64__) || !defined(__linux__)
#error "not this system"
#endif
std::unique_ptr<int> one = std::make_unique<int>(1);
struct alignas(16) four { float at[4]; };
void copy(four *to, const four *from) { *to = *from; }
]])], [gb_cv_emulator=yes
      AS_IF([${NM-nm} -u conftest.$ac_objext | grep -w memcpy >/dev/null],
        [gb_cv_emulator=no])],
      [gb_cv_emulator=no])
    CXXFLAGS=$gb_save_CXXFLAGS])
  AC_LANG_POP([C++])
  AM_CONDITIONAL([GPU_EMULATOR], [test "x$gb_cv_emulator$enable_shared" = xyesyes])
  AC_PATH_PROG([MANDOC], [mandoc], [:])
  AC_PATH_PROG([NM], [nm], [:])
  AC_ARG_ENABLE([installed-tests],
    [AS_HELP_STRING([--enable-installed-tests],
      [install test programs and a runner for them])], [],
    [enable_installed_tests=no])
  AS_IF([test "x$enable_installed_tests$gb_tests" = xyesno],
    [AC_MSG_ERROR([--enable-installed-tests needs cmocka 1.1.5 or later])])
  AM_CONDITIONAL([INSTALLED_TESTS], [test "x$enable_installed_tests" = xyes])
])
