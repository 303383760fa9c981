# SPDX-License-Identifier: MIT
# Manual pages.  Those of the programs are made of a text NAME.1.in and the program's
# tools/NAME/options.def, the others of a text NAME.SECTION.in, the public headers'
# comments and the library's tables by build-aux/make-page.
dist_man_MANS += \
	%D%/ggml-backend-module.7 \
	%D%/ggml-cuda.7 \
	%D%/ggml-hip.7 \
	%D%/ggml-vulkan.7
if TOOLS
tool_pages = \
	%D%/ggmlbackend-bench.1 \
	%D%/ggmlbackend-conformance.1 \
	%D%/ggmlbackend-gguf.1 \
	%D%/ggmlbackend-info.1 \
	%D%/ggmlbackend-run.1
man_MANS += $(tool_pages)
CLEANFILES += $(tool_pages)
EXTRA_DIST += $(tool_pages:=.in)
endif

# Families of functions.
function_pages = \
	%D%/ggml-cpp.3 \
	%D%/ggml_add.3 \
	%D%/ggml_backend_alloc_ctx_tensors.3 \
	%D%/ggml_backend_buffer.3 \
	%D%/ggml_backend_buffer_init.3 \
	%D%/ggml_backend_buft.3 \
	%D%/ggml_backend_cpu_buffer.3 \
	%D%/ggml_backend_cpu_init.3 \
	%D%/ggml_backend_cuda_init.3 \
	%D%/ggml_backend_dev.3 \
	%D%/ggml_backend_dev_buffer_type.3 \
	%D%/ggml_backend_dev_supports_op.3 \
	%D%/ggml_backend_event.3 \
	%D%/ggml_backend_graph_compute.3 \
	%D%/ggml_backend_graph_copy.3 \
	%D%/ggml_backend_graph_plan.3 \
	%D%/ggml_backend_init.3 \
	%D%/ggml_backend_load.3 \
	%D%/ggml_backend_reg.3 \
	%D%/ggml_backend_register.3 \
	%D%/ggml_backend_sched.3 \
	%D%/ggml_backend_sched_set_tensor_backend.3 \
	%D%/ggml_backend_tensor_set.3 \
	%D%/ggml_backend_vk_init.3 \
	%D%/ggml_build_backward_expand.3 \
	%D%/ggml_build_forward_expand.3 \
	%D%/ggml_conv_2d.3 \
	%D%/ggml_cpu_has.3 \
	%D%/ggml_cpy.3 \
	%D%/ggml_flash_attn_ext.3 \
	%D%/ggml_fopen.3 \
	%D%/ggml_fp32_to_fp16.3 \
	%D%/ggml_gallocr.3 \
	%D%/ggml_get_data.3 \
	%D%/ggml_get_rows.3 \
	%D%/ggml_get_tensor.3 \
	%D%/ggml_get_type_traits_cpu.3 \
	%D%/ggml_graph_compute.3 \
	%D%/ggml_graph_dump_dot.3 \
	%D%/ggml_guid_matches.3 \
	%D%/ggml_init.3 \
	%D%/ggml_is_contiguous.3 \
	%D%/ggml_log_set.3 \
	%D%/ggml_map_custom1.3 \
	%D%/ggml_map_unary_f32.3 \
	%D%/ggml_mul_mat.3 \
	%D%/ggml_nelements.3 \
	%D%/ggml_new_graph.3 \
	%D%/ggml_new_tensor.3 \
	%D%/ggml_norm.3 \
	%D%/ggml_numa_init.3 \
	%D%/ggml_op_name.3 \
	%D%/ggml_opt_step_adamw.3 \
	%D%/ggml_pad.3 \
	%D%/ggml_pool_2d.3 \
	%D%/ggml_quantize_chunk.3 \
	%D%/ggml_reshape.3 \
	%D%/ggml_rope.3 \
	%D%/ggml_set.3 \
	%D%/ggml_set_f32.3 \
	%D%/ggml_set_name.3 \
	%D%/ggml_soft_max.3 \
	%D%/ggml_sqr.3 \
	%D%/ggml_ssm_scan.3 \
	%D%/ggml_status_to_string.3 \
	%D%/ggml_sum.3 \
	%D%/ggml_tallocr.3 \
	%D%/ggml_threadpool.3 \
	%D%/ggml_threadpool_params_default.3 \
	%D%/ggml_time_us.3 \
	%D%/ggml_timestep_embedding.3 \
	%D%/ggml_type_size.3 \
	%D%/ggml_unary.3 \
	%D%/ggml_win_part.3 \
	%D%/ggmlbackend_cpu_level.3 \
	%D%/ggmlbackend_env_get.3 \
	%D%/ggmlbackend_fail.3 \
	%D%/ggmlbackend_last_failure.3 \
	%D%/ggmlbackend_reg_2024.3 \
	%D%/ggmlbackend_register_2023.3 \
	%D%/ggmlbackend_trace_span.3 \
	%D%/ggmlbackend_version.3 \
	%D%/gguf_get_arr.3 \
	%D%/gguf_get_tensor.3 \
	%D%/gguf_get_val.3 \
	%D%/gguf_init_from_file.3 \
	%D%/gguf_set_val.3 \
	%D%/gguf_write_to_file.3

subject_pages = \
	%D%/ggmlbackend.7 \
	%D%/ggmlbackend.env.7 \
	%D%/gguf.5

page_examples = \
	%D%/examples/adamw.c \
	%D%/examples/add.c \
	%D%/examples/backend.c \
	%D%/examples/buffer-types.c \
	%D%/examples/buffer.c \
	%D%/examples/compare.c \
	%D%/examples/compute.c \
	%D%/examples/context.c \
	%D%/examples/conv.c \
	%D%/examples/cpu-backend.c \
	%D%/examples/cpu-buffer.c \
	%D%/examples/cpu-features.c \
	%D%/examples/cpu-level.c \
	%D%/examples/cpy.c \
	%D%/examples/ctx-tensors.c \
	%D%/examples/cuda.c \
	%D%/examples/custom.c \
	%D%/examples/data.c \
	%D%/examples/device-memory.c \
	%D%/examples/device.c \
	%D%/examples/devices.c \
	%D%/examples/dot.c \
	%D%/examples/elements.c \
	%D%/examples/env.c \
	%D%/examples/events.c \
	%D%/examples/failure.c \
	%D%/examples/flash_attn.c \
	%D%/examples/fopen.c \
	%D%/examples/gallocr.c \
	%D%/examples/gguf-arrays.c \
	%D%/examples/gguf-keys.c \
	%D%/examples/gguf-open.c \
	%D%/examples/gguf-set.c \
	%D%/examples/gguf-weights.c \
	%D%/examples/gguf-write.c \
	%D%/examples/gguf.c \
	%D%/examples/gradients.c \
	%D%/examples/graph.c \
	%D%/examples/guid.c \
	%D%/examples/half.c \
	%D%/examples/log.c \
	%D%/examples/matrix.c \
	%D%/examples/modules.c \
	%D%/examples/mul_mat.c \
	%D%/examples/no-backend.c \
	%D%/examples/nodes.c \
	%D%/examples/norm.c \
	%D%/examples/numa.c \
	%D%/examples/ops.c \
	%D%/examples/own-buffer.c \
	%D%/examples/own-log.c \
	%D%/examples/pad.c \
	%D%/examples/plan.c \
	%D%/examples/pool.c \
	%D%/examples/pool_params.c \
	%D%/examples/quantize.c \
	%D%/examples/registrations.c \
	%D%/examples/reshape.c \
	%D%/examples/rope.c \
	%D%/examples/row-product.c \
	%D%/examples/rows.c \
	%D%/examples/sched-observe.c \
	%D%/examples/sched.c \
	%D%/examples/set.c \
	%D%/examples/shapes.c \
	%D%/examples/sizes.c \
	%D%/examples/soft_max.c \
	%D%/examples/sqr.c \
	%D%/examples/ssm.c \
	%D%/examples/status.c \
	%D%/examples/sum.c \
	%D%/examples/supports.c \
	%D%/examples/tallocr.c \
	%D%/examples/tensor.c \
	%D%/examples/threadpool.c \
	%D%/examples/time.c \
	%D%/examples/timestep.c \
	%D%/examples/trace.c \
	%D%/examples/transfer.c \
	%D%/examples/types.c \
	%D%/examples/unary.c \
	%D%/examples/version.c \
	%D%/examples/vulkan.c \
	%D%/examples/walk.c \
	%D%/examples/windows.c

made_pages = $(function_pages) $(subject_pages)
man_MANS += $(made_pages)
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
html_inputs = $(man_MANS) $(dist_man_MANS)
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
