// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queue pair 1 sends and receives management datagrams of all partitions. What
 * the device takes from a queue pair is one P_Key index, not one a request. So
 * a port has, beside the queue pair of the service, one for each further valid
 * P_Key, whose datagrams say that they come from queue pair 1. It only sends,
 * and reports to the completion queue of the service, as the service.
 */
#include <linux/slab.h>
#include <rdma/ib_mad.h>

#include "verbs/port/gsi.h"

/**
 * struct cxib_gsi - the senders of a port's general services
 * @qp: the queue pair of the service
 * @port: its port
 * @pkey_work: makes senders for P_Keys that have become valid, then tells of them
 * @mutex: one change at a time; protects what follows
 * @can_tx: the service can send, so its senders shall
 * @lock: what follows is changed with @mutex and this, and read with one of
 *	them. Taken in any context.
 * @pkey_index: index of the P_Key that @qp itself sends with
 * @count: P_Key indices of the port; does not change
 * @tx_qps: by P_Key index; NULL where there is none
 */
struct cxib_gsi {
	struct cxib_qp *qp;
	struct cxib_port *port;
	struct work_struct pkey_work;
	struct mutex mutex; /* see above */
	bool can_tx;
	spinlock_t lock; /* see above */
	u16 pkey_index;
	unsigned int count;
	struct cxib_qp *tx_qps[];
};

static int change(struct cxib_qp *tx_qp, struct ib_qp_attr attr, int mask)
{
	return ib_modify_qp(&tx_qp->ib, &attr, mask);
}

static int get_ready(const struct cxib_gsi *gsi, struct cxib_qp *tx_qp, u16 index)
{
	const struct ib_qp_attr init = {
		.qp_state = IB_QPS_INIT, .pkey_index = index,
		.port_num = gsi->port->number, .qkey = IB_QP1_QKEY,
	};

	return change(tx_qp, init,
		      IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY) ?:
	       change(tx_qp, (struct ib_qp_attr){ .qp_state = IB_QPS_RTR }, IB_QP_STATE) ?:
	       change(tx_qp, (struct ib_qp_attr){ .qp_state = IB_QPS_RTS },
		      IB_QP_STATE | IB_QP_SQ_PSN);
}

static struct cxib_qp *create_tx_qp(const struct cxib_gsi *gsi, u16 index)
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
	};
	struct ib_qp *ib = ib_create_qp(service->pd, &init);
	int err;

	if (IS_ERR(ib))
		return ERR_CAST(ib);
	to_qp(ib)->wc_qp = service;
	err = get_ready(gsi, to_qp(ib), index);
	if (!err)
		return to_qp(ib);
	ib_destroy_qp(ib);
	return ERR_PTR(err);
}

static void set_tx_qp(struct cxib_gsi *gsi, u16 index, struct cxib_qp *tx_qp)
{
	lockdep_assert_held(&gsi->mutex);

	spin_lock_irq(&gsi->lock);
	gsi->tx_qps[index] = tx_qp;
	spin_unlock_irq(&gsi->lock);
}

static void add_tx_qp(struct cxib_gsi *gsi, u16 index)
{
	struct cxib_qp *tx_qp = create_tx_qp(gsi, index);

	if (IS_ERR(tx_qp))
		ibdev_warn_ratelimited(gsi->qp->ib.device,
				       "port %u cannot send management datagrams with P_Key index %u: error %ld\n",
				       gsi->port->number, index, PTR_ERR(tx_qp));
	else
		set_tx_qp(gsi, index, tx_qp);
}

/* One whose P_Key is not valid any more stays: another P_Key may come to its place. */
static void update_tx_qps(struct cxib_gsi *gsi)
{
	u16 pkey;
	u16 i;

	lockdep_assert_held(&gsi->mutex);

	if (!gsi->can_tx || !to_ibdev(gsi->qp->ib.device)->hw->caps.set_deth_sqpn)
		return;
	for (i = 0; i < gsi->count; i++) {
		if (cxib_query_pkey(gsi->qp->ib.device, gsi->port->number, i, &pkey))
			return;
		if (pkey && i != gsi->pkey_index && !gsi->tx_qps[i])
			add_tx_qp(gsi, i);
	}
}

static void destroy_tx_qps(struct cxib_gsi *gsi)
{
	struct cxib_qp *tx_qp;
	u16 i;

	lockdep_assert_held(&gsi->mutex);

	gsi->can_tx = false;
	for (i = 0; i < gsi->count; i++) {
		tx_qp = gsi->tx_qps[i];
		if (!tx_qp)
			continue;
		/* Nobody posts to it any more. */
		set_tx_qp(gsi, i, NULL);
		ib_destroy_qp(&tx_qp->ib);
	}
}

static void flush_tx_qps(struct cxib_gsi *gsi)
{
	u16 i;

	lockdep_assert_held(&gsi->mutex);

	gsi->can_tx = false;
	for (i = 0; i < gsi->count; i++)
		if (gsi->tx_qps[i])
			change(gsi->tx_qps[i], (struct ib_qp_attr){ .qp_state = IB_QPS_ERR },
			       IB_QP_STATE);
}

/* Who learns of a P_Key can send with it. */
static void update(struct work_struct *work)
{
	struct cxib_gsi *gsi = container_of(work, struct cxib_gsi, pkey_work);
	struct ib_event event = {
		.device = gsi->qp->ib.device,
		.element.port_num = gsi->port->number,
		.event = IB_EVENT_PKEY_CHANGE,
	};

	mutex_lock(&gsi->mutex);
	update_tx_qps(gsi);
	mutex_unlock(&gsi->mutex);
	ib_dispatch_event(&event);
}

static void set_of_port(struct cxib_port *port, struct cxib_gsi *gsi)
{
	mutex_lock(&port->lock);
	port->gsi = gsi;
	mutex_unlock(&port->lock);
}

/**
 * cxib_gsi_create() - general services can send with other P_Keys than their own
 * @qp: queue pair of the service
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM; -EINVAL when the device has no such port.
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
	INIT_WORK(&gsi->pkey_work, update);
	mutex_init(&gsi->mutex);
	spin_lock_init(&gsi->lock);
	qp->gsi = gsi;
	set_of_port(port, gsi);
	return 0;
}

/**
 * cxib_gsi_stop() - the senders go
 * @qp: queue pair of the service
 *
 * Whoever still posts is told that there are none, until cxib_gsi_destroy().
 *
 * Context: process context, may sleep.
 */
void cxib_gsi_stop(struct cxib_qp *qp)
{
	struct cxib_gsi *gsi = qp->gsi;

	if (!gsi)
		return;
	set_of_port(gsi->port, NULL);
	cancel_work_sync(&gsi->pkey_work);
	mutex_lock(&gsi->mutex);
	destroy_tx_qps(gsi);
	mutex_unlock(&gsi->mutex);
}

/**
 * cxib_gsi_destroy() - the reverse of cxib_gsi_create()
 * @qp: queue pair that nobody posts to any more; stopped
 */
void cxib_gsi_destroy(struct cxib_qp *qp)
{
	kfree(qp->gsi);
}

/**
 * cxib_gsi_modify() - senders change as the service has
 * @qp: queue pair of the service
 * @attr: what was changed
 * @mask: IB_QP_…: which of it
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
		update_tx_qps(gsi);
		break;
	case IB_QPS_ERR:
		flush_tx_qps(gsi);
		break;
	case IB_QPS_RESET:
		destroy_tx_qps(gsi);
		break;
	default:
		break;
	}
}

static bool has_stopped(struct cxib_qp *qp)
{
	struct hw_qpc context;

	return !cxib_cmd_query_qp(commands_of(to_ibdev(qp->ib.device)), 0, qp->qpn, &context) &&
	       hw_qpc_get_state(&context) == HW_QP_STATE_SQER;
}

/**
 * cxib_gsi_recover_sqe() - sends go on after one that has failed
 * @qp: queue pair of the service
 *
 * Who is told of a failure takes it for one of the service's queue pair, and
 * wants that in RTS again, but it may have been one of the senders.
 *
 * Context: process context, may sleep; without the mutex of @qp.
 * Return: whether the queue pair of the service has to be brought to RTS.
 */
bool cxib_gsi_recover_sqe(struct cxib_qp *qp)
{
	const struct ib_qp_attr attr = { .cur_qp_state = IB_QPS_SQE, .qp_state = IB_QPS_RTS };
	struct cxib_gsi *gsi = qp->gsi;
	bool resumed = false;
	u16 i;

	guard(mutex)(&gsi->mutex);
	for (i = 0; i < gsi->count; i++)
		if (gsi->tx_qps[i] && has_stopped(gsi->tx_qps[i]))
			resumed |= !change(gsi->tx_qps[i], attr,
					   IB_QP_STATE | IB_QP_CUR_STATE);
	return !resumed || has_stopped(qp);
}

/**
 * cxib_gsi_defers_pkey_event() - whether the event of new P_Keys comes later
 * @port: port whose P_Keys have changed
 *
 * Return: true when users are told as soon as general services can send with
 * them; false when there are no such services.
 */
bool cxib_gsi_defers_pkey_event(struct cxib_port *port)
{
	guard(mutex)(&port->lock);
	if (!port->gsi)
		return false;
	queue_work(system_unbound_wq, &port->gsi->pkey_work);
	return true;
}

static struct cxib_qp *find_tx_qp(const struct cxib_gsi *gsi, u16 pkey_index)
{
	lockdep_assert_held(&gsi->lock);

	return pkey_index == gsi->pkey_index ? gsi->qp : gsi->tx_qps[pkey_index];
}

static int post(struct cxib_gsi *gsi, const struct ib_ud_wr *request)
{
	const struct ib_send_wr *unused;
	struct cxib_qp *tx_qp;
	unsigned long flags;
	int err = -EAGAIN;

	if (request->pkey_index >= gsi->count)
		return -EINVAL;
	spin_lock_irqsave(&gsi->lock, flags);
	tx_qp = find_tx_qp(gsi, request->pkey_index);
	if (tx_qp)
		err = cxib_qp_post_send(tx_qp, &request->wr, &unused);
	spin_unlock_irqrestore(&gsi->lock, flags);
	return err;
}

/**
 * cxib_gsi_post_send() - sends management datagrams, each with the P_Key that it asks for
 * @qp: queue pair of the service
 * @wr: requests
 * @bad: filled: the first one that was not taken
 *
 * Return: 0; -EINVAL when the port has no such P_Key index; -EAGAIN when the
 * service cannot send with that P_Key, because it is not valid or has not been
 * for long; otherwise as cxib_build_send_wqe().
 */
int cxib_gsi_post_send(struct cxib_qp *qp, const struct ib_send_wr *wr,
		       const struct ib_send_wr **bad)
{
	int err = 0;

	for (; wr && !err; wr = wr->next) {
		struct ib_ud_wr request = *ud_wr(wr);

		request.wr.next = NULL;
		err = post(qp->gsi, &request);
		if (err)
			*bad = wr;
	}
	return err;
}
