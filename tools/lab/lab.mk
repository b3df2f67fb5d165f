# SPDX-License-Identifier: GPL-2.0-or-later
# The lab: Debian tree, guest kernels, interactive guest. Included by the top Makefile.

LAB_DRIVER ?= none
LAB_KERNEL ?= stock

.PHONY: lab lab-shell lab-clean

lab:	## prepare the lab (Debian tree, QEMU, guest kernels)
	tools/lab/prepare

lab-shell: lab	## interactive guest; LAB_DRIVER=none|mlx5|cxib, LAB_KERNEL=stock|debug
	tools/lab/run --driver $(LAB_DRIVER) --kernel $(LAB_KERNEL) --shell

lab-clean:	## remove the trees and kernels of other recipes from the cache
	tools/lab/prepare --clean
