// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Signature pipelining: a small target that posts its response together with the data. The second
 * end is the target: it writes blocks with protection information in its memory to the first end,
 * the client, which sees plain data, and then sends its response. A response says whether the
 * blocks were right; one that says so of a wrong block is the fault that must never happen.
 */
#include <cxib/signature_pipelining.h>
#include <linux/delay.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include "protection.h"
#include "single.h"

#define BLOCK		512
#define BLOCKS		2
#define DATA_BYTES	(BLOCKS * BLOCK)
#define METADATA_BYTES	(BLOCKS * KVERBS_DIF_SIZE)
#define APPLICATION_TAG	0x1234

#define DEPTH_MAX	8
#define MRS_MAX		2
/* Send WRs of a command: an invalidation, a registration and a write of each MR, two responses, a read. */
#define WRS(mrs)	(3 * (mrs) + 3)

/* Where the memory of an MR lies in the exposed area of the target: data, metadata, the response. */
#define STRIDE		SZ_2K
#define METADATA_PLACE	DATA_BYTES
#define RESPONSE_PLACE	(DATA_BYTES + SZ_256)
#define READ_PLACE	(KVERBS_EXPOSED + KVERBS_AREA_SIZE - BLOCK)

/**
 * struct response - what the target sends
 * @number: of the command
 * @slot: of the command
 * @good: all blocks were right
 * @mr: the one with an error
 * @expected: value of the error
 * @actual: value of the error
 */
struct response {
	u32 number;
	u32 slot;
	u32 good;
	u32 mr;
	u32 expected;
	u32 actual;
};

/**
 * struct slot - a command
 * @number: of the command
 * @cqe: of the response that follows the data
 * @error_cqe: of the response after an error
 * @busy: between start and both ends
 * @posted: the first response was posted and has not completed
 * @error_posted: the second one
 * @answered: the client has received a response
 * @mrs: MRs
 * @registered: they are
 * @bad: block of the MR that is wrong; -1: none
 * @data: what the client has to see, unless a block is wrong
 * @guard: right guard of the wrong block, and the one in memory
 */
struct slot {
	u32 number;
	struct ib_cqe cqe;
	struct ib_cqe error_cqe;
	bool busy;
	bool posted;
	bool error_posted;
	bool answered;
	struct ib_mr *mrs[MRS_MAX];
	bool registered[MRS_MAX];
	int bad[MRS_MAX];
	u8 data[MRS_MAX][DATA_BYTES];
	u16 guard[MRS_MAX][2];
};

/**
 * struct wanted - what a target is like
 * @manual: the policy
 * @depth: commands at a time
 * @num_mrs: MRs of a command
 * @bad_chance: percentage of MRs with a wrong block
 * @reads: RDMA READs between the commands
 * @may_die: the connection ends now and then, by the target or by the device, and a new one begins
 * @bad_every: instead of @bad_chance: so many commands are one with a wrong block; 0: none
 * @seed: of the random numbers
 */
struct wanted {
	bool manual;
	u32 depth;
	u32 num_mrs;
	u32 bad_chance;
	bool reads;
	bool may_die;
	u32 bad_every;
	u64 seed;
};

/**
 * struct target - the target and its client
 * @pair: two ends
 * @table: functions of the target's device
 * @manual: as in struct wanted
 * @depth: as in struct wanted
 * @num_mrs: as in struct wanted
 * @bad_chance: as in struct wanted
 * @reads: as in struct wanted
 * @may_die: as in struct wanted
 * @bad_every: as in struct wanted
 * @dead: the connection has ended
 * @slots: commands
 * @read_cqe: of these READs
 * @reads_posted: those that have not completed
 * @random: random numbers
 * @started: number of commands
 * @good: number of good responses
 * @cancelled: number of responses that were cancelled
 */
struct target {
	struct kverbs_pair *pair;
	const struct cxib_signature_pipelining *table;
	bool manual;
	u32 depth;
	u32 num_mrs;
	u32 bad_chance;
	bool reads;
	bool may_die;
	u32 bad_every;
	bool dead;
	struct slot slots[DEPTH_MAX];
	struct ib_cqe read_cqe;
	u32 reads_posted;
	struct rnd_state random;
	u32 started;
	u32 good;
	u32 cancelled;
};

/* The WRs of a command, in their order. */
struct chain {
	struct kverbs_single wrs[WRS(MRS_MAX)];
	u32 count;
};

static u32 below(struct target *target, u32 count)
{
	return prandom_u32_state(&target->random) % count;
}

static struct kverbs_end *target_end(struct target *target)
{
	return &target->pair->ends[1];
}

static struct kverbs_end *client_end(struct target *target)
{
	return &target->pair->ends[0];
}

static u32 place_of(const struct target *target, const struct slot *slot, u32 mr)
{
	return ((slot - target->slots) * MRS_MAX + mr) * STRIDE;
}

static u8 *memory_of(struct target *target, const struct slot *slot, u32 mr)
{
	return target_end(target)->memory + KVERBS_EXPOSED + place_of(target, slot, mr);
}

static u64 dma_of(struct target *target, const struct slot *slot, u32 mr)
{
	return target_end(target)->dma + KVERBS_EXPOSED + place_of(target, slot, mr);
}

static struct kverbs_tags tags_of(const struct slot *slot)
{
	return (struct kverbs_tags){ APPLICATION_TAG, slot->number * BLOCKS };
}

/* A bit of the data of one block is wrong, or none. */
static void fill_blocks(struct target *target, struct slot *slot, u32 mr, int bad)
{
	u8 *memory = memory_of(target, slot, mr);
	const struct kverbs_tags tags = tags_of(slot);
	u32 i;

	prandom_bytes_state(&target->random, memory, DATA_BYTES);
	for (i = 0; i < BLOCKS; i++)
		kverbs_protect(memory + METADATA_PLACE + i * KVERBS_DIF_SIZE, KVERBS_GUARD_CRC, &tags, i,
			       memory + i * BLOCK, BLOCK);
	memcpy(slot->data[mr], memory, DATA_BYTES);
	slot->bad[mr] = bad;
	if (bad < 0)
		return;
	slot->guard[mr][1] = kverbs_guard_of(KVERBS_GUARD_CRC, memory + bad * BLOCK, BLOCK);
	memory[bad * BLOCK + below(target, BLOCK)] ^= 1 << below(target, 8);
	slot->guard[mr][0] = kverbs_guard_of(KVERBS_GUARD_CRC, memory + bad * BLOCK, BLOCK);
}

static void describe_signature(struct ib_mr *mr, const struct slot *slot)
{
	struct ib_sig_attrs *attrs = mr->sig_attrs;

	attrs->check_mask = IB_SIG_CHECK_GUARD | IB_SIG_CHECK_APPTAG | IB_SIG_CHECK_REFTAG;
	attrs->wire = (struct ib_sig_domain){ .sig_type = IB_SIG_TYPE_NONE };
	attrs->mem = (struct ib_sig_domain){
		.sig_type = IB_SIG_TYPE_T10_DIF,
		.sig.dif = {
			.bg_type = IB_T10DIF_CRC,
			.pi_interval = BLOCK,
			.app_tag = APPLICATION_TAG,
			.ref_tag = tags_of(slot).reference,
			.ref_remap = true,
			.apptag_check_mask = 0xffff,
		},
	};
}

/* In pieces, so that the registration takes one more WQE, or at a stretch. */
static int map_mr(struct target *target, struct slot *slot, u32 mr)
{
	const u64 dma = dma_of(target, slot, mr);
	struct scatterlist data[2], metadata;
	u32 first = below(target, 2) ? DATA_BYTES : 100;
	int err;

	describe_signature(slot->mrs[mr], slot);
	sg_init_table(data, ARRAY_SIZE(data));
	sg_dma_address(&data[0]) = dma;
	sg_dma_len(&data[0]) = first;
	sg_dma_address(&data[1]) = dma + first;
	sg_dma_len(&data[1]) = DATA_BYTES - first;
	sg_init_table(&metadata, 1);
	sg_dma_address(&metadata) = dma + METADATA_PLACE;
	sg_dma_len(&metadata) = METADATA_BYTES;
	err = ib_map_mr_sg_pi(slot->mrs[mr], data, first == DATA_BYTES ? 1 : 2, NULL, &metadata, 1, NULL,
			      SZ_4K);
	if (err)
		return kverbs_fail(target->pair->report, "an MR cannot be mapped: error %d", err);
	ib_update_fast_reg_key(slot->mrs[mr], ib_inc_rkey(slot->mrs[mr]->rkey));
	return 0;
}

static struct kverbs_single *append(struct chain *chain)
{
	struct kverbs_single *single = &chain->wrs[chain->count];

	if (chain->count++)
		chain->wrs[chain->count - 2].send.next = &single->send;
	return single;
}

static int append_transfer(struct target *target, struct chain *chain, struct slot *slot, u32 mr)
{
	struct kverbs_end *client = client_end(target);
	struct kverbs_single *single;
	u32 old_key = slot->mrs[mr]->rkey;
	int err;

	err = map_mr(target, slot, mr);
	if (err)
		return err;
	if (slot->registered[mr]) {
		single = append(chain);
		single->send.opcode = IB_WR_LOCAL_INV;
		single->send.ex.invalidate_rkey = old_key;
	}
	single = append(chain);
	single->send.opcode = IB_WR_REG_MR_INTEGRITY;
	single->reg.mr = slot->mrs[mr];
	single->reg.key = slot->mrs[mr]->rkey;
	single->reg.access = IB_ACCESS_LOCAL_WRITE;
	slot->registered[mr] = true;
	single = append(chain);
	single->send.opcode = IB_WR_RDMA_WRITE;
	single->send.sg_list = &single->sge;
	single->send.num_sge = 1;
	single->sge = (struct ib_sge){ slot->mrs[mr]->iova, DATA_BYTES, slot->mrs[mr]->lkey };
	single->rdma.remote_addr = client->dma + KVERBS_LOCAL + place_of(target, slot, mr);
	single->rdma.rkey = client->pd->unsafe_global_rkey;
	return 0;
}

static void append_response(struct target *target, struct chain *chain, struct slot *slot,
			    const struct response *response, struct ib_cqe *cqe, int flags)
{
	struct kverbs_end *end = target_end(target);
	struct kverbs_single *single = append(chain);
	/* The first response may still be read by the device when the second one is made. */
	u32 place = RESPONSE_PLACE + (response->good ? 0 : sizeof(*response));

	memcpy(memory_of(target, slot, 0) + place, response, sizeof(*response));
	single->send.opcode = IB_WR_SEND;
	single->send.wr_cqe = cqe;
	single->send.send_flags = IB_SEND_SIGNALED | flags;
	single->send.sg_list = &single->sge;
	single->send.num_sge = 1;
	single->sge = (struct ib_sge){ dma_of(target, slot, 0) + place, sizeof(*response),
				       end->pd->local_dma_lkey };
}

/* As an ULP does: only between commands. */
static void append_read(struct target *target, struct chain *chain)
{
	struct kverbs_end *end = target_end(target), *client = client_end(target);
	struct kverbs_single *single = append(chain);

	single->send.opcode = IB_WR_RDMA_READ;
	single->send.wr_cqe = &target->read_cqe;
	single->send.send_flags = IB_SEND_SIGNALED;
	single->send.sg_list = &single->sge;
	single->send.num_sge = 1;
	single->sge = (struct ib_sge){ end->dma + READ_PLACE, BLOCK, end->pd->local_dma_lkey };
	single->rdma.remote_addr = client->dma + KVERBS_EXPOSED;
	single->rdma.rkey = client->pd->unsafe_global_rkey;
	target->reads_posted++;
}

static int post_chain(struct target *target, struct chain *chain)
{
	kverbs_to_device(target_end(target));
	return kverbs_post_single(target->pair, target_end(target), &chain->wrs[0]);
}

/* Returns the block that is wrong, or -1. */
static int choose_bad(struct target *target, const struct slot *slot)
{
	if (target->bad_every)
		return slot->number % target->bad_every == target->bad_every - 1 ? 0 : -1;
	return below(target, 100) < target->bad_chance ? below(target, BLOCKS) : -1;
}

static int begin(struct target *target, struct slot *slot, struct chain *chain)
{
	struct response good = { .slot = slot - target->slots, .good = 1 };
	u32 mr;
	int err = 0;

	slot->number = target->started++;
	slot->busy = true;
	slot->posted = true;
	slot->answered = false;
	good.number = slot->number;
	for (mr = 0; mr < target->num_mrs && !err; mr++) {
		fill_blocks(target, slot, mr, choose_bad(target, slot));
		err = append_transfer(target, chain, slot, mr);
	}
	append_response(target, chain, slot, &good, &slot->cqe, IB_SEND_FENCE);
	return err;
}

/* Each begins with a receive of the client. */
static int start_command(struct target *target, struct slot *slot)
{
	struct chain *chain = kzalloc(sizeof(*chain), GFP_KERNEL);
	int err;

	if (!chain)
		return -ENOMEM;
	/* Receives complete in their order, commands do not: the buffer is not that of the slot. */
	err = kverbs_post_slot(target->pair, client_end(target), target->started % KVERBS_SLOTS,
			       sizeof(struct response));
	if (!err && target->reads && !below(target, 4))
		append_read(target, chain);
	if (!err)
		err = begin(target, slot, chain);
	if (!err)
		err = post_chain(target, chain);
	kfree(chain);
	return err;
}

static int find_bad(struct target *target, struct slot *slot, struct response *response)
{
	struct ib_mr_status status;
	u32 mr, found = 0;
	int err;

	for (mr = 0; mr < target->num_mrs; mr++) {
		err = ib_check_mr_status(slot->mrs[mr], IB_MR_CHECK_SIG_STATUS, &status);
		if (err)
			return kverbs_fail(target->pair->report, "the status cannot be checked: error %d",
					   err);
		if (!status.fail_status)
			continue;
		response->mr = mr;
		response->expected = status.sig_err.expected;
		response->actual = status.sig_err.actual;
		found++;
	}
	return found;
}

static int answer_error(struct target *target, struct slot *slot)
{
	struct response response = { .number = slot->number, .slot = slot - target->slots };
	struct chain *chain;
	int err = find_bad(target, slot, &response);

	if (err < 0)
		return err;
	if (!err)
		return kverbs_fail(target->pair->report, "the response of command %u is cancelled without error",
				   slot->number);
	chain = kzalloc(sizeof(*chain), GFP_KERNEL);
	if (!chain)
		return -ENOMEM;
	target->cancelled++;
	slot->error_posted = true;
	append_response(target, chain, slot, &response, &slot->error_cqe, 0);
	err = post_chain(target, chain);
	kfree(chain);
	return err;
}

static int response_done(struct target *target, struct slot *slot, const struct ib_wc *wc)
{
	struct response unused;
	int err;

	if (!slot->posted)
		return kverbs_fail(target->pair->report, "the response of command %u completes again",
				   slot->number);
	slot->posted = false;
	if (cxib_wc_is_cancelled(wc))
		return answer_error(target, slot);
	if (wc->status != IB_WC_SUCCESS)
		return kverbs_fail(target->pair->report, "a response completes with '%s' (0x%x)",
				   ib_wc_status_msg(wc->status), wc->vendor_err);
	err = find_bad(target, slot, &unused);
	if (err > 0)
		return kverbs_fail(target->pair->report, "command %u has a wrong block, its good response was sent",
				   slot->number);
	return err;
}

static int error_response_done(struct target *target, struct slot *slot, const struct ib_wc *wc)
{
	if (wc->status != IB_WC_SUCCESS || !slot->error_posted)
		return kverbs_fail(target->pair->report, "the second response completes with '%s'",
				   ib_wc_status_msg(wc->status));
	slot->error_posted = false;
	return 0;
}

/* The connection has ended: each WR completes once all the same. Returns whether @wc is one of them. */
static bool flush_done(struct target *target, const struct ib_wc *wc)
{
	u32 i;

	if (!target->may_die || wc->status == IB_WC_SUCCESS || cxib_wc_is_cancelled(wc))
		return false;
	target->dead = true;
	if (!wc->wr_cqe)
		return true;
	if (wc->wr_cqe == &target->read_cqe)
		return target->reads_posted--;
	for (i = 0; i < target->depth; i++) {
		struct slot *slot = &target->slots[i];
		bool *posted = wc->wr_cqe == &slot->cqe ? &slot->posted : &slot->error_posted;

		if (wc->wr_cqe != &slot->cqe && wc->wr_cqe != &slot->error_cqe)
			continue;
		if (!*posted)
			return false;
		*posted = false;
		return true;
	}
	return false;
}

static int send_done(struct target *target, const struct ib_wc *wc)
{
	u32 i;

	if (flush_done(target, wc))
		return 0;
	if (wc->wr_cqe == &target->read_cqe) {
		target->reads_posted--;
		return wc->status == IB_WC_SUCCESS ? 0 :
			kverbs_fail(target->pair->report, "a read completes with '%s' (0x%x)",
				    ib_wc_status_msg(wc->status), wc->vendor_err);
	}
	for (i = 0; i < target->depth; i++) {
		if (wc->wr_cqe == &target->slots[i].cqe)
			return response_done(target, &target->slots[i], wc);
		if (wc->wr_cqe == &target->slots[i].error_cqe)
			return error_response_done(target, &target->slots[i], wc);
	}
	return kverbs_fail(target->pair->report, "an unknown request completes with '%s' (0x%x)",
			   ib_wc_status_msg(wc->status), wc->vendor_err);
}

static int check_good(struct target *target, struct slot *slot)
{
	u32 mr;

	target->good++;
	for (mr = 0; mr < target->num_mrs; mr++) {
		const u8 *seen = client_end(target)->memory + KVERBS_LOCAL + place_of(target, slot, mr);

		if (slot->bad[mr] >= 0)
			return kverbs_fail(target->pair->report, "the client gets a good response for bad data, command %u",
					   slot->number);
		if (memcmp(seen, slot->data[mr], DATA_BYTES))
			return kverbs_fail(target->pair->report, "the client sees other data, command %u",
					   slot->number);
	}
	return 0;
}

static int check_bad(struct target *target, struct slot *slot, const struct response *response)
{
	if (response->mr >= target->num_mrs || slot->bad[response->mr] < 0)
		return kverbs_fail(target->pair->report, "the error is of MR %u, which is right", response->mr);
	if (response->expected == slot->guard[response->mr][0] &&
	    response->actual == slot->guard[response->mr][1])
		return 0;
	return kverbs_fail(target->pair->report, "the error is 0x%x instead of 0x%x, should be 0x%x, 0x%x",
			   response->actual, response->expected, slot->guard[response->mr][1],
			   slot->guard[response->mr][0]);
}

static int receive_done(struct target *target, const struct ib_wc *wc)
{
	struct kverbs_end *client = client_end(target);
	struct response response;
	struct slot *slot;

	if (wc->status != IB_WC_SUCCESS)
		return kverbs_fail(target->pair->report, "a receive of the client completes with '%s'",
				   ib_wc_status_msg(wc->status));
	kverbs_to_cpu(client);
	memcpy(&response, client->memory + KVERBS_RECEIVES + wc->wr_id * KVERBS_SLOT_SIZE, sizeof(response));
	if (response.slot >= target->depth)
		return kverbs_fail(target->pair->report, "a response is of slot %u", response.slot);
	slot = &target->slots[response.slot];
	if (!slot->busy || slot->answered || slot->number != response.number)
		return kverbs_fail(target->pair->report, "command %u is answered twice", response.number);
	slot->answered = true;
	return response.good ? check_good(target, slot) : check_bad(target, slot, &response);
}

static struct slot *slot_of(struct target *target, const struct ib_mr *mr)
{
	u32 i, k;

	for (i = 0; i < target->depth; i++)
		for (k = 0; k < target->num_mrs; k++)
			if (target->slots[i].mrs[k] == mr)
				return &target->slots[i];
	return NULL;
}

/* What a ULP with the manual policy does. */
static int handle_stop(struct target *target)
{
	struct ib_qp *qp = target_end(target)->qp;
	struct ib_sig_err error;
	struct ib_mr *mr;
	int err;

	WRITE_ONCE(target_end(target)->last_event, -1);
	while ((mr = target->table->next_failed(qp, &error))) {
		struct slot *slot = slot_of(target, mr);

		if (!slot)
			return kverbs_fail(target->pair->report, "an unknown MR has failed");
		err = target->table->cancel(qp, &slot->cqe);
		if (err < 0 && target->may_die)
			break;
		if (err < 0 || err > 1)
			return kverbs_fail(target->pair->report, "%d responses are cancelled", err);
	}
	err = target->table->resume(qp);
	if (err && target->may_die) {
		target->dead = true;
		return 0;
	}
	return err ? kverbs_fail(target->pair->report, "no way back to RTS: error %d", err) : 0;
}

/* Returns 1 if there was something to do, 0 if not, or an error. */
static int poll_once(struct target *target)
{
	struct ib_wc wc;
	int err = 0, found = 0;

	if (target->manual && READ_ONCE(target_end(target)->last_event) == IB_EVENT_SQ_DRAINED) {
		err = handle_stop(target);
		found = 1;
	}
	if (!err && ib_poll_cq(target_end(target)->send_cq, 1, &wc) > 0) {
		err = send_done(target, &wc);
		found = 1;
	}
	if (!err && ib_poll_cq(client_end(target)->recv_cq, 1, &wc) > 0) {
		err = receive_done(target, &wc);
		found = 1;
	}
	return err ?: found;
}

static bool is_over(const struct slot *slot)
{
	return slot->answered && !slot->posted && !slot->error_posted;
}

/* Starts what may start. Returns the number of commands in progress, or an error. */
static int start_commands(struct target *target, u32 end)
{
	int err, busy = 0;
	u32 i;

	for (i = 0; i < target->depth; i++) {
		struct slot *slot = &target->slots[i];

		if (slot->busy && is_over(slot))
			slot->busy = false;
		if (!slot->busy && target->started < end && !target->dead) {
			err = start_command(target, slot);
			if (err)
				return err;
		}
		busy += slot->busy;
	}
	return busy;
}

static bool is_anything_posted(const struct target *target)
{
	u32 i;

	for (i = 0; i < target->depth; i++)
		if (target->slots[i].posted || target->slots[i].error_posted)
			return true;
	return target->reads_posted;
}

static void destroy_mrs(struct target *target);
static int make_mrs(struct target *target);

/* Whether a registration was still done is not known, so the MRs are new, too. */
static int revive(struct target *target)
{
	int err = kverbs_reconnect(target->pair);
	u32 i;

	destroy_mrs(target);
	for (i = 0; i < target->depth; i++) {
		target->slots[i].busy = false;
		memset(target->slots[i].registered, 0, sizeof(target->slots[i].registered));
	}
	WRITE_ONCE(target_end(target)->last_event, -1);
	target->dead = false;
	return err ?: make_mrs(target);
}

/* At any point of a stop. */
static int end_connection(struct target *target)
{
	if (!target->may_die)
		return 0;
	if (READ_ONCE(target_end(target)->last_event) == IB_EVENT_QP_FATAL)
		target->dead = true;
	if (target->dead)
		return is_anything_posted(target) ? 0 : revive(target);
	if (below(target, 100))
		return 0;
	target->dead = true;
	return kverbs_to_state(target_end(target), IB_QPS_ERR);
}

static int run_commands(struct target *target, u32 count)
{
	const u32 end = target->started + count;
	unsigned long limit = jiffies + KVERBS_PATIENCE;
	int busy, found;

	do {
		found = end_connection(target);
		if (found)
			return found;
		busy = start_commands(target, end);
		if (busy < 0)
			return busy;
		found = poll_once(target);
		if (found < 0)
			return found;
		if (found)
			limit = jiffies + KVERBS_PATIENCE;
		else
			usleep_range(20, 200);
		if (time_after(jiffies, limit))
			return kverbs_fail(target->pair->report, "%d commands are not answered, event %d", busy,
					   target_end(target)->last_event);
	} while (busy || target->reads_posted || target->dead);
	return target->may_die ? 0 : kverbs_await_nothing(target->pair);
}

static int prepare(struct kverbs_pair *pair, enum cxib_signature_policy policy)
{
	const struct cxib_signature_pipelining *table = cxib_signature_pipelining(pair->ends[1].device);
	int err;

	if (!table)
		return kverbs_fail(pair->report, "the device has no signature pipelining");
	err = table->enable(pair->ends[1].qp, policy);
	return err ? kverbs_fail(pair->report, "signature pipelining cannot be enabled: error %d", err) : 0;
}

static int prepare_automatic(struct kverbs_pair *pair)
{
	return prepare(pair, CXIB_SIGNATURE_AUTOMATIC);
}

static int prepare_manual(struct kverbs_pair *pair)
{
	return prepare(pair, CXIB_SIGNATURE_MANUAL);
}

static int make_mrs(struct target *target)
{
	u32 i, k;

	for (i = 0; i < target->depth; i++)
		for (k = 0; k < target->num_mrs; k++) {
			struct ib_mr *mr = ib_alloc_mr_integrity(target_end(target)->pd, 2, 1);

			if (IS_ERR(mr))
				return kverbs_fail(target->pair->report, "no integrity MR: error %ld",
						   PTR_ERR(mr));
			target->slots[i].mrs[k] = mr;
		}
	return 0;
}

static void destroy_mrs(struct target *target)
{
	u32 i, k;

	for (i = 0; i < DEPTH_MAX; i++)
		for (k = 0; k < MRS_MAX; k++) {
			if (target->slots[i].mrs[k])
				ib_dereg_mr(target->slots[i].mrs[k]);
			target->slots[i].mrs[k] = NULL;
		}
}

static int with_target(struct target *target, struct kverbs_report *report,
		       int (*test)(struct target *target))
{
	struct kverbs_pair *pair = target->pair;
	struct kverbs_spec spec = kverbs_usual;
	int err;

	spec.is_signed = true;
	spec.max_wr = target->depth * WRS(target->num_mrs);
	spec.prepare = target->manual ? prepare_manual : prepare_automatic;
	err = kverbs_pair_create(pair, &spec, report);
	if (!err) {
		target->table = cxib_signature_pipelining(pair->ends[1].device);
		err = make_mrs(target);
	}
	if (!err)
		err = test(target);
	if (!IS_ERR_OR_NULL(pair->ends[1].qp))
		kverbs_to_state(&pair->ends[1], IB_QPS_RESET);
	destroy_mrs(target);
	kverbs_pair_destroy(pair);
	return err;
}

static int run(struct kverbs_report *report, const struct wanted *wanted,
	       int (*test)(struct target *target))
{
	struct target *target = kzalloc(sizeof(*target), GFP_KERNEL);
	int err = -ENOMEM;

	if (!target)
		return -ENOMEM;
	target->manual = wanted->manual;
	target->depth = wanted->depth;
	target->num_mrs = wanted->num_mrs;
	target->bad_chance = wanted->bad_chance;
	target->reads = wanted->reads;
	target->may_die = wanted->may_die;
	target->bad_every = wanted->bad_every;
	prandom_seed_state(&target->random, wanted->seed);
	target->pair = kzalloc(sizeof(*target->pair), GFP_KERNEL);
	if (target->pair)
		err = with_target(target, report, test);
	kfree(target->pair);
	kfree(target);
	return err;
}

static int run_many(struct target *target)
{
	return run_commands(target, 60);
}

/* The seed chooses what the target is like. Its ring wraps every few commands. */
static int run_seed(struct kverbs_report *report, const struct kverbs_settings *settings, bool may_die)
{
	struct wanted wanted = { .may_die = may_die };
	struct rnd_state random;
	u32 round;
	int err = 0;

	prandom_seed_state(&random, settings->seed);
	for (round = 0; round < settings->rounds && !err; round++) {
		wanted.manual = prandom_u32_state(&random) % 2;
		wanted.depth = 1 + prandom_u32_state(&random) % DEPTH_MAX;
		wanted.num_mrs = 1 + prandom_u32_state(&random) % MRS_MAX;
		wanted.bad_chance = prandom_u32_state(&random) % 60;
		wanted.reads = prandom_u32_state(&random) % 2;
		wanted.seed = prandom_u32_state(&random);
		err = run(report, &wanted, run_many);
		if (err)
			return kverbs_fail(report, "%s, depth %u, %u MRs, %u%% bad, reads %d",
					   wanted.manual ? "manual" : "automatic", wanted.depth,
					   wanted.num_mrs, wanted.bad_chance, wanted.reads);
	}
	return 0;
}

static int run_random(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_seed(report, settings, false);
}

static int run_dying(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_seed(report, settings, true);
}

static int all_good(struct target *target)
{
	int err = run_commands(target, 200);

	if (!err && (target->good != 200 || target->cancelled))
		err = kverbs_fail(target->pair->report, "%u of 200 responses are good, %u cancelled",
				  target->good, target->cancelled);
	return err;
}

static int run_good(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct wanted wanted = { .depth = DEPTH_MAX, .num_mrs = 1, .seed = 1 };

	return run(report, &wanted, all_good);
}

static int all_bad(struct target *target)
{
	int err = run_commands(target, 100);

	if (!err && (target->good || target->cancelled != 100))
		err = kverbs_fail(target->pair->report, "%u of 100 responses are good, %u cancelled",
				  target->good, target->cancelled);
	return err;
}

static int run_bad(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct wanted wanted = { .depth = DEPTH_MAX, .num_mrs = MRS_MAX, .bad_chance = 100, .seed = 2 };

	return run(report, &wanted, all_bad);
}

/*
 * What twin_mlx5dv.py does, too, by libmlx5: bursts of four commands, each posted when the one
 * before is answered; every third command has a wrong block.
 */
static int all_bursts(struct target *target)
{
	int err = 0, i;

	for (i = 0; i < 6 && !err; i++)
		err = run_commands(target, target->depth);
	/* 24 commands, of which 8 are bad. */
	if (!err && (target->good != 16 || target->cancelled != 8))
		err = kverbs_fail(target->pair->report, "%u of 24 responses are good, %u cancelled",
				  target->good, target->cancelled);
	return err;
}

static int run_bursts(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct wanted wanted = { .manual = true, .depth = 4, .num_mrs = 1, .bad_every = 3, .seed = 8 };

	return run(report, &wanted, all_bursts);
}

static int await_stop(struct target *target)
{
	const unsigned long limit = jiffies + KVERBS_PATIENCE;

	while (READ_ONCE(target_end(target)->last_event) != IB_EVENT_SQ_DRAINED) {
		if (time_after(jiffies, limit))
			return kverbs_fail(target->pair->report, "the queue pair does not stop");
		usleep_range(20, 200);
	}
	return 0;
}

/* One command with a wrong block; the queue pair is stopped afterwards. */
static int stop_at_bad(struct target *target)
{
	int err;

	target->bad_chance = 100;
	WRITE_ONCE(target_end(target)->last_event, -1);
	err = start_command(target, &target->slots[0]);
	return err ?: await_stop(target);
}

static int expect(struct target *target, const char *what, int found, int expected)
{
	return found == expected ? 0 : kverbs_fail(target->pair->report, "%s: %d, should be %d", what,
						   found, expected);
}

static int functions_of_a_stop(struct target *target)
{
	struct ib_qp *qp = target_end(target)->qp;
	struct slot *slot = &target->slots[0];
	struct ib_sig_err error;
	int err;

	err = expect(target, "resume a running QP", target->table->resume(qp), -EINVAL);
	if (!err)
		err = expect(target, "cancel in a running QP", target->table->cancel(qp, &slot->cqe), -EBUSY);
	if (!err)
		err = expect(target, "enable again", target->table->enable(qp, CXIB_SIGNATURE_MANUAL),
			     -EALREADY);
	if (!err)
		err = stop_at_bad(target);
	if (!err)
		err = expect(target, "resume before the MR is fetched", target->table->resume(qp), -EBUSY);
	if (!err)
		err = expect(target, "the failed MR", target->table->next_failed(qp, &error) == slot->mrs[0],
			     true);
	if (!err)
		err = expect(target, "the second one", !target->table->next_failed(qp, &error), true);
	if (!err)
		err = expect(target, "cancel NULL", target->table->cancel(qp, NULL), -EINVAL);
	if (!err)
		err = expect(target, "cancel a foreign cqe", target->table->cancel(qp, &slot->error_cqe), 0);
	if (!err)
		err = expect(target, "cancel", target->table->cancel(qp, &slot->cqe), 1);
	if (!err)
		err = expect(target, "cancel again", target->table->cancel(qp, &slot->cqe), 0);
	if (!err)
		err = expect(target, "resume", target->table->resume(qp), 0);
	WRITE_ONCE(target_end(target)->last_event, -1);
	return err ?: run_commands(target, 20);
}

static int run_functions(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct wanted wanted = { .manual = true, .depth = 2, .num_mrs = 1, .seed = 3 };

	return run(report, &wanted, functions_of_a_stop);
}

/* The response completes once and without mark: the queue pair does not work any more. */
static int error_while_stopped(struct target *target)
{
	struct kverbs_end *end = target_end(target);
	struct ib_mr_status status;
	struct ib_wc wc;
	int err;

	err = stop_at_bad(target);
	if (!err)
		err = kverbs_to_state(end, IB_QPS_ERR);
	if (!err)
		err = expect(target, "cancel in ERR",
			     target->table->cancel(end->qp, &target->slots[0].cqe), -ENOTCONN);
	do {
		if (!err)
			err = kverbs_await(target->pair, end->send_cq, &wc);
	} while (!err && wc.wr_cqe != &target->slots[0].cqe);
	if (!err)
		err = expect(target, "status of the response", wc.status, IB_WC_WR_FLUSH_ERR);
	if (!err)
		err = expect(target, "mark of the response", cxib_wc_is_cancelled(&wc), false);
	if (!err)
		err = kverbs_await_nothing(target->pair);
	if (!err)
		err = ib_check_mr_status(target->slots[0].mrs[0], IB_MR_CHECK_SIG_STATUS, &status);
	return err ?: expect(target, "the error of the MR", status.fail_status, IB_MR_CHECK_SIG_STATUS);
}

static int run_error(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct wanted wanted = { .manual = true, .depth = 1, .num_mrs = 1, .seed = 4 };

	return run(report, &wanted, error_while_stopped);
}

/* RST2INIT_QP clears what the policy needs from the device. */
static int reset_while_stopped(struct target *target)
{
	struct slot *slot = &target->slots[0];
	struct ib_mr_status status;
	int err;

	err = stop_at_bad(target);
	if (!err)
		err = kverbs_reconnect(target->pair);
	if (err)
		return err;
	err = ib_check_mr_status(slot->mrs[0], IB_MR_CHECK_SIG_STATUS, &status);
	if (err)
		return kverbs_fail(target->pair->report, "the status cannot be checked: error %d", err);
	slot->busy = false;
	slot->posted = false;
	WRITE_ONCE(target_end(target)->last_event, -1);
	target->bad_chance = 50;
	return run_commands(target, 50);
}

static int run_reset(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct wanted wanted = { .manual = true, .depth = 1, .num_mrs = 1, .seed = 5 };

	return run(report, &wanted, reset_while_stopped);
}

static int run_destroy(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct wanted wanted = { .manual = true, .depth = 1, .num_mrs = 1, .seed = 6 };

	return run(report, &wanted, stop_at_bad);
}

/* The ULP moves the QP to SQD before the stop; the way back ends both. */
static int drain_around_stop(struct target *target)
{
	struct kverbs_end *end = target_end(target);
	struct ib_sig_err error;
	int err, i;

	for (i = 0; i < 10; i++) {
		target->bad_chance = 100;
		WRITE_ONCE(end->last_event, -1);
		err = start_command(target, &target->slots[0]);
		if (!err)
			err = kverbs_to_state(end, IB_QPS_SQD);
		if (!err)
			err = await_stop(target);
		if (!err)
			err = expect(target, "the failed MR", !target->table->next_failed(end->qp, &error),
				     false);
		if (!err)
			err = expect(target, "cancel",
				     target->table->cancel(end->qp, &target->slots[0].cqe), 1);
		WRITE_ONCE(end->last_event, -1);
		if (!err)
			err = kverbs_to_state(end, IB_QPS_RTS);
		if (!err)
			err = run_commands(target, 0);
		if (err)
			return kverbs_fail(target->pair->report, "round %d: error %d", i, err);
	}
	return 0;
}

static int run_drain(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct wanted wanted = { .manual = true, .depth = 1, .num_mrs = 1, .seed = 7 };

	return run(report, &wanted, drain_around_stop);
}

const struct kverbs_case kverbs_pipelining_cases[] = {
	{ "pipelining_good", run_good },
	{ "pipelining_bad", run_bad },
	{ "pipelining_bursts", run_bursts },
	{ "pipelining_random", run_random },
	{ "pipelining_random_ends", run_dying },
	{ "pipelining_functions", run_functions },
	{ "pipelining_error_while_stopped", run_error },
	{ "pipelining_reset_while_stopped", run_reset },
	{ "pipelining_destroy_while_stopped", run_destroy },
	{ "pipelining_drain_around_stop", run_drain },
	{}
};
