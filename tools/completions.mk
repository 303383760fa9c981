# SPDX-License-Identifier: MIT
# From the rows of each tool's options.def: its manual page, and what shells need to
# complete its command line.
bash_completions = $(tool_pages:man/%.1=completions/bash/%)
zsh_completions = $(tool_pages:man/%.1=completions/zsh/_%)
fish_completions = $(tool_pages:man/%.1=completions/fish/%.fish)
completions = $(bash_completions) $(zsh_completions) $(fish_completions)

if BASH_COMPLETION
bashcompletion_DATA = $(bash_completions)
endif
if ZSH_COMPLETION
zshcompletion_DATA = $(zsh_completions)
endif
if FISH_COMPLETION
fishcompletion_DATA = $(fish_completions)
endif
check_DATA += $(completions)
CLEANFILES += $(completions)
EXTRA_DIST += $(options_awk) $(template_bash)

options_awk = tools/common/options.awk
template_bash = tools/common/completion.bash.in
read_options = $(MKDIR_P) '$(@D)' && \
	LC_ALL=C $(AWK) -f '$(srcdir)/$(options_awk)' -v tool='$*'

man/%.1: man/%.1.in tools/%/options.def $(options_awk)
	$(AM_V_GEN)$(read_options) -v to=page '$(srcdir)/tools/$*/options.def' \
	    '$(srcdir)/$@.in' >'$@.tmp' && mv -f '$@.tmp' '$@'

completions/bash/%: tools/%/options.def $(options_awk) $(template_bash)
	$(AM_V_GEN)$(read_options) -v to=bash '$(srcdir)/tools/$*/options.def' \
	    '$(srcdir)/$(template_bash)' >'$@.tmp' && mv -f '$@.tmp' '$@'

completions/zsh/_%: tools/%/options.def $(options_awk)
	$(AM_V_GEN)$(read_options) -v to=zsh \
	    '$(srcdir)/tools/$*/options.def' >'$@.tmp' && mv -f '$@.tmp' '$@'

completions/fish/%.fish: tools/%/options.def $(options_awk)
	$(AM_V_GEN)$(read_options) -v to=fish \
	    '$(srcdir)/tools/$*/options.def' >'$@.tmp' && mv -f '$@.tmp' '$@'
