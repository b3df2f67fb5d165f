// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Signature pipelining: a small target that posts its response together with the data. The second
 * end is the target: it writes blocks with protection information in its memory to the first end,
 * the client, which sees plain data, and then sends its response. A response says whether the
 * blocks were right; one that says so of a wrong block is the fault that must never happen.
 */
#include <linux/delay.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include "pipelined_target.h"
#include "protection.h"

#define BLOCK		512
#define BLOCKS		(KVERBS_TARGET_DATA / BLOCK)
#define METADATA_BYTES	(BLOCKS * KVERBS_DIF_SIZE)
#define APPLICATION_TAG	0x1234

/* Send WRs of a command: an invalidation, a registration and a write of each MR, two responses, a read. */
#define WRS(mrs)	(3 * (mrs) + 3)

/* Where the memory of an MR lies in the exposed area of the target: data, metadata, the response. */
#define STRIDE		SZ_2K
#define METADATA_PLACE	KVERBS_TARGET_DATA
#define RESPONSE_PLACE	(KVERBS_TARGET_DATA + SZ_256)
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

/* The WRs of a command, in their order. */
struct chain {
	struct kverbs_single wrs[WRS(KVERBS_TARGET_MRS)];
	u32 count;
};

static u32 below(struct kverbs_target *target, u32 count)
{
	return prandom_u32_state(&target->random) % count;
}

static u32 place_of(const struct kverbs_target *target, const struct kverbs_command *slot, u32 mr)
{
	return ((slot - target->slots) * KVERBS_TARGET_MRS + mr) * STRIDE;
}

static u8 *memory_of(struct kverbs_target *target, const struct kverbs_command *slot, u32 mr)
{
	return target_end(target)->memory + KVERBS_EXPOSED + place_of(target, slot, mr);
}

static u64 dma_of(struct kverbs_target *target, const struct kverbs_command *slot, u32 mr)
{
	return target_end(target)->dma + KVERBS_EXPOSED + place_of(target, slot, mr);
}

static struct kverbs_tags tags_of(const struct kverbs_command *slot)
{
	return (struct kverbs_tags){ APPLICATION_TAG, slot->number * BLOCKS };
}

/* A bit of the data of one block is wrong, or none. */
static void fill_blocks(struct kverbs_target *target, struct kverbs_command *slot, u32 mr, int bad)
{
	u8 *memory = memory_of(target, slot, mr);
	const struct kverbs_tags tags = tags_of(slot);
	u32 i;

	prandom_bytes_state(&target->random, memory, KVERBS_TARGET_DATA);
	for (i = 0; i < BLOCKS; i++)
		kverbs_protect(memory + METADATA_PLACE + i * KVERBS_DIF_SIZE, KVERBS_GUARD_CRC, &tags, i,
			       memory + i * BLOCK, BLOCK);
	memcpy(slot->data[mr], memory, KVERBS_TARGET_DATA);
	slot->bad[mr] = bad;
	if (bad < 0)
		return;
	slot->guard[mr][1] = kverbs_guard_of(KVERBS_GUARD_CRC, memory + bad * BLOCK, BLOCK);
	memory[bad * BLOCK + below(target, BLOCK)] ^= 1 << below(target, 8);
	slot->guard[mr][0] = kverbs_guard_of(KVERBS_GUARD_CRC, memory + bad * BLOCK, BLOCK);
}

static void describe_signature(struct ib_mr *mr, const struct kverbs_command *slot)
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
static int map_mr(struct kverbs_target *target, struct kverbs_command *slot, u32 mr)
{
	const u64 dma = dma_of(target, slot, mr);
	struct scatterlist data[2], metadata;
	u32 first = below(target, 2) ? KVERBS_TARGET_DATA : 100;
	int err;

	describe_signature(slot->mrs[mr], slot);
	sg_init_table(data, ARRAY_SIZE(data));
	sg_dma_address(&data[0]) = dma;
	sg_dma_len(&data[0]) = first;
	sg_dma_address(&data[1]) = dma + first;
	sg_dma_len(&data[1]) = KVERBS_TARGET_DATA - first;
	sg_init_table(&metadata, 1);
	sg_dma_address(&metadata) = dma + METADATA_PLACE;
	sg_dma_len(&metadata) = METADATA_BYTES;
	err = ib_map_mr_sg_pi(slot->mrs[mr], data, first == KVERBS_TARGET_DATA ? 1 : 2, NULL, &metadata, 1,
			      NULL, SZ_4K);
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

static int append_transfer(struct kverbs_target *target, struct chain *chain,
			   struct kverbs_command *slot, u32 mr)
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
	single->sge = (struct ib_sge){ slot->mrs[mr]->iova, KVERBS_TARGET_DATA, slot->mrs[mr]->lkey };
	single->rdma.remote_addr = client->dma + KVERBS_LOCAL + place_of(target, slot, mr);
	single->rdma.rkey = client->pd->unsafe_global_rkey;
	return 0;
}

static void append_response(struct kverbs_target *target, struct chain *chain,
			    struct kverbs_command *slot, const struct response *response,
			    struct ib_cqe *cqe, int flags)
{
	struct kverbs_end *end = target_end(target);
	struct kverbs_single *single = append(chain);
	/* The first response may still be read by the device when the second one is made. */
	u32 place = RESPONSE_PLACE + (response->good ? 0 : sizeof(*response));

	memcpy(memory_of(target, slot, 0) + place, response, sizeof(*response));
	single->send.opcode = target->spec.invalidates ? IB_WR_SEND_WITH_INV : IB_WR_SEND;
	if (target->spec.invalidates)
		single->send.ex.invalidate_rkey = client_end(target)->exposed_key->rkey;
	single->send.wr_cqe = cqe;
	single->send.send_flags = flags;
	single->send.sg_list = &single->sge;
	single->send.num_sge = 1;
	single->sge = (struct ib_sge){ dma_of(target, slot, 0) + place, sizeof(*response),
				       end->pd->local_dma_lkey };
}

/* As an ULP does: only between commands. */
static void append_read(struct kverbs_target *target, struct chain *chain)
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

static int post_chain(struct kverbs_target *target, struct chain *chain)
{
	kverbs_to_device(target_end(target));
	return kverbs_post_single(target->pair, target_end(target), &chain->wrs[0]);
}

/* Returns the block that is wrong, or -1. */
static int choose_bad(struct kverbs_target *target, const struct kverbs_command *slot, u32 mr)
{
	if (target->spec.bad_mrs)
		return target->spec.bad_mrs & BIT(mr) ? 0 : -1;
	if (target->spec.bad_every)
		return slot->number % target->spec.bad_every == target->spec.bad_every - 1 ? 0 : -1;
	return below(target, 100) < target->spec.bad_chance ? below(target, BLOCKS) : -1;
}

static int begin(struct kverbs_target *target, struct kverbs_command *slot, struct chain *chain)
{
	struct response good = { .slot = slot - target->slots, .good = 1 };
	int flags = IB_SEND_FENCE | (target->spec.unsignaled ? 0 : IB_SEND_SIGNALED);
	u32 mr;
	int err = 0;

	slot->number = target->started++;
	slot->busy = true;
	slot->posted = true;
	slot->answered = false;
	good.number = slot->number;
	for (mr = 0; mr < target->spec.num_mrs && !err; mr++) {
		fill_blocks(target, slot, mr, choose_bad(target, slot, mr));
		err = append_transfer(target, chain, slot, mr);
	}
	append_response(target, chain, slot, &good, &slot->cqe, flags);
	return err;
}

/**
 * kverbs_target_start() - start a command, which begins with a receive of the client
 * @target: with a QP in RTS or SQD
 * @slot: not busy
 *
 * Return: 0, or an error after kverbs_fail().
 */
int kverbs_target_start(struct kverbs_target *target, struct kverbs_command *slot)
{
	struct chain *chain = kzalloc(sizeof(*chain), GFP_KERNEL);
	int err;

	if (!chain)
		return -ENOMEM;
	/* Receives complete in their order, commands do not: the buffer is not that of the slot. */
	err = kverbs_post_slot(target->pair, client_end(target), target->started % KVERBS_SLOTS,
			       sizeof(struct response));
	if (!err && target->spec.reads && !below(target, 4))
		append_read(target, chain);
	if (!err)
		err = begin(target, slot, chain);
	if (!err)
		err = post_chain(target, chain);
	kfree(chain);
	return err;
}

static int find_bad(struct kverbs_target *target, struct kverbs_command *slot,
		    struct response *response)
{
	struct ib_mr_status status;
	u32 mr, found = 0;
	int err;

	for (mr = 0; mr < target->spec.num_mrs; mr++) {
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

/**
 * kverbs_target_find_bad() - check the MRs of a command
 * @target: the target
 * @slot: its first response is complete
 *
 * Return: number of MRs with an error, or an error after kverbs_fail().
 */
int kverbs_target_find_bad(struct kverbs_target *target, struct kverbs_command *slot)
{
	struct response unused;

	return find_bad(target, slot, &unused);
}

/**
 * kverbs_target_answer_error() - send the response of a command with a wrong block
 * @target: the target
 * @slot: its first response is cancelled
 *
 * Return: 0, or an error after kverbs_fail().
 */
int kverbs_target_answer_error(struct kverbs_target *target, struct kverbs_command *slot)
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
	append_response(target, chain, slot, &response, &slot->error_cqe, IB_SEND_SIGNALED);
	err = post_chain(target, chain);
	kfree(chain);
	return err;
}

static int response_done(struct kverbs_target *target, struct kverbs_command *slot,
			 const struct ib_wc *wc)
{
	int err;

	if (!slot->posted)
		return kverbs_fail(target->pair->report, "the response of command %u completes again",
				   slot->number);
	slot->posted = false;
	if (cxib_wc_is_cancelled(wc))
		return kverbs_target_answer_error(target, slot);
	if (wc->status != IB_WC_SUCCESS)
		return kverbs_fail(target->pair->report, "a response completes with '%s' (0x%x)",
				   ib_wc_status_msg(wc->status), wc->vendor_err);
	err = kverbs_target_find_bad(target, slot);
	if (err > 0)
		return kverbs_fail(target->pair->report, "command %u has a wrong block, its good response was sent",
				   slot->number);
	return err;
}

static int error_response_done(struct kverbs_target *target, struct kverbs_command *slot,
			       const struct ib_wc *wc)
{
	if (wc->status != IB_WC_SUCCESS || !slot->error_posted)
		return kverbs_fail(target->pair->report, "the second response completes with '%s'",
				   ib_wc_status_msg(wc->status));
	slot->error_posted = false;
	return 0;
}

/* The connection has ended: each WR completes once all the same. Returns whether @wc is one of them. */
static bool flush_done(struct kverbs_target *target, const struct ib_wc *wc)
{
	u32 i;

	if (!target->spec.may_die || wc->status == IB_WC_SUCCESS || cxib_wc_is_cancelled(wc))
		return false;
	target->dead = true;
	if (!wc->wr_cqe)
		return true;
	if (wc->wr_cqe == &target->read_cqe)
		return target->reads_posted--;
	for (i = 0; i < target->spec.depth; i++) {
		struct kverbs_command *slot = &target->slots[i];
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

static int send_done(struct kverbs_target *target, const struct ib_wc *wc)
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
	for (i = 0; i < target->spec.depth; i++) {
		if (wc->wr_cqe == &target->slots[i].cqe)
			return response_done(target, &target->slots[i], wc);
		if (wc->wr_cqe == &target->slots[i].error_cqe)
			return error_response_done(target, &target->slots[i], wc);
	}
	return kverbs_fail(target->pair->report, "an unknown request completes with '%s' (0x%x)",
			   ib_wc_status_msg(wc->status), wc->vendor_err);
}

static int check_good(struct kverbs_target *target, struct kverbs_command *slot)
{
	u32 mr;

	target->good++;
	for (mr = 0; mr < target->spec.num_mrs; mr++) {
		const u8 *seen = client_end(target)->memory + KVERBS_LOCAL + place_of(target, slot, mr);

		if (slot->bad[mr] >= 0)
			return kverbs_fail(target->pair->report, "the client gets a good response for bad data, command %u",
					   slot->number);
		if (memcmp(seen, slot->data[mr], KVERBS_TARGET_DATA))
			return kverbs_fail(target->pair->report, "the client sees other data, command %u",
					   slot->number);
	}
	return 0;
}

static int check_bad(struct kverbs_target *target, struct kverbs_command *slot,
		     const struct response *response)
{
	if (response->mr >= target->spec.num_mrs || slot->bad[response->mr] < 0)
		return kverbs_fail(target->pair->report, "the error is of MR %u, which is right", response->mr);
	if (response->expected == slot->guard[response->mr][0] &&
	    response->actual == slot->guard[response->mr][1])
		return 0;
	return kverbs_fail(target->pair->report, "the error is 0x%x instead of 0x%x, should be 0x%x, 0x%x",
			   response->actual, response->expected, slot->guard[response->mr][1],
			   slot->guard[response->mr][0]);
}

static int receive_done(struct kverbs_target *target, const struct ib_wc *wc)
{
	struct kverbs_end *client = client_end(target);
	struct response response;
	struct kverbs_command *slot;

	if (wc->status != IB_WC_SUCCESS)
		return kverbs_fail(target->pair->report, "a receive of the client completes with '%s'",
				   ib_wc_status_msg(wc->status));
	kverbs_to_cpu(client);
	memcpy(&response, client->memory + KVERBS_RECEIVES + wc->wr_id * KVERBS_SLOT_SIZE, sizeof(response));
	if (response.slot >= target->spec.depth)
		return kverbs_fail(target->pair->report, "a response is of slot %u", response.slot);
	slot = &target->slots[response.slot];
	if (!slot->busy || slot->answered || slot->number != response.number)
		return kverbs_fail(target->pair->report, "command %u is answered twice", response.number);
	slot->answered = true;
	return response.good ? check_good(target, slot) : check_bad(target, slot, &response);
}

static struct kverbs_command *slot_of(struct kverbs_target *target, const struct ib_mr *mr)
{
	u32 i, k;

	for (i = 0; i < target->spec.depth; i++)
		for (k = 0; k < target->spec.num_mrs; k++)
			if (target->slots[i].mrs[k] == mr)
				return &target->slots[i];
	return NULL;
}

static int cancel_failed(struct kverbs_target *target, struct ib_mr *mr)
{
	struct kverbs_command *slot = slot_of(target, mr);
	int err;

	if (!slot)
		return kverbs_fail(target->pair->report, "an unknown MR has failed");
	target->failed++;
	err = target->table->cancel(target_end(target)->qp, &slot->cqe);
	if (err < 0 && target->spec.may_die)
		return 0;
	if (err < 0 || err > 1)
		return kverbs_fail(target->pair->report, "%d responses are cancelled", err);
	return 0;
}

/**
 * kverbs_target_cancel_failed() - cancels the responses of the MRs that have failed
 * @target: the target, with the manual policy
 *
 * Several threads may call this.
 *
 * Return: 0, or an error that was reported.
 */
int kverbs_target_cancel_failed(struct kverbs_target *target)
{
	struct ib_sig_err error;
	struct ib_mr *mr;
	int err = 0;

	mutex_lock(&target->cancelling);
	while (!err && (mr = target->table->next_failed(target_end(target)->qp, &error)))
		err = cancel_failed(target, mr);
	mutex_unlock(&target->cancelling);
	return err;
}

/* What a ULP with the manual policy does. */
static int handle_stop(struct kverbs_target *target)
{
	int err;

	WRITE_ONCE(target_end(target)->last_event, -1);
	target->stops++;
	err = kverbs_target_cancel_failed(target);
	if (err)
		return err;
	err = target->table->resume(target_end(target)->qp);
	if (err && target->spec.may_die) {
		target->dead = true;
		return 0;
	}
	return err ? kverbs_fail(target->pair->report, "no way back to RTS: error %d", err) : 0;
}

/* The next completion of the target that the RDMA core has polled. */
static bool take_arrived(struct kverbs_target *target, struct ib_wc *wc)
{
	bool found;

	spin_lock_irq(&target->lock);
	found = target->num_taken != target->num_arrived;
	if (found)
		*wc = target->arrived[target->num_taken++ % KVERBS_TARGET_ARRIVED];
	spin_unlock_irq(&target->lock);
	return found;
}

static bool poll_target(struct kverbs_target *target, struct ib_wc *wc)
{
	if (target->spec.pooled)
		return take_arrived(target, wc);
	return ib_poll_cq(target_end(target)->send_cq, 1, wc) > 0;
}

/* Returns 1 if there was something to do, 0 if not, or an error. */
static int poll_once(struct kverbs_target *target)
{
	struct ib_wc wc;
	int err = 0, found = 0;

	if (target->spec.manual && READ_ONCE(target_end(target)->last_event) == IB_EVENT_SQ_DRAINED) {
		err = handle_stop(target);
		found = 1;
	}
	if (!err && poll_target(target, &wc)) {
		err = send_done(target, &wc);
		found = 1;
	}
	if (!err && ib_poll_cq(client_end(target)->recv_cq, 1, &wc) > 0) {
		err = receive_done(target, &wc);
		found = 1;
	}
	return err ?: found;
}

static bool is_over(const struct kverbs_command *slot)
{
	return slot->answered && !slot->posted && !slot->error_posted;
}

/* Starts what may start. Returns the number of commands in progress, or an error. */
static int start_commands(struct kverbs_target *target, u32 end)
{
	int err, busy = 0;
	u32 i;

	for (i = 0; i < target->spec.depth; i++) {
		struct kverbs_command *slot = &target->slots[i];

		if (slot->busy && is_over(slot))
			slot->busy = false;
		if (!slot->busy && target->started < end && !target->dead) {
			err = kverbs_target_start(target, slot);
			if (err)
				return err;
		}
		busy += slot->busy;
	}
	return busy;
}

static bool is_anything_posted(const struct kverbs_target *target)
{
	u32 i;

	for (i = 0; i < target->spec.depth; i++)
		if (target->slots[i].posted || target->slots[i].error_posted)
			return true;
	return target->reads_posted;
}

static void destroy_mrs(struct kverbs_target *target);
static int make_mrs(struct kverbs_target *target);

/* Whether a registration was still done is not known, so the MRs are new, too. */
static int revive(struct kverbs_target *target)
{
	int err = kverbs_reconnect(target->pair);
	u32 i;

	destroy_mrs(target);
	for (i = 0; i < target->spec.depth; i++) {
		target->slots[i].busy = false;
		memset(target->slots[i].registered, 0, sizeof(target->slots[i].registered));
	}
	WRITE_ONCE(target_end(target)->last_event, -1);
	target->dead = false;
	return err ?: make_mrs(target);
}

/* At any point of a stop. */
static int end_connection(struct kverbs_target *target)
{
	if (!target->spec.may_die)
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

/**
 * kverbs_target_commands() - run commands, and end those that are in progress
 * @target: the target
 * @count: of new commands
 *
 * Return: 0, or an error after kverbs_fail().
 */
int kverbs_target_commands(struct kverbs_target *target, u32 count)
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
	/* CQs of the pool are for the RDMA core to poll, and looked at when the QP is drained. */
	return target->spec.may_die || target->spec.pooled ? 0 : kverbs_await_nothing(target->pair);
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

static int make_mrs(struct kverbs_target *target)
{
	u32 i, k;

	for (i = 0; i < target->spec.depth; i++)
		for (k = 0; k < target->spec.num_mrs; k++) {
			struct ib_mr *mr = ib_alloc_mr_integrity(target_end(target)->pd, 2, 1);

			if (IS_ERR(mr))
				return kverbs_fail(target->pair->report, "no integrity MR: error %ld",
						   PTR_ERR(mr));
			target->slots[i].mrs[k] = mr;
		}
	return 0;
}

static void destroy_mrs(struct kverbs_target *target)
{
	u32 i, k;

	for (i = 0; i < KVERBS_TARGET_DEPTH; i++)
		for (k = 0; k < KVERBS_TARGET_MRS; k++) {
			if (target->slots[i].mrs[k])
				ib_dereg_mr(target->slots[i].mrs[k]);
			target->slots[i].mrs[k] = NULL;
		}
}

/* No done() runs any more, and each was one that the case knows of; unless it has failed, with @err. */
static int drain_pooled(struct kverbs_target *target, int err)
{
	ib_drain_qp(target_end(target)->qp);
	if (err || target->num_arrived == target->num_taken)
		return err;
	return kverbs_fail(target->pair->report, "%u completions are left that should not be",
			   target->num_arrived - target->num_taken);
}

static int with_target(struct kverbs_target *target, struct kverbs_report *report,
		       int (*test)(struct kverbs_target *target))
{
	struct kverbs_pair *pair = target->pair;
	struct kverbs_spec spec = kverbs_usual;
	int err;

	spec.is_signed = true;
	spec.core_polls = target->spec.core_polls;
	spec.context = IB_POLL_DIRECT;
	spec.pooled = target->spec.pooled;
	/* One more for ib_drain_qp(). */
	spec.max_wr = target->spec.depth * WRS(target->spec.num_mrs) + 1 + target->spec.more_wrs;
	spec.prepare = target->spec.manual ? prepare_manual : prepare_automatic;
	err = kverbs_pair_create(pair, &spec, report);
	pair->user = target;
	if (!err) {
		target->table = cxib_signature_pipelining(pair->ends[1].device);
		err = make_mrs(target);
	}
	if (!err)
		err = test(target);
	if (target->spec.pooled && !IS_ERR_OR_NULL(pair->ends[1].qp))
		err = drain_pooled(target, err);
	if (!IS_ERR_OR_NULL(pair->ends[1].qp))
		kverbs_to_state(&pair->ends[1], IB_QPS_RESET);
	destroy_mrs(target);
	kverbs_pair_destroy(pair);
	return err;
}

/* Called by the RDMA core. */
static void note_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kverbs_end *end = wc->qp->qp_context;
	struct kverbs_target *target = container_of(end, struct kverbs_pair, ends[1])->user;
	unsigned long flags;

	spin_lock_irqsave(&target->lock, flags);
	target->arrived[target->num_arrived++ % KVERBS_TARGET_ARRIVED] = *wc;
	spin_unlock_irqrestore(&target->lock, flags);
}

/**
 * kverbs_target_run() - a test of a target
 * @report: where to say what is wrong
 * @spec: what the target is like
 * @test: the test
 *
 * Return: 0 or an error.
 */
int kverbs_target_run(struct kverbs_report *report, const struct kverbs_target_spec *spec,
		      int (*test)(struct kverbs_target *target))
{
	struct kverbs_target *target = kzalloc(sizeof(*target), GFP_KERNEL);
	int err = -ENOMEM;
	u32 i;

	if (!target)
		return -ENOMEM;
	target->spec = *spec;
	mutex_init(&target->cancelling);
	spin_lock_init(&target->lock);
	target->read_cqe.done = note_done;
	for (i = 0; i < ARRAY_SIZE(target->slots); i++) {
		target->slots[i].cqe.done = note_done;
		target->slots[i].error_cqe.done = note_done;
	}
	prandom_seed_state(&target->random, spec->seed);
	target->pair = kzalloc(sizeof(*target->pair), GFP_KERNEL);
	if (target->pair)
		err = with_target(target, report, test);
	kfree(target->pair);
	kfree(target);
	return err;
}

