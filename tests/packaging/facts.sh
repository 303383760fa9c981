#!/bin/sh
# SPDX-License-Identifier: MIT
# What several recipes say - configure's options, the summary, the version, the
# number of the module ABI, the exported names - they say alike, and as the tree
# does.
spec=$top_srcdir/packaging/rpm/libggmlbackend.spec.in
pkgbuild=$top_srcdir/packaging/arch/PKGBUILD.in
made=$top_builddir/packaging
debian=$top_srcdir/debian
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
n=0

# same TEXT WANTED FOUND
same() {
    n=$((n + 1))
    if [ -n "$2" ] && [ "$2" = "$3" ]; then
        echo "ok $n - $1"
    else
        printf 'wanted: %s\nfound: %s\n' "$2" "$3" | sed 's/^/# /'
        echo "not ok $n - $1"
    fi
}

# options FILE: configure's options of a recipe, without folders.
options() {
    grep -o -- '--\(enable\|disable\|with\|without\)-[a-z-]*' "$1" |
        grep -vx -- '--with-' | sort -u | paste -sd' ' -
}

wanted=$(options "$spec")
same 'options of the PKGBUILD' "$wanted" "$(options "$pkgbuild")"
"$top_srcdir/configure" --help >"$scratch/help"
same 'configure knows them all' "$wanted" "$(for option in $wanted; do
    name=${option#--}
    grep -q -- "--[a-z]*-${name#*-}[ =[]\{0,1\}" "$scratch/help" &&
        echo "$option"
done | paste -sd' ' -)"

summary=$(sed -n 's/^Description: //p' "$top_srcdir/ggmlbackend.pc.in")
same 'the summary of the spec file' "$summary" \
    "$(sed -n '/^Summary:/{s/Summary: *//p;q;}' "$spec")"
same 'the summary of the PKGBUILD' "$summary" \
    "$(sed -n "s/^pkgdesc='\(.*\)'/\1/p" "$pkgbuild")"

version=$(sed -n 's/^Version: //p' "$top_builddir/ggmlbackend.pc")
same 'the version of the spec file' "$version" \
    "$(sed -n 's/^Version: *//p' "$made/rpm/libggmlbackend.spec")"
same 'the version of the PKGBUILD' "$version" \
    "$(sed -n 's/^pkgver=//p' "$made/arch/PKGBUILD")"
same 'no name that configure should have filled in is left' 0 \
    "$(cat "$made/rpm/libggmlbackend.spec" "$made/arch/PKGBUILD" |
        grep -c '@[A-Z_]*@')"

if ! [ -d "$debian" ]; then
    n=$((n + 1))
    echo "ok $n # SKIP no debian folder in a tarball"
    echo "1..$n"
    exit 0
fi
# What backends alone have, and the profile with few architectures, is no option of all.
same 'options of debian/rules' "$wanted" \
    "$(sed '/^options.*\(--disable-tools\|-arch=\)/d' "$debian/rules" >"$scratch/rules" &&
        options "$scratch/rules")"
same 'the summary of debian/control' \
    "$(echo "$summary" | tr '[:upper:]' '[:lower:]')" \
    "$(sed -n '/^Description:/{s/Description: //p;q;}' "$debian/control" |
        tr '[:upper:]' '[:lower:]')"
same 'the description' \
    "$(sed 's/^ //' "$debian/description" | paste -sd' ' -)" \
    "$(sed -n '/^%description$/,/^$/{/^%/d;/^$/d;p;}' "$spec" | paste -sd' ' -)"
# A release's changelog has its version; one that is being made may be ahead.
if head -n 1 "$debian/changelog" | grep -q ' UNRELEASED;'; then
    n=$((n + 1))
    echo "ok $n # SKIP debian/changelog is of a release to come"
else
    same 'the version of debian/changelog' "$version" \
        "$(sed -n '1s/.*(\(.*\)-[^-]*) .*/\1/p' "$debian/changelog")"
fi
same 'the number of the module ABI in debian/rules' \
    "$(sed -n 's|^moduledir=.*/||p' "$top_builddir/ggmlbackend.pc")" \
    "$(sed -n 's/^module_abi := $(shell \(.*\))$/\1/p' "$debian/rules" |
        sed 's/\$\$/$/g' | (cd "$top_srcdir" && sh))"
same 'control, tests and symbols are up to date' 'up to date' \
    "$("$debian/update" --check 2>&1 && echo up to date)"
echo "1..$n"
