# SPDX-License-Identifier: MIT
# tests/backend: buffers, transfers and backends, on a device that is not there.
backend_fake = \
	%D%/fake.c \
	%D%/fake.h

check_PROGRAMS += \
	tests/backend/backend \
	tests/backend/buffer \
	tests/backend/buffer-type \
	tests/backend/faults \
	tests/backend/graph-copy \
	tests/backend/host-buffer \
	tests/backend/multi-buffer \
	tests/backend/pairs \
	tests/backend/transfer
tests_backend_backend_SOURCES = %D%/backend.c $(backend_fake)
tests_backend_backend_CPPFLAGS = $(TEST_CPPFLAGS)
tests_backend_backend_LDADD = $(WHITE_LDADD)
tests_backend_buffer_SOURCES = %D%/buffer.c $(backend_fake)
tests_backend_buffer_CPPFLAGS = $(TEST_CPPFLAGS)
tests_backend_buffer_LDADD = $(WHITE_LDADD)
tests_backend_buffer_type_SOURCES = %D%/buffer-type.c $(backend_fake)
tests_backend_buffer_type_CPPFLAGS = $(TEST_CPPFLAGS)
tests_backend_buffer_type_LDADD = $(WHITE_LDADD)
tests_backend_faults_SOURCES = %D%/faults.c $(sim_devices)
tests_backend_faults_CPPFLAGS = $(TEST_CPPFLAGS)
tests_backend_faults_LDADD = $(SIM_LDADD)
tests_backend_graph_copy_SOURCES = %D%/graph-copy.c $(backend_fake)
tests_backend_graph_copy_CPPFLAGS = $(TEST_CPPFLAGS)
tests_backend_graph_copy_LDADD = $(WHITE_LDADD)
tests_backend_host_buffer_SOURCES = %D%/host-buffer.c $(backend_fake)
tests_backend_host_buffer_CPPFLAGS = $(TEST_CPPFLAGS)
tests_backend_host_buffer_LDADD = $(WHITE_LDADD)
tests_backend_multi_buffer_SOURCES = %D%/multi-buffer.c $(backend_fake)
tests_backend_multi_buffer_CPPFLAGS = $(TEST_CPPFLAGS)
tests_backend_multi_buffer_LDADD = $(WHITE_LDADD)
tests_backend_pairs_SOURCES = %D%/pairs.c $(sim_devices)
tests_backend_pairs_CPPFLAGS = $(TEST_CPPFLAGS)
tests_backend_pairs_LDADD = $(SIM_LDADD)
tests_backend_transfer_SOURCES = %D%/transfer.c $(backend_fake)
tests_backend_transfer_CPPFLAGS = $(TEST_CPPFLAGS)
tests_backend_transfer_LDADD = $(WHITE_LDADD)
