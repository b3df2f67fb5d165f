// SPDX-License-Identifier: GPL-2.0-only
/*
 * GSI: QP 1 sends and receives MADs of all partitions. But the device has one P_Key index per QP,
 * not per WQE. So in addition to the GSI QP, a port has a GSI send QP for each further valid P_Key.
 * A send QP only sends; its packets name QP 1 as source in the DETH, and its completions are
 * reported as completions of the GSI QP.
 */
#include <kunit/visibility.h>
#include <linux/slab.h>
#include <rdma/ib_mad.h>

#include "compat/workqueue.h"
#include "verbs/port/gsi.h"

#define PKEY_BASE_MASK	0x7fff

static int gsi_modify_tx_qp(struct cxib_qp *tx_qp, struct ib_qp_attr attr, int mask)
{
	return ib_modify_qp(&tx_qp->ib, &attr, mask);
}

static int gsi_bring_up_tx_qp(const struct cxib_gsi *gsi, struct cxib_qp *tx_qp, u16 index)
{
	const struct ib_qp_attr init = {
		.qp_state = IB_QPS_INIT, .pkey_index = index,
		.port_num = gsi->port->number, .qkey = IB_QP1_QKEY,
	};

	return gsi_modify_tx_qp(tx_qp, init, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
					     IB_QP_QKEY) ?:
		       gsi_modify_tx_qp(tx_qp, (struct ib_qp_attr){ .qp_state = IB_QPS_RTR },
					IB_QP_STATE) ?:
		       gsi_modify_tx_qp(tx_qp, (struct ib_qp_attr){ .qp_state = IB_QPS_RTS },
					IB_QP_STATE | IB_QP_SQ_PSN);
}

static struct cxib_qp *gsi_create_tx_qp(const struct cxib_gsi *gsi, u16 index)
{
	struct ib_qp *service = &gsi->qp->ib;
	struct ib_qp_init_attr init = {
		.send_cq = service->send_cq,
		.recv_cq = service->recv_cq,
		.cap = { .max_send_wr = gsi->qp->cap.max_send_wr,
			 .max_send_sge = gsi->qp->cap.max_send_sge },
		.sq_sig_type = gsi->qp->sq.flags & IB_SEND_SIGNALED ? IB_SIGNAL_ALL_WR :
									 IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_UD,
		.create_flags = CXIB_QP_CREATE_GSI_TX,
	};
	struct ib_qp *ib = ib_create_qp(service->pd, &init);
	int err;

	if (IS_ERR(ib))
		return ERR_CAST(ib);
	to_qp(ib)->wc_qp = service;
	err = gsi_bring_up_tx_qp(gsi, to_qp(ib), index);
	if (!err)
		return to_qp(ib);
	ib_destroy_qp(ib);
	return ERR_PTR(err);
}

static void gsi_set_tx_qp(struct cxib_gsi *gsi, u16 index, struct cxib_qp *tx_qp)
{
	lockdep_assert_held(&gsi->mutex);

	spin_lock_irq(&gsi->lock);
	gsi->tx_qps[index] = tx_qp;
	spin_unlock_irq(&gsi->lock);
}

static void gsi_add_tx_qp(struct cxib_gsi *gsi, u16 index)
{
	struct cxib_qp *tx_qp = gsi_create_tx_qp(gsi, index);

	if (IS_ERR(tx_qp))
		ibdev_warn_ratelimited(gsi->qp->ib.device,
				       "port %u: GSI send QP for P_Key index %u failed: error %ld\n",
				       gsi->port->number, index, PTR_ERR(tx_qp));
	else
		gsi_set_tx_qp(gsi, index, tx_qp);
}

/*
 * Tests the base, which is the P_Key without the membership bit: base 0 is invalid (IBA 10.9.1.2).
 */
static bool gsi_is_valid_pkey(u16 pkey)
{
	return pkey & PKEY_BASE_MASK;
}

/* A QP whose P_Key is no longer valid stays, because its index may get another P_Key. */
static void gsi_update_tx_qps(struct cxib_gsi *gsi)
{
	u16 pkey;
	u16 i;

	lockdep_assert_held(&gsi->mutex);

	if (!gsi->can_tx || !to_ibdev(gsi->qp->ib.device)->hw->caps.set_deth_sqpn)
		return;
	for (i = 0; i < gsi->count; i++) {
		if (ib_query_pkey(gsi->qp->ib.device, gsi->port->number, i, &pkey))
			return;
		if (gsi_is_valid_pkey(pkey) && i != gsi->pkey_index && !gsi->tx_qps[i])
			gsi_add_tx_qp(gsi, i);
	}
}

static void gsi_destroy_tx_qps(struct cxib_gsi *gsi)
{
	struct cxib_qp *tx_qp;
	u16 i;

	lockdep_assert_held(&gsi->mutex);

	gsi->can_tx = false;
	for (i = 0; i < gsi->count; i++) {
		tx_qp = gsi->tx_qps[i];
		if (!tx_qp)
			continue;
		/* After the pointer is cleared, no WR is posted to the QP. */
		gsi_set_tx_qp(gsi, i, NULL);
		ib_destroy_qp(&tx_qp->ib);
	}
}

static void gsi_flush_tx_qps(struct cxib_gsi *gsi)
{
	u16 i;

	lockdep_assert_held(&gsi->mutex);

	gsi->can_tx = false;
	for (i = 0; i < gsi->count; i++)
		if (gsi->tx_qps[i])
			gsi_modify_tx_qp(gsi->tx_qps[i],
					 (struct ib_qp_attr){ .qp_state = IB_QPS_ERR },
					 IB_QP_STATE);
}

/* Creates the QPs before it raises the event, so that ULPs can then send with the new P_Keys. */
static void gsi_pkey_work_fn(struct work_struct *work)
{
	struct cxib_gsi *gsi = container_of(work, struct cxib_gsi, pkey_work);
	struct ib_event event = {
		.device = gsi->qp->ib.device,
		.element.port_num = gsi->port->number,
		.event = IB_EVENT_PKEY_CHANGE,
	};

	mutex_lock(&gsi->mutex);
	gsi_update_tx_qps(gsi);
	mutex_unlock(&gsi->mutex);
	ib_dispatch_event(&event);
}

static void gsi_set_port(struct cxib_port *port, struct cxib_gsi *gsi)
{
	mutex_lock(&port->lock);
	port->gsi = gsi;
	mutex_unlock(&port->lock);
}

/**
 * cxib_gsi_create() - create the state of the per-P_Key GSI send QPs
 * @qp: the GSI QP
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM; -EINVAL if the device has no such port.
 */
int cxib_gsi_create(struct cxib_qp *qp)
{
	struct cxib_ibdev *ibdev = to_ibdev(qp->ib.device);
	struct cxib_port *port;
	struct cxib_gsi *gsi;

	if (!rdma_is_port_valid(qp->ib.device, qp->port))
		return -EINVAL;
	port = &ibdev->ports[qp->port - 1];
	gsi = kzalloc(struct_size(gsi, tx_qps, port->pkey_count), GFP_KERNEL);
	if (!gsi)
		return -ENOMEM;
	gsi->count = port->pkey_count;
	gsi->qp = qp;
	gsi->port = port;
	INIT_WORK(&gsi->pkey_work, gsi_pkey_work_fn);
	mutex_init(&gsi->mutex);
	spin_lock_init(&gsi->lock);
	qp->gsi = gsi;
	gsi_set_port(port, gsi);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_gsi_create);

/**
 * cxib_gsi_stop() - destroy the send QPs
 * @qp: the GSI QP
 *
 * Posting returns -EAGAIN from here on, until cxib_gsi_destroy().
 *
 * Context: process context, may sleep.
 */
void cxib_gsi_stop(struct cxib_qp *qp)
{
	struct cxib_gsi *gsi = qp->gsi;

	if (!gsi)
		return;
	gsi_set_port(gsi->port, NULL);
	cancel_work_sync(&gsi->pkey_work);
	mutex_lock(&gsi->mutex);
	gsi_destroy_tx_qps(gsi);
	mutex_unlock(&gsi->mutex);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_gsi_stop);

/**
 * cxib_gsi_destroy() - undo cxib_gsi_create()
 * @qp: the GSI QP, after cxib_gsi_stop(); no further WR is posted
 */
void cxib_gsi_destroy(struct cxib_qp *qp)
{
	kfree(qp->gsi);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_gsi_destroy);

/**
 * cxib_gsi_modify() - apply a modification of the GSI QP to the send QPs
 * @qp: the GSI QP
 * @attr: attributes that were modified
 * @mask: IB_QP_…: which of them
 *
 * Context: process context, may sleep; without the mutex of @qp.
 */
void cxib_gsi_modify(struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct cxib_gsi *gsi = qp->gsi;

	guard(mutex)(&gsi->mutex);
	if (mask & IB_QP_PKEY_INDEX) {
		spin_lock_irq(&gsi->lock);
		gsi->pkey_index = attr->pkey_index;
		spin_unlock_irq(&gsi->lock);
	}
	if (!(mask & IB_QP_STATE))
		return;
	switch (attr->qp_state) {
	case IB_QPS_RTS:
		gsi->can_tx = true;
		gsi_update_tx_qps(gsi);
		break;
	case IB_QPS_ERR:
		gsi_flush_tx_qps(gsi);
		break;
	case IB_QPS_RESET:
		gsi_destroy_tx_qps(gsi);
		break;
	default:
		break;
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_gsi_modify);

static bool gsi_is_in_sqe(struct cxib_qp *qp)
{
	struct hw_qpc context;

	return !cxib_cmd_query_qp(commands_of(to_ibdev(qp->ib.device)), 0, qp->qpn, &context) &&
	       hw_qpc_get_state(&context) == HW_QP_STATE_SQER;
}

/**
 * cxib_gsi_recover_sqe() - recover send QPs in SQE
 * @qp: the GSI QP
 *
 * The ULP believes that a failed send has failed on the GSI QP, and modifies that QP to RTS. But
 * the send may have failed on a send QP.
 *
 * Context: process context, may sleep; without the mutex of @qp.
 * Return: whether the GSI QP itself must be modified to RTS.
 */
bool cxib_gsi_recover_sqe(struct cxib_qp *qp)
{
	const struct ib_qp_attr attr = { .cur_qp_state = IB_QPS_SQE, .qp_state = IB_QPS_RTS };
	struct cxib_gsi *gsi = qp->gsi;
	bool resumed = false;
	u16 i;

	guard(mutex)(&gsi->mutex);
	for (i = 0; i < gsi->count; i++)
		if (gsi->tx_qps[i] && gsi_is_in_sqe(gsi->tx_qps[i]))
			resumed |= !gsi_modify_tx_qp(gsi->tx_qps[i], attr,
						     IB_QP_STATE | IB_QP_CUR_STATE);
	return !resumed || gsi_is_in_sqe(qp);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_gsi_recover_sqe);

/**
 * cxib_gsi_defers_pkey_event() - whether the event of new P_Keys is deferred
 * @port: port whose P_Keys have changed
 *
 * Return: true if IB_EVENT_PKEY_CHANGE is dispatched after the send QPs are created; false if the
 * port has no GSI QP.
 */
bool cxib_gsi_defers_pkey_event(struct cxib_port *port)
{
	guard(mutex)(&port->lock);
	if (!port->gsi)
		return false;
	queue_work(system_dfl_wq, &port->gsi->pkey_work);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_gsi_defers_pkey_event);
