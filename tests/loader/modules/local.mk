# SPDX-License-Identifier: MIT
# tests/loader/modules: one source, many modules.  They find the library in the
# program that loads them, so they exist in builds without a shared library too,
# and are linked whatever LDFLAGS says of undefined symbols.
EXTRA_DIST += %D%/module.c

loader_module_good = -DMODULE_NAME='"Good"'
loader_module_twin = -DMODULE_NAME='"gOOD"'
loader_module_weighed = -DMODULE_NAME='"Weighed"' -DMODULE_SCORE=7
loader_module_curious = -DMODULE_NAME='"Curious"' \
	-DMODULE_DOES='ggml_backend_dev_by_name("none")'
loader_module_greedy_init = -DMODULE_NAME='"Greedy"' \
	-DMODULE_DOES='ggml_backend_load("./none.so")'
loader_module_greedy_search = -DMODULE_NAME='"Greedy"' \
	-DMODULE_DOES='ggml_backend_load_all()'
loader_module_greedy_start = -DMODULE_NAME='"Greedy"' \
	-DMODULE_AT_START='ggml_backend_load("./none.so")'
loader_module_older = -DMODULE_NAME='"Older"' \
	-DMODULE_DOES='reg->api_version = GGML_BACKEND_API_VERSION - 1'
loader_module_newer = -DMODULE_NAME='"Newer"' \
	-DMODULE_DOES='reg->api_version = GGML_BACKEND_API_VERSION + 1'
loader_module_useless = -DMODULE_NAME='"Useless"' -DMODULE_SCORE=0
loader_module_empty = -DMODULE_SCORE=1
loader_module_null = -DMODULE_NAME='"Null"' -DMODULE_DOES='reg = NULL'
loader_module_absent = -DMODULE_NAME='"Absent"' \
	-DMODULE_ABSENT='"there is no card %d", 7'
loader_module_cuda = -DMODULE_NAME='"CUDA"' -DMODULE_CUDA
loader_module_hip = -DMODULE_NAME='"ROCm"'
loader_module_vulkan = -DMODULE_NAME='"Vulkan"'
loader_module_partial = -DMODULE_NAME='"Partial"' \
	-DMODULE_DOES='reg->iface.get_device = NULL'
loader_module_nameless = -DMODULE_NAME=NULL
loader_module_lame = -DMODULE_NAME='"Lame"' \
	-DMODULE_DOES='fake.device.iface.supports_op = NULL'
loader_module_borrowed = -DMODULE_NAME='"Borrowed"' \
	-DMODULE_DOES='reg = ggml_backend_reg_by_name("CPU")'
loader_module_origin = -DMODULE_NAME='"Origin"' '-Wl,-rpath,$$ORIGIN'
loader_module_unlinked = -DMODULE_NAME='"Unlinked"' \
	-DMODULE_DOES='tests_missing_symbol()'
# Variants of one backend.
loader_module_variant = -DMODULE_NAME='"Variant"'
loader_module_variant3 = $(loader_module_variant) -DMODULE_SCORE=3
loader_module_variant5 = $(loader_module_variant) -DMODULE_SCORE=5
loader_module_equal5 = $(loader_module_variant5)
loader_module_broken9 = $(loader_module_newer) -DMODULE_SCORE=9

loader_modules = $(patsubst loader_module_%,%D%/%.so,$(filter \
	loader_module_%,$(.VARIABLES)))
check_DATA += $(loader_modules)
CLEANFILES += %D%/*.so

$(loader_modules): %D%/%.so: %D%/module.c tests/backend/fake.c tests/backend/fake.h
	@$(MKDIR_P) %D%
	$(AM_V_CCLD)$(CC) -shared -fPIC -fvisibility=hidden -DGGML_BACKEND_DL \
	    $(DEFS) $(TEST_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) \
	    $(loader_module_$*) -o $@ \
	    '$(srcdir)/%D%/module.c' '$(srcdir)/tests/backend/fake.c' \
	    $(filter-out %defs,$(LDFLAGS))
