# SPDX-License-Identifier: MIT
# GB_NEEDS: programs that configure or make cannot do without end configure at once,
# with the package that has them.
AC_DEFUN([GB_NEEDS], [
  AS_IF([command -v "${MAKE-make}" >/dev/null 2>&1], [],
    [AC_MSG_ERROR([there is no ${MAKE-make} in PATH: install it (Debian: make)])])
  AS_IF([test -z "$CC"], [
    gb_found=
    for gb_program in ${host_alias:+"$host_alias-gcc" "$host_alias-cc"} gcc cc clang; do
      AS_IF([command -v "$gb_program" >/dev/null 2>&1], [gb_found=$gb_program])
    done
    AS_IF([test -z "$gb_found"],
      [AC_MSG_ERROR([there is no C compiler in PATH: install one (Debian: gcc), or name it by CC])])])
])

# GB_FOLDERS: make install and libtool split names of folders at white space, and the
# shell takes some characters for its own.
AC_DEFUN([GB_FOLDERS], [
  for gb_folder in prefix exec_prefix bindir libdir includedir datarootdir datadir \
      mandir libexecdir docdir htmldir with_pkgconfigdir with_bash_completion_dir \
      with_zsh_completion_dir with_fish_completion_dir; do
    eval gb_value=\$$gb_folder
    # Other variables of the makefile may be named.
    gb_value=`AS_ECHO(["$gb_value"]) | sed 's/[[$]]{[[A-Za-z_]]*}//g'`
    AS_CASE([$gb_value],
      [*[[[:space:]]]* | *[[\\\"\'\`@%:@\&\;\<\>\|\*\?\$]]* | *\@{:@* | *\@:}@*],
      [eval gb_value=\$$gb_folder
      AS_CASE([$gb_folder], [with_*], [gb_folder=--`AS_ECHO(["$gb_folder"]) | tr _ -`])
      AC_MSG_ERROR([$gb_folder is '$gb_value': make install cannot put files into a folder whose name has white space, quotes or characters that a shell takes for its own; choose another folder])])
  done
])
