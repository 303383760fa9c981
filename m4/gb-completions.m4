# SPDX-License-Identifier: MIT
# GB_COMPLETIONS: where shells look for what completes the programs' command lines.
AC_DEFUN([GB_COMPLETIONS], [
  GB_COMPLETION_DIR([bash], [BASH_COMPLETION], [bash-completion/completions])
  GB_COMPLETION_DIR([zsh], [ZSH_COMPLETION], [zsh/site-functions])
  GB_COMPLETION_DIR([fish], [FISH_COMPLETION], [fish/vendor_completions.d])
])

# GB_COMPLETION_DIR(SHELL, CONDITION, FOLDER below the data folder)
AC_DEFUN([GB_COMPLETION_DIR], [
  AC_ARG_WITH([$1-completion-dir],
    [AS_HELP_STRING([--with-$1-completion-dir=DIR],
      [completions for $1, or no @<:@DATADIR/$3@:>@])], [],
    [with_$1_completion_dir=yes])
  AS_CASE([$with_$1_completion_dir],
    [yes], [$1completiondir='${datadir}/$3'],
    [no], [$1completiondir=],
    [/* | '$'*], [$1completiondir=$with_$1_completion_dir],
    [AC_MSG_ERROR([--with-$1-completion-dir is a whole path or no, not '$with_$1_completion_dir'])])
  AC_SUBST([$1completiondir])
  AM_CONDITIONAL([$2], [test -n "$$1completiondir"])
])
