// SPDX-License-Identifier: GPL-2.0-or-later
/* Random WRs, and their effect on the model. */
#include "traffic.h"

/* Any port's MTU permits this datagram size. */
#define DATAGRAM_MAX	2048
/* At least one of so many WRs is signaled. */
#define SIGNALLED_EVERY	8

/* Completion opcode of each WR opcode. */
const enum ib_wc_opcode kverbs_completions[KVERBS_OPCODES] = {
	[IB_WR_RDMA_WRITE] = IB_WC_RDMA_WRITE,
	[IB_WR_RDMA_WRITE_WITH_IMM] = IB_WC_RDMA_WRITE,
	[IB_WR_SEND] = IB_WC_SEND,
	[IB_WR_SEND_WITH_IMM] = IB_WC_SEND,
	[IB_WR_RDMA_READ] = IB_WC_RDMA_READ,
	[IB_WR_ATOMIC_CMP_AND_SWP] = IB_WC_COMP_SWAP,
	[IB_WR_ATOMIC_FETCH_AND_ADD] = IB_WC_FETCH_ADD,
	[IB_WR_SEND_WITH_INV] = IB_WC_SEND,
	[IB_WR_LOCAL_INV] = IB_WC_LOCAL_INV,
	[IB_WR_MASKED_ATOMIC_CMP_AND_SWP] = IB_WC_MASKED_COMP_SWAP,
	[IB_WR_MASKED_ATOMIC_FETCH_AND_ADD] = IB_WC_MASKED_FETCH_ADD,
	[IB_WR_REG_MR] = IB_WC_REG_MR,
};

/**
 * kverbs_random() - returns a random number
 * @traffic: owner of the random number state
 * @below: upper limit, exclusive and not 0
 */
u32 kverbs_random(struct kverbs_traffic *traffic, u32 below)
{
	return prandom_u32_state(&traffic->random) % below;
}

static u64 random64(struct kverbs_traffic *traffic)
{
	return (u64)prandom_u32_state(&traffic->random) << 32 |
	       prandom_u32_state(&traffic->random);
}

static void note_range(struct kverbs_ranges *ranges, u32 from, u32 length)
{
	ranges->pieces[ranges->count].from = from;
	ranges->pieces[ranges->count++].to = from + length;
}

static bool overlaps(const struct kverbs_ranges *ranges, u32 from, u32 length)
{
	unsigned int i;

	for (i = 0; i < ranges->count; i++)
		if (from < ranges->pieces[i].to && ranges->pieces[i].from < from + length)
			return true;
	return false;
}

/* Makes the WR wait for all earlier READs and atomic operations. */
static void fence(struct kverbs_flow *flow, struct kverbs_request *request)
{
	request->send.send_flags |= IB_SEND_FENCE;
	flow->brought.count = 0;
	flow->fetched.count = 0;
}

static u32 choose_length(struct kverbs_flow *flow, u32 max_length)
{
	struct kverbs_traffic *traffic = flow->traffic;

	if (!kverbs_random(traffic, 8))
		return 0;
	if (!kverbs_random(traffic, 3))
		return min(kverbs_random(traffic, 128), max_length);
	return kverbs_random(traffic, max_length + 1);
}

static u32 local_key(struct kverbs_flow *flow)
{
	if (flow->has_local_key && kverbs_random(flow->traffic, 2))
		return flow->from->local_key->lkey;
	return flow->from->pd->local_dma_lkey;
}

/* Each SGE lies in its own part of the local area. */
static void choose_segments(struct kverbs_flow *flow, struct kverbs_request *request, u32 length)
{
	const u32 count = 1 + kverbs_random(flow->traffic, flow->traffic->pair.spec.max_sge);
	const u32 part = KVERBS_AREA_SIZE / count;
	u32 i;

	request->send.sg_list = request->sges;
	request->send.num_sge = count;
	for (i = 0; i < count; i++) {
		u32 piece = i == count - 1 ? length : kverbs_random(flow->traffic, length + 1);

		request->sges[i] = (struct ib_sge){
			.addr = i * part + kverbs_random(flow->traffic, part - piece),
			.length = piece,
			.lkey = local_key(flow),
		};
		length -= piece;
	}
}

/*
 * Converts offsets in the local area to addresses: virtual addresses for inline data, else DMA
 * addresses.
 */
static void address_segments(struct kverbs_flow *flow, struct kverbs_request *request)
{
	u8 *data = request->data;
	int i;

	for (i = 0; i < request->send.num_sge; i++) {
		struct ib_sge *sge = &request->sges[i];

		if (request->send.send_flags & IB_SEND_INLINE) {
			memcpy(data, flow->own + KVERBS_LOCAL + sge->addr, sge->length);
			sge->addr = (uintptr_t)data;
			data += sge->length;
		} else {
			sge->addr += flow->from->dma + KVERBS_LOCAL;
		}
	}
}

static void wait_for_sources(struct kverbs_flow *flow, struct kverbs_request *request)
{
	int i;

	for (i = 0; i < request->send.num_sge; i++)
		if (overlaps(&flow->brought, request->sges[i].addr, request->sges[i].length))
			return fence(flow, request);
}

static void gather(struct kverbs_flow *flow, const struct kverbs_request *request, u8 *to)
{
	int i;

	for (i = 0; i < request->send.num_sge; i++) {
		memcpy(to, flow->own + KVERBS_LOCAL + request->sges[i].addr,
		       request->sges[i].length);
		to += request->sges[i].length;
	}
}

static u32 remote_key(struct kverbs_flow *flow)
{
	if (flow->to->exposed_key)
		return flow->to->exposed_key->rkey;
	return flow->to->pd->unsafe_global_rkey;
}

static u64 remote_address(struct kverbs_flow *flow, u32 place)
{
	return flow->to->dma + KVERBS_EXPOSED + place;
}

static void maybe_inline(struct kverbs_flow *flow, struct kverbs_request *request, u32 length)
{
	if (length > flow->traffic->pair.spec.max_inline || !kverbs_random(flow->traffic, 4))
		return;
	request->send.send_flags |= IB_SEND_INLINE;
}

static struct kverbs_message *next_message(struct kverbs_flow *flow, struct kverbs_request *request,
					enum ib_wc_opcode opcode)
{
	struct kverbs_message *message = &flow->messages[flow->sent++ % KVERBS_SLOTS];

	message->opcode = opcode;
	message->flags = 0;
	message->has_data = opcode == IB_WC_RECV;
	if (request->send.opcode == IB_WR_SEND_WITH_INV) {
		message->flags = IB_WC_WITH_INVALIDATE;
		message->word = request->send.ex.invalidate_rkey;
	} else if (request->send.opcode != IB_WR_SEND) {
		message->flags = IB_WC_WITH_IMM;
		message->word = prandom_u32_state(&flow->traffic->random);
		request->send.ex.imm_data = cpu_to_be32(message->word);
	}
	return message;
}

static void build_send(struct kverbs_flow *flow, struct kverbs_request *request)
{
	const bool is_datagram = flow->traffic->pair.spec.type == IB_QPT_UD;
	u32 length = choose_length(flow, is_datagram ? DATAGRAM_MAX : KVERBS_SLOT_SIZE);
	struct kverbs_message *message = next_message(flow, request, IB_WC_RECV);

	if (is_datagram) {
		request->ud.ah = flow->from->ah;
		request->ud.remote_qpn = flow->to->qp->qp_num;
		request->ud.remote_qkey = KVERBS_QKEY;
	}
	choose_segments(flow, request, length);
	wait_for_sources(flow, request);
	message->length = length;
	gather(flow, request, message->data);
	maybe_inline(flow, request, length);
	address_segments(flow, request);
}

static void build_write(struct kverbs_flow *flow, struct kverbs_request *request)
{
	u32 length = choose_length(flow, KVERBS_SLOT_SIZE);
	u32 place = kverbs_random(flow->traffic, KVERBS_AREA_SIZE - length);

	if (request->send.opcode == IB_WR_RDMA_WRITE_WITH_IMM)
		next_message(flow, request, IB_WC_RECV_RDMA_WITH_IMM)->length = length;
	choose_segments(flow, request, length);
	wait_for_sources(flow, request);
	if (overlaps(&flow->fetched, place, length))
		fence(flow, request);
	request->rdma.remote_addr = remote_address(flow, place);
	request->rdma.rkey = remote_key(flow);
	gather(flow, request, flow->remote + KVERBS_EXPOSED + place);
	maybe_inline(flow, request, length);
	address_segments(flow, request);
}

static void build_read(struct kverbs_flow *flow, struct kverbs_request *request)
{
	u32 length = choose_length(flow, KVERBS_SLOT_SIZE);
	u32 place = kverbs_random(flow->traffic, KVERBS_AREA_SIZE - length);
	const u8 *from = flow->remote + KVERBS_EXPOSED + place;
	int i;

	choose_segments(flow, request, length);
	request->rdma.remote_addr = remote_address(flow, place);
	request->rdma.rkey = remote_key(flow);
	note_range(&flow->fetched, place, length);
	for (i = 0; i < request->send.num_sge; i++) {
		const struct ib_sge *sge = &request->sges[i];

		note_range(&flow->brought, sge->addr, sge->length);
		memcpy(flow->own + KVERBS_LOCAL + sge->addr, from, sge->length);
		from += sge->length;
	}
	address_segments(flow, request);
}

/* Adds field by field: no carry leaves a field, whose highest bit is set in @ends. */
static u64 add_fields(u64 one, u64 other, u64 ends)
{
	return ((one & ~ends) + (other & ~ends)) ^ ((one ^ other) & ends);
}

static u64 atomic_result(u64 old, const struct ib_atomic_wr *wr)
{
	switch (wr->wr.opcode) {
	case IB_WR_ATOMIC_CMP_AND_SWP:
		return old == wr->compare_add ? wr->swap : old;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return old + wr->compare_add;
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
		if ((old ^ wr->compare_add) & wr->compare_add_mask)
			return old;
		return (old & ~wr->swap_mask) | (wr->swap & wr->swap_mask);
	default:
		return add_fields(old, wr->compare_add, wr->compare_add_mask);
	}
}

/* Half of the compare operands match. */
static void choose_operands(struct kverbs_flow *flow, struct kverbs_request *request, u64 old)
{
	struct kverbs_traffic *traffic = flow->traffic;

	request->atomic.swap = random64(traffic);
	request->atomic.swap_mask = random64(traffic);
	request->atomic.compare_add = random64(traffic);
	request->atomic.compare_add_mask = random64(traffic);
	if (request->send.opcode != IB_WR_ATOMIC_FETCH_AND_ADD &&
	    request->send.opcode != IB_WR_MASKED_ATOMIC_FETCH_AND_ADD && kverbs_random(traffic, 2))
		request->atomic.compare_add = old;
}

static void build_atomic(struct kverbs_flow *flow, struct kverbs_request *request)
{
	u32 place = kverbs_random(flow->traffic, KVERBS_AREA_SIZE / sizeof(u64)) * sizeof(u64);
	u32 result = kverbs_random(flow->traffic, KVERBS_AREA_SIZE / sizeof(u64)) * sizeof(u64);
	u64 *remote = (u64 *)(flow->remote + KVERBS_EXPOSED + place);

	choose_operands(flow, request, *remote);
	if (overlaps(&flow->fetched, place, sizeof(u64)))
		fence(flow, request);
	request->atomic.remote_addr = remote_address(flow, place);
	request->atomic.rkey = remote_key(flow);
	request->sges[0] = (struct ib_sge){ result, sizeof(u64), local_key(flow) };
	request->send.sg_list = request->sges;
	request->send.num_sge = 1;
	note_range(&flow->brought, result, sizeof(u64));
	*(u64 *)(flow->own + KVERBS_LOCAL + result) = *remote;
	*remote = atomic_result(*remote, &request->atomic);
	address_segments(flow, request);
}

static void number(struct kverbs_flow *flow, struct kverbs_request *request)
{
	request->send.wr_id = flow->posted++;
}

/* Adds the WR's completion to the expected ones. */
static void signal(struct kverbs_flow *flow, struct kverbs_request *request)
{
	request->send.send_flags |= IB_SEND_SIGNALED;
	flow->expected[flow->expected_posted++ % KVERBS_EXPECTED] = (struct kverbs_completion){
		.number = request->send.wr_id,
		.opcode = kverbs_completions[request->send.opcode],
	};
}

static bool takes_receive(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_SEND || opcode == IB_WR_SEND_WITH_IMM ||
	       opcode == IB_WR_SEND_WITH_INV || opcode == IB_WR_RDMA_WRITE_WITH_IMM;
}

/* Returns false if no WR can be posted now. */
static bool choose_operation(struct kverbs_flow *flow, enum ib_wr_opcode *opcode)
{
	const bool can_receive = flow->receives > flow->sent;
	u64 possible = flow->traffic->operations;
	u32 chosen;

	if (flow->posted - flow->done >= flow->traffic->pair.spec.max_wr)
		return false;
	for (chosen = 0; chosen < KVERBS_OPCODES; chosen++)
		if (!can_receive && takes_receive(chosen))
			possible &= ~BIT_ULL(chosen);
	if (!possible)
		return false;
	do
		chosen = kverbs_random(flow->traffic, KVERBS_OPCODES);
	while (!(possible & BIT_ULL(chosen)));
	*opcode = chosen;
	return true;
}

static void build(struct kverbs_flow *flow, struct kverbs_request *request)
{
	bool is_full = flow->brought.count + KVERBS_SGE_MAX > KVERBS_RANGES_MAX;

	if (is_full || !kverbs_random(flow->traffic, 16))
		fence(flow, request);
	if (!kverbs_random(flow->traffic, 4))
		request->send.send_flags |= IB_SEND_SOLICITED;
	switch (request->send.opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		return build_send(flow, request);
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return build_write(flow, request);
	case IB_WR_RDMA_READ:
		return build_read(flow, request);
	default:
		return build_atomic(flow, request);
	}
}

static int post(struct kverbs_flow *flow, struct kverbs_request *requests)
{
	const struct ib_send_wr *bad;
	int err;

	err = ib_post_send(flow->from->qp, &requests[0].send, &bad);
	if (!err)
		return 0;
	return kverbs_fail(flow->traffic->pair.report, "request %llu (opcode %d) is refused with error %d",
			bad->wr_id, bad->opcode, err);
}

/**
 * kverbs_post_list() - posts a random list of WRs
 * @flow: direction; nothing is posted if its queues are full
 *
 * Return: 0, or an error after kverbs_fail().
 */
int kverbs_post_list(struct kverbs_flow *flow)
{
	struct kverbs_request *requests = flow->requests;
	u32 count = 1 + kverbs_random(flow->traffic, KVERBS_LIST_MAX);
	enum ib_wr_opcode opcode;
	u32 i;

	memset(requests, 0, sizeof(flow->requests));
	for (i = 0; i < count && choose_operation(flow, &opcode); i++) {
		requests[i].send.opcode = opcode;
		if (i)
			requests[i - 1].send.next = &requests[i].send;
		build(flow, &requests[i]);
		number(flow, &requests[i]);
		if (!kverbs_random(flow->traffic, 3) || !(flow->posted % SIGNALLED_EVERY))
			signal(flow, &requests[i]);
	}
	if (!i)
		return 0;
	/*
	 * The last WR of a shortened list is signaled, so that all WRs have completed when all
	 * completions have arrived.
	 */
	if (!(requests[i - 1].send.send_flags & IB_SEND_SIGNALED))
		signal(flow, &requests[i - 1]);
	return post(flow, requests);
}

/**
 * kverbs_post_key() - posts a WR that changes an mkey
 * @flow: direction
 * @opcode: IB_WR_REG_MR, IB_WR_LOCAL_INV or IB_WR_SEND_WITH_INV
 * @mr: owner of the mkey; the peer's for IB_WR_SEND_WITH_INV
 *
 * Return: 0, or an error after kverbs_fail().
 */
int kverbs_post_key(struct kverbs_flow *flow, enum ib_wr_opcode opcode, struct ib_mr *mr)
{
	struct kverbs_request *request = &flow->requests[0];

	memset(request, 0, sizeof(*request));
	request->send.opcode = opcode;
	request->send.ex.invalidate_rkey = mr->rkey;
	if (opcode == IB_WR_REG_MR) {
		request->reg.mr = mr;
		request->reg.key = mr->rkey;
		request->reg.access = flow->traffic->pair.spec.access;
	} else if (opcode == IB_WR_SEND_WITH_INV) {
		build_send(flow, request);
	}
	number(flow, request);
	signal(flow, request);
	return post(flow, request);
}

/* Builds a receive WR for a slot, with several SGEs. */
static void build_receive(struct kverbs_flow *flow, struct ib_sge *sges, struct ib_recv_wr *wr)
{
	u32 count = 1 + kverbs_random(flow->traffic, flow->traffic->pair.spec.max_sge);
	u32 slot = flow->receives++ % KVERBS_SLOTS;
	u32 used = 0, i;

	*wr = (struct ib_recv_wr){ .wr_id = slot, .sg_list = sges, .num_sge = count };
	for (i = 0; i < count; i++) {
		u32 left = KVERBS_SLOT_SIZE - used;
		u32 length = i == count - 1 ? left : kverbs_random(flow->traffic, left);

		sges[i] = (struct ib_sge){
			.addr = flow->to->dma + KVERBS_RECEIVES + slot * KVERBS_SLOT_SIZE + used,
			.length = length,
			.lkey = flow->to->pd->local_dma_lkey,
		};
		used += length;
	}
}

/**
 * kverbs_fill_receives() - posts receive WRs until all slots are in use
 * @flow: direction
 *
 * Return: 0, or an error after kverbs_fail().
 */
int kverbs_fill_receives(struct kverbs_flow *flow)
{
	struct ib_sge sges[KVERBS_LIST_MAX][KVERBS_SGE_MAX];
	struct ib_recv_wr list[KVERBS_LIST_MAX];
	const struct ib_recv_wr *bad;
	u32 count, i;
	int err;

	for (;;) {
		count = min_t(u64, 1 + kverbs_random(flow->traffic, KVERBS_LIST_MAX),
			      KVERBS_SLOTS - (flow->receives - flow->received));
		if (!count)
			return 0;
		for (i = 0; i < count; i++) {
			build_receive(flow, sges[i], &list[i]);
			if (i)
				list[i - 1].next = &list[i];
		}
		err = kverbs_post_receive(flow->to, list, &bad);
		if (err)
			return kverbs_fail(flow->traffic->pair.report, "a receive request is refused with error %d", err);
	}
}
