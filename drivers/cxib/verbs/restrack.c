// SPDX-License-Identifier: GPL-2.0-only
/* Driver attributes of 'rdma resource show -dd'. */
#include <kunit/visibility.h>
#include <net/netlink.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>

#include "verbs/odp/odp.h"
#include "verbs/qp/pipelining.h"
#include "verbs/xrc/opener.h"

struct restrack_detail {
	const char *name;
	u32 value;
};

static int restrack_put(struct sk_buff *message, const struct restrack_detail *details,
			size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (rdma_nl_put_driver_u32(message, details[i].name, details[i].value))
			return -EMSGSIZE;
	return 0;
}

static int restrack_put_polling(struct sk_buff *message, struct cxib_cq *cq)
{
	const struct cxib_poll_interface *polling = to_ibdev(cq->ib.device)->polling;

	return polling && !cq->is_user ? polling->fill_res_cq(message, cq) : 0;
}

/* @err: error of the attributes put since nla_nest_start() */
static int restrack_end_table(struct sk_buff *message, struct nlattr *table, int err)
{
	if (err)
		nla_nest_cancel(message, table);
	else
		nla_nest_end(message, table);
	return err;
}

int cxib_fill_res_cq_entry(struct sk_buff *message, struct ib_cq *ib)
{
	struct nlattr *table = nla_nest_start(message, RDMA_NLDEV_ATTR_DRIVER);
	struct cxib_cq *cq = to_cq(ib);
	const struct restrack_detail details[] = {
		{ "number", cq->cqn },
		{ "entries", BIT(cq->log_size) },
		{ "consumer", READ_ONCE(cq->cons_index) },
		{ "events", READ_ONCE(cq->arming.num_events) },
		{ "late_events", READ_ONCE(cq->arming.num_late) },
		{ "eqn", cq->eq->eqn },
	};
	int err;

	if (!table)
		return -EMSGSIZE;
	err = restrack_put(message, details, ARRAY_SIZE(details));
	if (!err)
		err = restrack_put_polling(message, cq);
	return restrack_end_table(message, table, err);
}

static int restrack_put_handles(struct sk_buff *message, struct ib_qp *ib)
{
	const struct cxib_xrc_handles handles = cxib_xrc_count_handles(ib);
	const struct restrack_detail details[] = {
		{ "registrations", handles.num_registrations },
		{ "openers", handles.num_openers },
	};

	return restrack_put(message, details, ARRAY_SIZE(details));
}

static int restrack_put_stops(struct sk_buff *message, const struct cxib_pipelining *pipelining)
{
	const struct restrack_detail details[] = {
		{ "signature_stops", pipelining->stops },
		{ "signature_cancelled", READ_ONCE(pipelining->cancelled) },
		{ "signature_spurious_events", pipelining->spurious },
	};

	return restrack_put(message, details, ARRAY_SIZE(details));
}

/*
 * Older kernels list a QP while it is being destroyed, so the mutex of the QP protects the pointer.
 */
static int restrack_put_pipelining(struct sk_buff *message, struct cxib_qp *qp)
{
	guard(mutex)(&qp->mutex);
	return qp->pipelining ? restrack_put_stops(message, qp->pipelining) : 0;
}

int cxib_fill_res_qp_entry(struct sk_buff *message, struct ib_qp *ib)
{
	struct nlattr *table = nla_nest_start(message, RDMA_NLDEV_ATTR_DRIVER);
	struct cxib_qp *qp = to_qp(ib);
	const struct restrack_detail details[] = {
		{ "number", qp->qpn },
		{ "send_blocks", qp->has_sq ? BIT(qp->sq.log_size) : 0 },
		{ "send_produced", READ_ONCE(qp->sq.prod_index) },
		{ "send_consumed", READ_ONCE(qp->sq.cons_index) },
		{ "receive_requests", qp->has_rq ? BIT(qp->rq.log_size) : 0 },
		{ "receive_produced", READ_ONCE(qp->rq.prod_index) },
		{ "receive_consumed", READ_ONCE(qp->rq.cons_index) },
	};
	int err;

	if (!table)
		return -EMSGSIZE;
	err = restrack_put(message, details, ARRAY_SIZE(details));
	if (!err && ib->qp_type == IB_QPT_XRC_TGT)
		err = restrack_put_handles(message, ib);
	return restrack_end_table(message, table, err ?: restrack_put_pipelining(message, qp));
}

/* Counters of an ODP MR in 'rdma statistic show mr'. */
int cxib_fill_stat_mr_entry(struct sk_buff *message, struct ib_mr *ib)
{
	struct cxib_odp_mr *odp_mr;
	struct nlattr *table;

	if (ib->type == IB_MR_TYPE_INTEGRITY || !to_mr(ib)->is_odp)
		return 0;
	odp_mr = to_odp_mr(ib);
	table = nla_nest_start(message, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	if (!table)
		return -EMSGSIZE;
	if (rdma_nl_stat_hwcounter_entry(message, "page_faults", atomic64_read(&odp_mr->faults)) ||
	    rdma_nl_stat_hwcounter_entry(message, "page_invalidations",
					 atomic64_read(&odp_mr->invalidations)) ||
	    rdma_nl_stat_hwcounter_entry(message, "page_prefetch",
					 atomic64_read(&odp_mr->prefetches))) {
		nla_nest_cancel(message, table);
		return -EMSGSIZE;
	}
	nla_nest_end(message, table);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_fill_stat_mr_entry);
