# SPDX-License-Identifier: GPL-2.0-or-later
# The files that are generated from the hardware tables. Included by the top Makefile. The generator is built in the lab
# if the lab is ready, else with the host's compiler.

# Concurrent checks may need the generator, so a lock protects its build.
hwtab = mkdir -p build && exec 9>build/.hwtab.lock && flock 9 && if tools/lab/exec -- true 2>/dev/null; \
    then tools/lab/exec -- make --no-print-directory -f scripts/hwtab/Makefile BUILD=build/hwtab/lab -j2 $(1); \
    else $(MAKE) --no-print-directory -f scripts/hwtab/Makefile BUILD=build/hwtab/host $(1); fi

.PHONY: tables tables-check tables-json tables-reference
tables: ## regenerate include/hw
	@$(call hwtab,generate)

tables-check: ## fail if a generated file is not what the tables say
	@$(call hwtab,check)

tables-json: ## the tables as JSON, in build/hwtab/tables.json
	@$(call hwtab,json)

# tools/docs/build uses this target.
tables-reference:
	@$(call hwtab,reference)
