# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The user-space libraries; included by the top Makefile. They are built in the lab tree. LIBRARIES_EXEC= builds them
# with the tools of this host instead; then LIBRARIES_BUILD must be set as well.

LIBRARIES_EXEC ?= tools/lab/exec --
LIBRARIES_BUILD ?= build/xrcrcv

# Concurrent checks may build the same libraries.
libraries_lock = mkdir -p $(dir $(LIBRARIES_BUILD)) && flock $(dir $(LIBRARIES_BUILD)).xrcrcv.lock
libraries_configure = $(libraries_lock) $(LIBRARIES_EXEC) cmake -S lib/xrcrcv -G Ninja --log-level=NOTICE
libraries_sanitized = $(LIBRARIES_BUILD)-sanitized

.PHONY: libraries libraries-tests

libraries: ## libxrcrcv, libxrc2008 and their example: build/xrcrcv
	@$(libraries_configure) -B $(LIBRARIES_BUILD) -DXRCRCV_TESTS=OFF
	@$(libraries_lock) $(LIBRARIES_EXEC) cmake --build $(LIBRARIES_BUILD) -j 2

libraries-tests: ## the unit tests of these libraries, with ASan and UBSan
	@$(libraries_configure) -B $(libraries_sanitized) -DXRCRCV_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug
	@$(libraries_lock) $(LIBRARIES_EXEC) cmake --build $(libraries_sanitized) -j 2
	@$(LIBRARIES_EXEC) ctest --test-dir $(libraries_sanitized) --output-on-failure
