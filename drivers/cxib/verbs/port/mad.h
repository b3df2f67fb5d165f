/* SPDX-License-Identifier: GPL-2.0-only */
/* MADs that the firmware processes. */
#ifndef CXIB_VERBS_PORT_MAD_H
#define CXIB_VERBS_PORT_MAD_H

#include <rdma/ib_verbs.h>

struct ib_mad;
struct ib_mad_hdr;

/* Vendor classes that the firmware processes. */
#define CXIB_MGMT_CLASS_VENDOR_0	0x09
#define CXIB_MGMT_CLASS_VENDOR_1	0x0a

bool cxib_mad_is_for_agent(const struct ib_mad_hdr *header);
int cxib_process_mad(struct ib_device *ib, int flags, u32 number, const struct ib_wc *in_wc,
		     const struct ib_grh *in_grh, const struct ib_mad *in, struct ib_mad *out,
		     size_t *out_size, u16 *out_pkey_index);

#endif
