# SPDX-License-Identifier: GPL-2.0-or-later
# The lab: Debian tree, guest kernels, interactive guest. Included by the top Makefile.

LAB_DRIVER ?= none
LAB_KERNEL ?= stock

##@ Lab
.PHONY: lab lab-tree lab-shell lab-clean
lab: ## Debian tree, QEMU, guest kernels; once, then at once
	@tools/lab/prepare

# The debug kernel is built in the background; what does not need it runs at the same time.
lab-tree:
	@tools/lab/prepare --for stock

lab-shell: ## interactive guest; LAB_DRIVER=none, mlx5 or cxib, LAB_KERNEL=stock or debug
	@tools/lab/prepare --for $(LAB_KERNEL)
	@$(if $(filter-out none,$(LAB_DRIVER)),$(MAKE) --no-print-directory cxemu)
	@tools/lab/run --driver $(LAB_DRIVER) --kernel $(LAB_KERNEL) --shell

lab-clean: ## remove what older recipes left in the cache of the lab
	@tools/lab/prepare --clean
