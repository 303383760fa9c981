#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes configure and what it needs; for builds from git.
set -eu
cd "$(dirname "$0")"
exec autoreconf -fi "$@"
