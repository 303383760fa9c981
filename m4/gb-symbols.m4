# SPDX-License-Identifier: MIT
# GB_SYMBOLS: how the linker is told what is exported, and to bind it locally.
AC_DEFUN([GB_SYMBOLS], [
  AC_CACHE_CHECK([for symbol versions], [gb_cv_version_script], [
    gb_save_LDFLAGS=$LDFLAGS
    echo 'GB_TEST { global: gb_test; local: *; };' > conftest.map
    LDFLAGS="$LDFLAGS -shared -fPIC -Wl,--version-script=conftest.map"
    AC_LINK_IFELSE([AC_LANG_SOURCE([[int gb_test(void); int gb_test(void) { return 0; }]])],
      [gb_cv_version_script=yes], [gb_cv_version_script=no])
    LDFLAGS=$gb_save_LDFLAGS
    rm -f conftest.map])
  AM_CONDITIONAL([VERSION_SCRIPT], [test "x$gb_cv_version_script" = xyes])
  AC_CACHE_CHECK([for -Bsymbolic-functions], [gb_cv_bsymbolic], [
    gb_save_LDFLAGS=$LDFLAGS
    LDFLAGS="$LDFLAGS -shared -fPIC -Wl,-Bsymbolic-functions"
    AC_LINK_IFELSE([AC_LANG_SOURCE([[int gb_test(void); int gb_test(void) { return 0; }]])],
      [gb_cv_bsymbolic=yes], [gb_cv_bsymbolic=no])
    LDFLAGS=$gb_save_LDFLAGS])
  GB_BSYMBOLIC=
  AS_IF([test "x$gb_cv_bsymbolic" = xyes],
    [GB_BSYMBOLIC=-Wl,-Bsymbolic-functions])
  AC_SUBST([GB_BSYMBOLIC])
])
