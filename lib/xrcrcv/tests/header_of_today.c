// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <xrcrcv/xrcrcv.h>

/** Calls each function as a C program does. */
int use_each_call(struct ibv_context *context, struct ibv_xrcd *xrcd);

int use_each_call(struct ibv_context *context, struct ibv_xrcd *xrcd)
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_async_event event;
	enum ibv_event_type type;
	struct ibv_qp_attr attr;
	uint32_t qpn = 0;

	if (!xrcrcv_supported(context) || ibv_get_async_event(context, &event))
		return -1;
	if (xrcrcv_event(&event, &qpn, &type))
		return (int)type;
	return xrcrcv_create(xrcd, &qpn) + xrcrcv_register(xrcd, qpn) + xrcrcv_unregister(xrcd, qpn) +
	       xrcrcv_query(xrcd, qpn, &attr, 0, &init_attr) + xrcrcv_modify(xrcd, qpn, &attr, IBV_QP_STATE);
}
