# SPDX-License-Identifier: MIT
# Recipes for other distributions than Debian.  Configure gives them the version;
# those of a tarball are ready to use.
EXTRA_DIST += %D%/arch/PKGBUILD %D%/rpm/libggmlbackend.spec
