# SPDX-License-Identifier: MIT
# With --enable-installed-tests make install puts tests and a runner for them in
# $(testsdir), in folders as those below tests are.  Programs are
# installed unless left-out names them or they are linked with the library's
# objects, which would make hundreds of megabytes; scripts where they are named
# here.
EXTRA_DIST += %D%/left-out %D%/list.sh %D%/run.in %D%/runner.sh
check_SCRIPTS += %D%/list.sh %D%/runner.sh

left_out_tests = $(shell sed '/^\#/d; s/ .*//; s/\*$$/%/' '$(srcdir)/%D%/left-out')
# Programs are linked with what automake calls by their name and _LDADD.
white_box_programs = $(foreach program,$(check_PROGRAMS),$(if $(filter \
	libwhite.la,$($(subst /,_,$(subst -,_,$(program:$(EXEEXT)=)))_LDADD)),$(program)))
installed_programs = $(filter-out $(left_out_tests) $(white_box_programs), \
	$(check_PROGRAMS))
if TOOLS
installed_scripts = \
	tests/tools/conformance.sh \
	tests/tools/gguf.sh \
	tests/tools/info.sh \
	tests/tools/input.sh \
	tests/tools/output.sh \
	tests/tools/results.sh \
	tests/tools/serve.sh \
	tests/tools/usage.sh
endif

# What is installed, and all tests that there are.
check_DATA += %D%/all %D%/list %D%/not-installed
CLEANFILES += %D%/all %D%/list %D%/not-installed %D%/run
%D%/all: Makefile
	@$(MKDIR_P) %D%
	$(AM_V_GEN)printf '%s\n' $(TESTS) | sort >$@
%D%/list: Makefile
	@$(MKDIR_P) %D%
	$(AM_V_GEN)printf '%s\n' $(installed_programs) $(installed_scripts) | sort >$@

%D%/not-installed: %D%/left-out Makefile
	@$(MKDIR_P) %D%
	$(AM_V_GEN){ cat '$(srcdir)/%D%/left-out' && printf \
	    '%s  has the library within it, and would not test what is installed\n' \
	    $(white_box_programs); } >$@

if INSTALLED_TESTS
%D%/run: %D%/run.in Makefile
	$(AM_V_GEN)sed 's|@bindir[@]|$(bindir)|; s|@includedir[@]|$(gbincludedir)|' \
	    '$(srcdir)/%D%/run.in' >$@

tests_data = tests/tools/claim.sh $(installed_scripts) \
	$(patsubst $(srcdir)/%,%,$(wildcard $(srcdir)/tests/data/*.tsv))

all-local: $(installed_programs) examples/make-tiny-model$(EXEEXT) $(loader_modules) %D%/list %D%/not-installed \
	%D%/run

# Libtool links some of them again, with the library where it was installed
# before.
install-exec-hook:
	@for file in $(installed_programs) examples/make-tiny-model$(EXEEXT); do \
	    to="$(DESTDIR)$(testsdir)/$${file#tests/}" && \
	    $(MKDIR_P) "$${to%/*}" && \
	    $(LIBTOOL) $(AM_LIBTOOLFLAGS) $(LIBTOOLFLAGS) --mode=install \
	        $(INSTALL_PROGRAM) "$$file" "$$to" || exit 1; \
	done
	@for file in $(tests_data); do \
	    to="$(DESTDIR)$(testsdir)/$${file#tests/}" && \
	    $(MKDIR_P) "$${to%/*}" && \
	    $(INSTALL_DATA) "$(srcdir)/$$file" "$$to" || exit 1; \
	done
	$(MKDIR_P) "$(DESTDIR)$(testsdir)/loader/modules"
	$(INSTALL_PROGRAM) $(loader_modules) "$(DESTDIR)$(testsdir)/loader/modules"
	$(INSTALL_SCRIPT) %D%/run "$(DESTDIR)$(testsdir)/run"
	$(INSTALL_DATA) %D%/list %D%/not-installed "$(DESTDIR)$(testsdir)"
if MODULES
	$(LIBTOOL) $(AM_LIBTOOLFLAGS) $(LIBTOOLFLAGS) --mode=install \
	    $(INSTALL_PROGRAM) libggml-sim.la "$(DESTDIR)$(testsdir)/libggml-sim.la"
	rm -f "$(DESTDIR)$(testsdir)/libggml-sim.la"
endif

uninstall-hook:
	rm -rf "$(DESTDIR)$(testsdir)"
	-rmdir "$(DESTDIR)$(libexecdir)/ggmlbackend" 2>/dev/null
endif
