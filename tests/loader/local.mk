# SPDX-License-Identifier: MIT
# tests/loader: the registry.
check_PROGRAMS += tests/loader/registry
tests_loader_registry_SOURCES = %D%/registry.c $(backend_fake)
tests_loader_registry_CPPFLAGS = $(TEST_CPPFLAGS)
tests_loader_registry_LDADD = $(WHITE_LDADD)
