# SPDX-License-Identifier: GPL-2.0-or-later
# The commands of this project; `make help` lists them.
# The rules of the module itself are in Kbuild.

KDIR ?= /lib/modules/$(shell uname -r)/build
KERNEL ?= stock

.DEFAULT_GOAL := module

-include tools/lab/lab.mk
-include scripts/hwtab/tables.mk
-include tools/cxemu/cxemu.mk
-include lib/lib.mk

define no_headers
There are no kernel headers at $(KDIR).
  Debian, Ubuntu:  apt-get install linux-headers-$(shell uname -r)
  Fedora, RHEL:    dnf install kernel-devel-$(shell uname -r)
Name another kernel build directory with KDIR=, for example
  make KDIR=/usr/src/linux-headers-6.12-amd64
The lab has kernels of its own: make modules KERNEL=stock
endef
export no_headers

define not_built
cxib: there is no module for kernel $(notdir $(patsubst %/build,%,$(KDIR))). The lines above with "cxib:" or "error:" say why: what
cxib: the kernel lacks or has in another form, or what is wrong with the build. A newer cxib may know the kernel; install.rst (in
cxib: Documentation/ or /usr/share/doc/cxib-dkms/) lists those that were tried. On this kernel adapters stay with its own driver.
endef
export not_built

##@ See
.PHONY: demo
demo: ## everything that runs on cxib, shown in a guest with two emulated HCAs; KEEP=1 leaves a shell in it
	@tools/demo/run $(if $(KEEP),--keep)

.PHONY: docs
docs: lab-tree ## the documentation, the hardware reference and the interfaces of public headers as HTML: build/docs/html
	@tools/docs/build

##@ Build
.PHONY: module modules clean headers
module: | headers ## cxib.ko for the running kernel, or for KDIR=directory
	+@$(MAKE) --no-print-directory -C $(KDIR) M=$(CURDIR) modules || { printf '%s\n' "$$not_built" >&2; exit 1; }

modules: ## modules for a kernel of the lab, KERNEL=stock, debug, backports or oldstable, in build/
	@tools/testing/module/build --kernel $(KERNEL)

clean: ## remove what was built here; the lab stays
	@rm -rf build
	@find . -name .git -prune -o -type f \( -name '*.ko' -o -name '*.o' -o -name '*.mod' \
	    -o -name '*.mod.c' -o -name '.*.cmd' -o -name modules.order \
	    -o -name Module.symvers \) -exec rm -f {} +

headers:
	@test -e $(KDIR)/Makefile || { printf '%s\n' "$$no_headers" >&2; exit 1; }

##@ Test
run_tests = tools/lab/exec --tests -- tools/testing/run $(if $(JOBS),--jobs $(JOBS))
.PHONY: check check-fast check-long test compare-tests fuzz coverage bench bench-pipelining bench-polling bench-ulps sparse
check: lab-tree ## everything that CI runs: half an hour, longer with a lab to prepare
	@$(run_tests) check

check-fast: lab-tree ## what needs no guest and no kernel: style, tables, documentation; 2 minutes
	@$(run_tests) fast

check-long: lab-tree ## all other tests: hours; those that have waited longest come first, so it may be interrupted
	@$(run_tests) long

test: lab-tree ## tests in guests, T='recovery and link_down' as pytest -k; KERNEL=debug, DRIVER=mlx5 for all of them
	@tools/lab/exec --tests -- pytest-3 -v tools/testing $(if $(T),-k '$(T)') \
	    $(if $(filter-out file,$(origin KERNEL)),--kernel $(KERNEL)) $(if $(DRIVER),--driver $(DRIVER))

fuzz_guest = tools/lab/exec --tests -- pytest-3 -v tools/testing/module --setting CXIB_FIRST_SEED=$(or $(FIRST_SEED),1) --run
fuzz: lab ## a device and programs that do anything, SEEDS=2000 from FIRST_SEED on, on the debug kernel; hours
	@$(fuzz_guest) module-bad-requests --setting CXIB_REQUESTS=$$((200 * $(or $(SEEDS),2000)))
	@$(fuzz_guest) module-random-devices-debug --setting CXIB_SEEDS=$(or $(SEEDS),2000)
	@$(fuzz_guest) module-random-faults-connectx5-debug --setting CXIB_SEEDS=200
	@$(fuzz_guest) module-random-faults-connectx7-debug --setting CXIB_SEEDS=200

compare-tests: lab-tree ## rdma-core's tests on the kernel's own driver and on cxib; writes the page that compares them
	@tools/lab/exec --tests -- tools/testing/run --only '^rdma-core-(mlx5|cxib)$$' || true
	@tools/lab/exec -- tools/testing/rdma_core/compare.py --write

coverage: cxemu ## lines and branches of the driver that KUnit and guests reach; build/coverage/
	@tools/testing/coverage

bench: lab ## measures; tables in build/bench/; minutes, on a quiet machine
	@tools/bench/run transport bring-up verbs policy

bench-pipelining: lab ## signature pipelining in the kernel's NVMe target, with and without; 10 minutes, on a quiet machine
	@tools/bench/run pipelining

bench-polling: lab ## polling contexts of CQs that share a vector, in instructions; half an hour
	@tools/bench/run polling

bench-ulps: lab ## the kernel's protocols over cxib, mlx5_ib and rdma_rxe; 15 minutes, on a quiet machine
	@tools/bench/run ulps

sparse: ## sparse with endian checks over driver and suites
	@tools/testing/static/sparse

##@ Help
.PHONY: help
help: ## this list
	@awk -f tools/testing/help.awk $(MAKEFILE_LIST)
