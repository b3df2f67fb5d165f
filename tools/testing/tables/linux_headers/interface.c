// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's public description of the device and of InfiniBand's datagrams, compiled for its
 * debug information: conformance.py reads the structures and enumerations from there.
 * constants.h is written by conformance.py: the macros to which it wants to know the value.
 */
#include <linux/types.h>
#include <linux/mlx5/driver.h>
#include <linux/mlx5/mlx5_ifc.h>
#include <linux/mlx5/device.h>
#include <linux/mlx5/qp.h>
#include <linux/mlx5/cq.h>
#include <linux/mlx5/port.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_smi.h>
#include <rdma/ib_pma.h>
#include <rdma/ib_sa.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_pack.h>

#include "constants.h"
