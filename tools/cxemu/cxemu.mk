# SPDX-License-Identifier: GPL-2.0-or-later
# The emulated HCA; included by the top Makefile. Built in the lab tree; CXEMU_EXEC= builds with the
# tools of this host instead (then also give another CXEMU_BUILD).

CXEMU_EXEC ?= tools/lab/exec --
CXEMU_BUILD ?= build/cxemu
CXEMU_JOBS ?= 2
# OFF compiles each file by itself: slower from nothing, quicker after a change to one file.
CXEMU_UNITY ?= ON
CXEMU_FUZZ_SECONDS ?= 60
CXEMU_FUZZ_SEED ?= 0
CXEMU_TRANSPORT_SEEDS ?= 5000
CXEMU_CLANG ?= clang++

# Several checks at a time may want the same program.
cxemu_lock = mkdir -p $(dir $(CXEMU_BUILD)) && flock $(dir $(CXEMU_BUILD)).cxemu.lock

cxemu_configure = $(cxemu_lock) $(CXEMU_EXEC) cmake -S tools/cxemu -G Ninja -DCXEMU_UNITY=$(CXEMU_UNITY)

.PHONY: cxemu cxemu-test-programs cxemu-tests cxemu-connections cxemu-fuzz cxemu-single-files

cxemu: ## the emulated HCA: build/cxemu/cxemu
	@$(cxemu_configure) -B $(CXEMU_BUILD) --log-level=NOTICE
	@$(cxemu_lock) $(CXEMU_EXEC) cmake --build $(CXEMU_BUILD) -j $(CXEMU_JOBS) --target cxemu

# With Clang, which compiles all of it in half the time; the program's own build is GCC's.
cxemu_sanitized = $(CXEMU_BUILD)-sanitized
cxemu_configure_sanitized = $(cxemu_configure) -B $(cxemu_sanitized) --log-level=NOTICE \
    -DCXEMU_SANITIZE=ON -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=$(CXEMU_CLANG)
cxemu_build_sanitized = $(cxemu_lock) $(CXEMU_EXEC) cmake --build $(cxemu_sanitized) -j $(CXEMU_JOBS)

cxemu-test-programs:
	@$(cxemu_configure_sanitized)
	@$(cxemu_build_sanitized) $(if $(ROOM),--target cxemu_$(ROOM)_tests)

cxemu-tests: cxemu-test-programs ## the unit tests of the emulated HCA, with ASan and UBSan; ROOM=commands chooses
	@$(CXEMU_EXEC) ctest --test-dir $(cxemu_sanitized) --output-on-failure $(if $(ROOM),--tests-regex '^$(ROOM)$$')

# Not optimized: what counts is that each file compiles, whatever stands before it in a batch of CXEMU_UNITY.
cxemu-single-files: ## compile each file of the emulated HCA by itself, which finds the headers that it forgot to include
	@$(cxemu_lock) $(CXEMU_EXEC) cmake -S tools/cxemu -G Ninja -B $(CXEMU_BUILD)-single-files --log-level=NOTICE \
	    -DCXEMU_UNITY=OFF -DCXEMU_PRECOMPILE=OFF -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0
	@$(CXEMU_EXEC) cmake --build $(CXEMU_BUILD)-single-files -j $(CXEMU_JOBS) -- -k 0

cxemu-connections: ## random connections against a model of the specification, CXEMU_TRANSPORT_SEEDS= of them
	@$(cxemu_configure) -B $(CXEMU_BUILD) --log-level=NOTICE
	@$(cxemu_lock) $(CXEMU_EXEC) cmake --build $(CXEMU_BUILD) -j $(CXEMU_JOBS) --target cxemu_transport_tests
	@$(CXEMU_EXEC) env CXEMU_TRANSPORT_SEEDS=$(CXEMU_TRANSPORT_SEEDS) \
	    tools/testing/googletest $(CXEMU_BUILD)/transport/cxemu_transport_tests --gtest_filter='RandomConnection.*:RandomKeys.*'

cxemu-fuzz: ## fuzz the emulated HCA's inputs, CXEMU_FUZZ_SECONDS= for each target
	@$(cxemu_configure_sanitized)
	@$(cxemu_build_sanitized) --target cxemu_fuzzers
	@$(CXEMU_EXEC) tools/cxemu/fuzz $(cxemu_sanitized) $(CXEMU_FUZZ_SECONDS) $(CXEMU_FUZZ_SEED)
