// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Includes the kernel's public description of the device and of MADs. It is compiled for its debug
 * information, from which conformance.py reads the structures and enumerations. conformance.py
 * writes constants.h with the macros whose values it needs.
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
