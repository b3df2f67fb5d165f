// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Static rates of connections and datagrams. Expected: with each rate of the verbs a connection can
 * be created and transfers data, a query returns a rate that is not higher, and a datagram arrives.
 * An invalid rate is refused.
 */
#include "verbs_pair.h"

#define NO_RATE 1

static const int rates[] = {
	IBV_RATE_MAX,	   IBV_RATE_2_5_GBPS, IBV_RATE_5_GBPS,	 IBV_RATE_10_GBPS,  IBV_RATE_14_GBPS,  IBV_RATE_20_GBPS,
	IBV_RATE_25_GBPS,  IBV_RATE_28_GBPS,  IBV_RATE_30_GBPS,	 IBV_RATE_40_GBPS,  IBV_RATE_50_GBPS,  IBV_RATE_56_GBPS,
	IBV_RATE_60_GBPS,  IBV_RATE_80_GBPS,  IBV_RATE_100_GBPS, IBV_RATE_112_GBPS, IBV_RATE_120_GBPS, IBV_RATE_168_GBPS,
	IBV_RATE_200_GBPS, IBV_RATE_300_GBPS, IBV_RATE_400_GBPS, IBV_RATE_600_GBPS,
};

static int connect_at(struct end *a, struct end *b, int rate)
{
	struct ibv_qp_attr to_b = path_to(a, b), to_a = path_to(b, a);

	to_b.ah_attr.static_rate = rate;
	to_a.ah_attr.static_rate = rate;
	return connect_with(a->qp, to_b) ?: connect_with(b->qp, to_a);
}

static bool connections_work(struct end *a, struct end *b, int rate)
{
	struct ibv_qp_attr queried = {};
	struct ibv_qp_init_attr init;
	bool good = true;
	int err;

	a->qp = make_qp(a, IBV_QPT_RC);
	b->qp = make_qp(b, IBV_QPT_RC);
	err = connect_at(a, b, rate);
	if (err || transfer(a, b, IBV_WR_RDMA_WRITE, 0, 4 * PAGE)) {
		printf("rate %d: connections: %s\n", rate, err ? strerror(err) : "a write fails");
		good = false;
	}
	MUST(ibv_query_qp(a->qp, &queried, IBV_QP_AV, &init));
	if (rate && ibv_rate_to_mbps(queried.ah_attr.static_rate) > ibv_rate_to_mbps(rate)) {
		printf("rate %d (%d Mb/s): queried %d (%d Mb/s)\n", rate, ibv_rate_to_mbps(rate), queried.ah_attr.static_rate,
		       ibv_rate_to_mbps(queried.ah_attr.static_rate));
		good = false;
	}
	MUST(ibv_destroy_qp(a->qp));
	MUST(ibv_destroy_qp(b->qp));
	return good;
}

static bool datagrams_work(struct end *a, struct end *b, int rate)
{
	struct ibv_ah_attr address = { .dlid = b->attr.lid, .port_num = 1, .static_rate = rate };
	struct ibv_ah *ah = NEED(ibv_create_ah(a->pd, &address));
	struct ibv_sge sge = { .addr = (uintptr_t)a->memory, .length = 256, .lkey = a->mr->lkey };
	struct ibv_send_wr *bad, request = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .ah = ah, .remote_qpn = b->qp->qp_num, .remote_qkey = 0x11111111 },
	};
	enum ibv_wc_status status;

	MUST(post_receive(b, 0, 1024, 1));
	MUST(ibv_post_send(a->qp, &request, &bad));
	status = await(a->cq).status ?: await(b->cq).status;
	if (status)
		printf("rate %d: a datagram: status %d\n", rate, status);
	MUST(ibv_destroy_ah(ah));
	return !status;
}

int main(void)
{
	const int count = sizeof(rates) / sizeof(*rates);
	struct end a = {}, b = {}, ua = {}, ub = {};
	int i, wrong = 0;

	set_up(&a, 0, 1, 8 * PAGE, -1, IBV_QPT_RC);
	set_up(&b, 1, 1, 8 * PAGE, -1, IBV_QPT_RC);
	if (!connect_at(&a, &b, NO_RATE))
		fail("static rate %d, which is none, is accepted", NO_RATE);
	MUST(ibv_destroy_qp(a.qp));
	MUST(ibv_destroy_qp(b.qp));
	set_up(&ua, 0, 1, 8 * PAGE, -1, IBV_QPT_UD);
	set_up(&ub, 1, 1, 8 * PAGE, -1, IBV_QPT_UD);
	join(&ua, &ub);
	for (i = 0; i < count; i++)
		wrong += !connections_work(&a, &b, rates[i]) || !datagrams_work(&ua, &ub, rates[i]);
	if (wrong)
		fail("%d of %d rates are treated wrongly", wrong, count);
	pass("all rates work");
}
