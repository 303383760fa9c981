# SPDX-License-Identifier: MIT
# Manual pages.  Those of the programs are written by hand; the others are made
# from a text NAME.SECTION.in, the public headers' comments and the tables of the
# library by build-aux/make-page.
dist_man_MANS += %D%/ggml-backend-module.7
if TOOLS
dist_man_MANS += \
	%D%/ggmlbackend-bench.1 \
	%D%/ggmlbackend-conformance.1 \
	%D%/ggmlbackend-gguf.1 \
	%D%/ggmlbackend-info.1 \
	%D%/ggmlbackend-run.1
endif

# Families of functions.
function_pages = \
	%D%/ggml_cpy.3

subject_pages = \
	%D%/ggmlbackend.7 \
	%D%/ggmlbackend.env.7 \
	%D%/gguf.5

page_examples = \
	%D%/examples/cpy.c \
	%D%/examples/device.c \
	%D%/examples/gguf.c \
	%D%/examples/matrix.c

made_pages = $(function_pages) $(subject_pages)
man_MANS = $(made_pages)
CLEANFILES += $(made_pages)
EXTRA_DIST += \
	build-aux/make-html \
	$(make_page) \
	$(function_pages:.3=.3.in) \
	%D%/ggmlbackend.7.in \
	%D%/ggmlbackend.env.7.in \
	%D%/gguf.5.in \
	%D%/page.css \
	%D%/search.js \
	$(page_examples)

# What makes all pages, and from what.
make_page = \
	build-aux/make-page \
	build-aux/page/header.awk \
	build-aux/page/page.awk \
	build-aux/page/text.awk

page_sources = \
	lib/base/env.def \
	lib/type/type.def \
	$(gbinclude_HEADERS) \
	$(gbparts_HEADERS) \
	$(gblevel2023_HEADERS) \
	$(gblevel2024_HEADERS)

# A page that could not be made leaves nothing behind.
$(made_pages): %: %.in $(make_page) $(page_sources) $(page_examples)
	$(AM_V_GEN)$(MKDIR_P) %D% && \
	{ AWK='$(AWK)' $(SHELL) '$(srcdir)/build-aux/make-page' \
	    '$(srcdir)/%D%/examples' '$<' $(page_sources:%='$(srcdir)/%') >$@.tmp || \
	    { rm -f $@.tmp; exit 1; }; } && mv $@.tmp $@

# Each further name of a page is a file that leads to it.
%D%/links/made: $(function_pages)
	$(AM_V_GEN)rm -rf %D%/links && $(MKDIR_P) %D%/links && \
	for page in $(function_pages:%D%/%.3=%); do \
	    sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \([^ ]*\).*/\1/p' %D%/$$page.3 | \
	    while read -r name; do \
	        test $$name = $$page || \
	            echo ".so man3/$$page.3" >%D%/links/$$name.3; \
	    done; \
	done && touch $@

all-local: %D%/links/made

install-data-local: %D%/links/made
	$(MKDIR_P) '$(DESTDIR)$(man3dir)'
	$(INSTALL_DATA) %D%/links/*.3 '$(DESTDIR)$(man3dir)'

uninstall-local: %D%/links/made
	for link in %D%/links/*.3; do \
	    rm -f '$(DESTDIR)$(man3dir)'/$${link##*/}; \
	done
	if test -f html/index.html; then \
	    for file in html/*.html html/*.css html/*.js; do \
	        rm -f '$(DESTDIR)$(htmldir)'/$${file##*/}; \
	    done; \
	fi

# The same as pages for a browser, with an index and a search: make html, and
# make install-html puts them into $(htmldir).
html_inputs = $(made_pages) $(dist_man_MANS)
html/made: $(html_inputs) build-aux/make-html %D%/page.css %D%/search.js
	$(AM_V_GEN)MANDOC='$(MANDOC)' AWK='$(AWK)' \
	    $(SHELL) '$(srcdir)/build-aux/make-html' html \
	    '$(srcdir)/%D%/page.css' '$(srcdir)/%D%/search.js' \
	    $(filter %.1 %.3 %.5 %.7,$^) && touch $@

html-local: html/made
install-html-local: html/made
	if test -f html/index.html; then \
	    $(MKDIR_P) '$(DESTDIR)$(htmldir)' && \
	    $(INSTALL_DATA) html/*.html html/*.css html/*.js \
	        '$(DESTDIR)$(htmldir)'; \
	fi
clean-local:
	rm -rf %D%/links html
