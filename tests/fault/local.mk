# SPDX-License-Identifier: MIT
# Programs with one call of a function failing: some in make check, all of them in
# make check-faults.
if TOOLS
check_SCRIPTS += %D%/each.sh
EXTRA_DIST += %D%/each.sh %D%/fail-nth.c
check_DATA += %D%/fail-nth.so
CLEANFILES += %D%/fail-nth.so

%D%/fail-nth.so: %D%/fail-nth.c
	@$(MKDIR_P) %D%
	$(AM_V_CCLD)$(CC) -shared -fPIC $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ \
	    '$(srcdir)/%D%/fail-nth.c' -ldl -pthread

check-faults: %D%/fail-nth.so examples/make-tiny-model$(EXEEXT) $(bin_PROGRAMS)
	FAULT_STEP=1 $(MAKE) check TESTS=tests/fault/each.sh
endif
