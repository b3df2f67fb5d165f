// SPDX-License-Identifier: GPL-2.0-or-later
/* Queries and modifies address handles of datagrams. */
#include "single.h"

#define LENGTH		64
#define HEADER		40
/* A LID that no port has. */
#define LID_OF_NOBODY	0xbf00

static int send(struct kverbs_pair *pair, u64 wr_id)
{
	struct kverbs_end *end = &pair->ends[0];
	struct kverbs_single single;
	int err;

	kverbs_single_send(&single, end, wr_id, LENGTH);
	single.ud.ah = end->ah;
	single.ud.remote_qpn = pair->ends[1].qp->qp_num;
	single.ud.remote_qkey = KVERBS_QKEY;
	err = kverbs_post_single(pair, end, &single);
	return err ?: kverbs_await_status(pair, end->send_cq, wr_id, IB_WC_SUCCESS);
}

static int change(struct kverbs_pair *pair, struct rdma_ah_attr *attr)
{
	struct ib_ah *ah = pair->ends[0].ah;
	struct rdma_ah_attr found;
	int err;

	err = rdma_modify_ah(ah, attr);
	if (err)
		return kverbs_fail(pair->report, "an address cannot be changed: error %d", err);
	err = rdma_query_ah(ah, &found);
	if (err || rdma_ah_get_dlid(&found) != rdma_ah_get_dlid(attr) ||
	    rdma_ah_get_sl(&found) != rdma_ah_get_sl(attr))
		return kverbs_fail(pair->report, "an address is of LID %#x, service level %u (error %d) instead of %#x, %u",
				rdma_ah_get_dlid(&found), rdma_ah_get_sl(&found), err,
				rdma_ah_get_dlid(attr), rdma_ah_get_sl(attr));
	return 0;
}

/* Datagrams posted after the change must go to the new address only. */
static int change_address(struct kverbs_pair *pair)
{
	struct rdma_ah_attr attr;
	u32 lid;
	int err;

	err = rdma_query_ah(pair->ends[0].ah, &attr);
	if (err)
		return kverbs_fail(pair->report, "an address cannot be asked for: error %d", err);
	lid = rdma_ah_get_dlid(&attr);
	if (lid != pair->ends[1].lid)
		return kverbs_fail(pair->report, "an address is of LID %#x instead of %#x", lid,
				pair->ends[1].lid);
	err = kverbs_post_slot(pair, &pair->ends[1], 0, LENGTH + HEADER) ?:
	      kverbs_post_slot(pair, &pair->ends[1], 1, LENGTH + HEADER);
	rdma_ah_set_dlid(&attr, LID_OF_NOBODY);
	rdma_ah_set_sl(&attr, 1);
	err = err ?: change(pair, &attr) ?: send(pair, 1);
	rdma_ah_set_dlid(&attr, lid);
	rdma_ah_set_sl(&attr, 0);
	err = err ?: change(pair, &attr) ?: send(pair, 2);
	err = err ?: kverbs_await_status(pair, pair->ends[1].recv_cq, 0, IB_WC_SUCCESS);
	return err ?: kverbs_await_nothing(pair);
}

static int refuse_rate(struct kverbs_pair *pair)
{
	struct rdma_ah_attr attr, found;
	int err;

	err = rdma_query_ah(pair->ends[0].ah, &attr);
	if (err)
		return kverbs_fail(pair->report, "an address cannot be asked for: error %d", err);
	rdma_ah_set_static_rate(&attr, U8_MAX);
	rdma_ah_set_dlid(&attr, LID_OF_NOBODY);
	if (rdma_modify_ah(pair->ends[0].ah, &attr) != -EINVAL)
		return kverbs_fail(pair->report, "a rate that does not exist is not refused");
	if (rdma_query_ah(pair->ends[0].ah, &found) ||
	    rdma_ah_get_dlid(&found) != pair->ends[1].lid)
		return kverbs_fail(pair->report, "a change that was refused has changed the address");
	return 0;
}

static int run(struct kverbs_report *report, int (*test)(struct kverbs_pair *pair))
{
	struct kverbs_spec spec = kverbs_usual;

	spec.type = IB_QPT_UD;
	return kverbs_with_pair(report, &spec, test);
}

static int run_change(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run(report, change_address);
}

static int run_refuse(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run(report, refuse_rate);
}

const struct kverbs_case kverbs_address_cases[] = {
	{ "address_changed", run_change },
	{ "address_invalid_rate_refused", run_refuse },
	{}
};
