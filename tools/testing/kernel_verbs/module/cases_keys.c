// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory keys: permitted access, validity, and scattered memory. */
#include "single.h"

#define LENGTH	1000
#define PIECES	5

/* Executes an operation on the peer's memory. */
static int try_remote(struct kverbs_pair *pair, enum ib_wr_opcode opcode, u64 address, u32 rkey,
		      u32 length, enum ib_wc_status status)
{
	struct kverbs_end *end = &pair->ends[0];
	struct kverbs_single single;
	int err;

	kverbs_single_write(&single, end, opcode, address, rkey, length);
	single.send.opcode = opcode;
	if (opcode == IB_WR_ATOMIC_FETCH_AND_ADD) {
		single.atomic.remote_addr = address;
		single.atomic.rkey = rkey;
		single.atomic.compare_add = 1;
	}
	err = kverbs_post_single(pair, end, &single);
	return err ?: kverbs_await_status(pair, end->send_cq, opcode, status);
}

static int invalidate(struct kverbs_pair *pair, struct kverbs_end *end, struct ib_mr *mr)
{
	struct kverbs_single single = {};
	int err;

	single.send.opcode = IB_WR_LOCAL_INV;
	single.send.send_flags = IB_SEND_SIGNALED;
	single.send.ex.invalidate_rkey = mr->rkey;
	err = kverbs_post_single(pair, end, &single);
	return err ?: kverbs_await_status(pair, end->send_cq, 0, IB_WC_SUCCESS);
}

static const struct {
	enum ib_wr_opcode opcode;
	int access;
	u32 length;
} operations[] = {
	{ IB_WR_RDMA_WRITE, IB_ACCESS_REMOTE_WRITE, LENGTH },
	{ IB_WR_RDMA_READ, IB_ACCESS_REMOTE_READ, LENGTH },
	{ IB_WR_ATOMIC_FETCH_AND_ADD, IB_ACCESS_REMOTE_ATOMIC, sizeof(u64) },
};

/* Returns 0 if the operation succeeds exactly when the mkey permits it. */
static int try_access(struct kverbs_pair *pair, int access, size_t operation)
{
	const int needed = operations[operation].access;
	struct kverbs_end *peer = &pair->ends[1];
	struct ib_mr *mr = peer->exposed_key;
	int err;

	err = kverbs_register(pair, peer, mr, peer->dma + KVERBS_EXPOSED, KVERBS_AREA_SIZE,
			   access | IB_ACCESS_LOCAL_WRITE);
	if (err)
		return err;
	err = try_remote(pair, operations[operation].opcode, mr->iova, mr->rkey,
			 operations[operation].length,
			 access & needed ? IB_WC_SUCCESS : IB_WC_REM_ACCESS_ERR);
	if (err)
		return kverbs_fail(pair->report, "operation %d with a key for access 0x%x",
				operations[operation].opcode, access);
	err = kverbs_reconnect(pair);
	return err ?: invalidate(pair, peer, mr);
}

static int access_of_keys(struct kverbs_pair *pair)
{
	int access, err;
	size_t i;

	for (access = 0; access < 8; access++)
		for (i = 0; i < ARRAY_SIZE(operations); i++) {
			err = try_access(pair, (access & 1 ? IB_ACCESS_REMOTE_WRITE : 0) |
					       (access & 2 ? IB_ACCESS_REMOTE_READ : 0) |
					       (access & 4 ? IB_ACCESS_REMOTE_ATOMIC : 0), i);
			if (err)
				return err;
		}
	return 0;
}

/*
 * A key gives access to its memory only, only while it is registered, and only with its current
 * variant.
 */
static int validity_of_keys(struct kverbs_pair *pair)
{
	struct kverbs_end *peer = &pair->ends[1];
	struct ib_mr *mr = peer->exposed_key;
	const int access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	const u64 end = peer->dma + KVERBS_EXPOSED + KVERBS_AREA_SIZE;
	const struct {
		u64 address;
		u32 variant;
		enum ib_wc_status status;
	} tries[] = {
		{ end - LENGTH, 0, IB_WC_SUCCESS },
		{ end - LENGTH + 1, 0, IB_WC_REM_ACCESS_ERR },
		{ peer->dma + KVERBS_EXPOSED - 1, 0, IB_WC_REM_ACCESS_ERR },
		{ peer->dma + KVERBS_EXPOSED, 1, IB_WC_REM_ACCESS_ERR },
	};
	size_t i;
	int err;

	err = kverbs_register(pair, peer, mr, peer->dma + KVERBS_EXPOSED, KVERBS_AREA_SIZE, access);
	for (i = 0; i < ARRAY_SIZE(tries) && !err; i++) {
		err = try_remote(pair, IB_WR_RDMA_WRITE, tries[i].address,
				 mr->rkey ^ tries[i].variant, LENGTH, tries[i].status);
		if (err)
			return kverbs_fail(pair->report, "try %zu", i);
		err = kverbs_reconnect(pair);
	}
	if (!err)
		err = invalidate(pair, peer, mr);
	return err ?: try_remote(pair, IB_WR_RDMA_WRITE, peer->dma + KVERBS_EXPOSED, mr->rkey, LENGTH,
				 IB_WC_REM_ACCESS_ERR);
}

static int register_twice(struct kverbs_pair *pair)
{
	struct kverbs_end *end = &pair->ends[0];
	struct kverbs_single single = {};
	int err;

	err = kverbs_register(pair, end, end->local_key, end->dma, KVERBS_AREA_SIZE,
			   IB_ACCESS_LOCAL_WRITE);
	if (err)
		return err;
	single.send.opcode = IB_WR_REG_MR;
	single.send.wr_id = 1;
	single.send.send_flags = IB_SEND_SIGNALED;
	single.reg.mr = end->local_key;
	single.reg.key = end->local_key->rkey;
	err = kverbs_post_single(pair, end, &single);
	return err ?: kverbs_await_status(pair, end->send_cq, 1, IB_WC_MW_BIND_ERR);
}

/* Maps memory that does not consist of pages as one contiguous MR. */
static int map_pieces(struct kverbs_end *end, struct ib_mr *mr, u8 *expected, u32 *length)
{
	struct scatterlist list[PIECES];
	u32 place = KVERBS_EXPOSED, i;

	*length = 0;
	sg_init_table(list, PIECES);
	for (i = 0; i < PIECES; i++) {
		u32 piece = 100 * i + 33;

		sg_dma_address(&list[i]) = end->dma + place;
		sg_dma_len(&list[i]) = piece;
		memset(end->memory + place, 'a' + i, piece);
		memset(expected + *length, 'a' + i, piece);
		place += piece + 7 * i + 1;
		*length += piece;
	}
	i = ib_map_mr_sg(mr, list, PIECES, NULL, PAGE_SIZE);
	ib_update_fast_reg_key(mr, mr->rkey + 1);
	return i == PIECES ? 0 : -EINVAL;
}

static int read_pieces(struct kverbs_pair *pair, struct ib_mr *mr)
{
	struct kverbs_end *end = &pair->ends[0], *peer = &pair->ends[1];
	u8 *expected = end->memory + KVERBS_EXPOSED;
	struct kverbs_single single = {};
	u32 length;
	int err;

	err = map_pieces(peer, mr, expected, &length);
	if (err)
		return kverbs_fail(pair->report, "pieces cannot be mapped: error %d", err);
	single.send.opcode = IB_WR_REG_MR;
	single.send.send_flags = IB_SEND_SIGNALED;
	single.reg.mr = mr;
	single.reg.key = mr->rkey;
	single.reg.access = IB_ACCESS_REMOTE_READ;
	err = kverbs_post_single(pair, peer, &single);
	if (!err)
		err = kverbs_await_status(pair, peer->send_cq, 0, IB_WC_SUCCESS);
	if (!err)
		err = try_remote(pair, IB_WR_RDMA_READ, mr->iova, mr->rkey, length, IB_WC_SUCCESS);
	if (err)
		return err;
	kverbs_to_cpu(end);
	if (memcmp(end->memory + KVERBS_LOCAL, expected, length))
		return kverbs_fail(pair->report, "the pieces are not what was read");
	return 0;
}

static int keys_of_pieces(struct kverbs_pair *pair)
{
	struct ib_mr *mr = ib_alloc_mr(pair->ends[1].pd, IB_MR_TYPE_SG_GAPS, PIECES);
	int err;

	if (IS_ERR(mr))
		return kverbs_fail(pair->report, "no key for pieces: error %ld", PTR_ERR(mr));
	err = read_pieces(pair, mr);
	ib_dereg_mr(mr);
	return err;
}

/* The local key of a PD gives access to any memory in local SGEs. */
static int local_keys(struct kverbs_pair *pair)
{
	const struct kverbs_end *end = &pair->ends[0];
	struct ib_pd *other = ib_alloc_pd(end->device, 0);
	u32 key;

	if (IS_ERR(other))
		return kverbs_fail(pair->report, "no second domain: error %ld", PTR_ERR(other));
	key = other->local_dma_lkey;
	ib_dealloc_pd(other);
	if (key != end->pd->local_dma_lkey)
		return kverbs_fail(pair->report, "domains have local keys of their own");
	return 0;
}

static int run_local(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, local_keys);
}

static int run_access(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, access_of_keys);
}

static int run_validity(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, validity_of_keys);
}

static int run_twice(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, register_twice);
}

static int run_pieces(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, keys_of_pieces);
}

const struct kverbs_case kverbs_key_cases[] = {
	{ "local_key_shared", run_local },
	{ "key_access", run_access },
	{ "key_validity", run_validity },
	{ "key_registered_twice", run_twice },
	{ "key_of_several_sges", run_pieces },
	{}
};
