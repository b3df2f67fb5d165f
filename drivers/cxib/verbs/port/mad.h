/* SPDX-License-Identifier: GPL-2.0-only */
/* Which management datagrams the firmware answers. */
#ifndef CXIB_VERBS_PORT_MAD_H
#define CXIB_VERBS_PORT_MAD_H

#include <linux/types.h>

struct ib_mad_hdr;

/* Classes for tools of the vendor; the firmware answers them. */
#define CXIB_MGMT_CLASS_VENDOR_0	0x09
#define CXIB_MGMT_CLASS_VENDOR_1	0x0a

bool cxib_mad_is_for_agent(const struct ib_mad_hdr *header);

#endif
