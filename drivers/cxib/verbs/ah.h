/* SPDX-License-Identifier: GPL-2.0-only */
/* Address handles (AHs). */
#ifndef CXIB_VERBS_AH_H
#define CXIB_VERBS_AH_H

#include <rdma/ib_verbs.h>

#include "hw/work_queue.h"

struct cxib_device_caps;

/**
 * struct cxib_ah - an address handle
 * @ib: the RDMA core's AH
 * @vector: address vector of the WQEs; Q_Key and QPN are set by each WR
 * @port: port number
 */
struct cxib_ah {
	struct ib_ah ib;
	struct hw_av vector;
	u8 port;
};

static inline struct cxib_ah *to_ah(struct ib_ah *ib)
{
	return container_of(ib, struct cxib_ah, ib);
}

int cxib_create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init, struct ib_udata *udata);
int cxib_modify_ah(struct ib_ah *ib, struct rdma_ah_attr *attr);
int cxib_query_ah(struct ib_ah *ib, struct rdma_ah_attr *attr);
int cxib_destroy_ah(struct ib_ah *ib, u32 flags);
u8 cxib_rate_to_ib(u32 code);
/* The last value of enum ib_rate in this kernel. */
#ifdef CXIB_LACKS_RATE_800
#define CXIB_RATE_MAX	IB_RATE_600_GBPS
#else
#define CXIB_RATE_MAX	IB_RATE_800_GBPS
#endif
int cxib_static_rate(const struct cxib_device_caps *caps, u8 rate);

#endif
