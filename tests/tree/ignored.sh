#!/bin/sh
# SPDX-License-Identifier: MIT
# What make makes is ignored by git where it is made in the source folder.
skip() {
    echo "1..0 # SKIP $1"
    exit 0
}
command -v git >/dev/null || skip 'there is no git'
[ -e "$top_srcdir/.git" ] || skip 'this is no clone'
git -C "$top_srcdir" status --short >/dev/null 2>&1 || skip 'git does not read this clone'
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# With the flags of make check, make would print the folders that it enters.
unset MAKEFLAGS MFLAGS MAKELEVEL
cd "$top_builddir" || exit 99
cat >"$scratch/made.mk" <<'END'
include Makefile
print-made:
	@printf '%s\n' $(PROGRAMS) $(EXTRA_PROGRAMS) $(LTLIBRARIES) $(DATA) $(MANS) \
	    $(check_DATA) $(BUILT_SOURCES) $(CLEANFILES) $(CONFIG_CLEAN_FILES)
END
${MAKE:-make} -s -o Makefile -o Makefile.in -f "$scratch/made.mk" print-made 2>"$scratch/err" |
    grep -v '^/\|^\.\./\|[*$]' | sort -u >"$scratch/made"
cd "$top_srcdir" || exit 99
git ls-files | sort >"$scratch/tracked"
comm -23 "$scratch/made" "$scratch/tracked" >"$scratch/new"
git check-ignore --no-index --stdin <"$scratch/new" | sort >"$scratch/ignored"
comm -23 "$scratch/new" "$scratch/ignored" >"$scratch/seen"

echo 1..2
[ "$(wc -l <"$scratch/new")" -ge 100 ] || {
    sed 's/^/# /' "$scratch/err"
    printf 'not '
}
echo "ok 1 - make makes files"
sed 's/^/# is not ignored: /' "$scratch/seen"
[ ! -s "$scratch/seen" ] || printf 'not '
echo 'ok 2 - all of them are ignored'
