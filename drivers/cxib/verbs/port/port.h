/* SPDX-License-Identifier: GPL-2.0-only */
/* The device's values about ports in the words of ib_verbs. */
#ifndef CXIB_VERBS_PORT_PORT_H
#define CXIB_VERBS_PORT_PORT_H

#include <rdma/ib_verbs.h>

#include "hw/events.h"

u8 cxib_link_width(u32 width);
u8 cxib_vl_code(u32 vls);
bool cxib_port_event(enum hw_port_change_subtype change, enum ib_event_type *event);

#endif
