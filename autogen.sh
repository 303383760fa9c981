#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes configure and what it needs; for builds from git.
set -eu
cd "$(dirname "$0")"
m4 backends/cpu/variants.mk.m4 backends/cpu/variants.m4 >backends/cpu/variants.mk
exec autoreconf -fi "$@"
