// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Signature pipelining: transfers other than a WRITE, lists of WRs whose response could not be cancelled,
 * errors that the device or the peer make during a stop, and several WRs with one wr_cqe.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "pipelined_target.h"
#include "protection.h"

#define BLOCK		512
#define BLOCKS		2
#define WIRE_BYTES	(BLOCKS * (BLOCK + KVERBS_DIF_SIZE))
#define RESPONSE_BYTES	32
#define MORE_WRS	5

/* As long as it would take a response that must not come. */
#define GRACE_MS	200

static struct kverbs_command *only_command(struct kverbs_target *target)
{
	return &target->slots[0];
}

static int expect(struct kverbs_target *target, const char *what, int found, int expected)
{
	return found == expected ? 0 : kverbs_fail(target->pair->report, "%s: %d, should be %d", what,
						   found, expected);
}

static int await_event(struct kverbs_target *target, enum ib_event_type event)
{
	const unsigned long limit = jiffies + KVERBS_PATIENCE;

	while (READ_ONCE(target_end(target)->last_event) != event) {
		if (time_after(jiffies, limit))
			return kverbs_fail(target->pair->report, "no event %d, but %d", event,
					   target_end(target)->last_event);
		usleep_range(20, 200);
	}
	return 0;
}

/* One command with a wrong block; the queue pair is stopped afterwards. */
static int stop_at_bad(struct kverbs_target *target)
{
	int err;

	target->spec.bad_chance = 100;
	WRITE_ONCE(target_end(target)->last_event, -1);
	err = kverbs_target_start(target, only_command(target));
	return err ?: await_event(target, IB_EVENT_SQ_DRAINED);
}

/* The client has received no response that came to it. */
static int expect_no_response(struct kverbs_target *target)
{
	struct ib_wc wc;

	msleep(GRACE_MS);
	return expect(target, "responses at the client", ib_poll_cq(client_end(target)->recv_cq, 1, &wc), 0);
}

/* Blocks with protection information at the client, the second one wrong or not. */
static void fill_wire(struct kverbs_target *target, bool bad)
{
	const struct kverbs_tags tags = { 0x1234, 77 };
	struct kverbs_end *client = client_end(target);
	u8 *wire = client->memory + KVERBS_EXPOSED;
	int i;

	for (i = 0; i < BLOCKS; i++) {
		u8 *block = wire + i * (BLOCK + KVERBS_DIF_SIZE);

		prandom_bytes_state(&target->random, block, BLOCK);
		kverbs_protect(block + BLOCK, KVERBS_GUARD_CRC, &tags, i, block, BLOCK);
	}
	if (bad)
		wire[BLOCK + KVERBS_DIF_SIZE + 9] ^= 4;
	kverbs_to_device(client);
}

/* Checked on the wire and stripped in memory. */
static int map_for_read(struct kverbs_target *target, struct ib_mr *mr)
{
	struct scatterlist data;
	int err;

	mr->sig_attrs->check_mask = IB_SIG_CHECK_GUARD | IB_SIG_CHECK_APPTAG | IB_SIG_CHECK_REFTAG;
	mr->sig_attrs->mem = (struct ib_sig_domain){ .sig_type = IB_SIG_TYPE_NONE };
	mr->sig_attrs->wire = (struct ib_sig_domain){
		.sig_type = IB_SIG_TYPE_T10_DIF,
		.sig.dif = {
			.bg_type = IB_T10DIF_CRC,
			.pi_interval = BLOCK,
			.app_tag = 0x1234,
			.ref_tag = 77,
			.ref_remap = true,
			.apptag_check_mask = 0xffff,
		},
	};
	sg_init_table(&data, 1);
	sg_dma_address(&data) = target_end(target)->dma + KVERBS_EXPOSED;
	sg_dma_len(&data) = BLOCKS * BLOCK;
	err = ib_map_mr_sg_pi(mr, &data, 1, NULL, NULL, 0, NULL, SZ_4K);
	if (err)
		return kverbs_fail(target->pair->report, "an MR cannot be mapped: error %d", err);
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	return 0;
}

/**
 * struct read_wrs - a READ of blocks with protection information, and the response behind it
 * @inv: of the key of the READ before
 * @reg: registration
 * @read: the READ
 * @response: with a fence, signaled
 */
struct read_wrs {
	struct kverbs_single inv;
	struct kverbs_single reg;
	struct kverbs_single read;
	struct kverbs_single response;
};

static int make_read(struct kverbs_target *target, struct read_wrs *wrs)
{
	struct kverbs_end *end = target_end(target), *client = client_end(target);
	struct ib_mr *mr = only_command(target)->mrs[0];
	u32 old_key = mr->rkey;
	int err = map_for_read(target, mr);

	*wrs = (struct read_wrs){};
	wrs->inv.send.opcode = IB_WR_LOCAL_INV;
	wrs->inv.send.ex.invalidate_rkey = old_key;
	wrs->inv.send.next = &wrs->reg.send;
	wrs->reg.send.opcode = IB_WR_REG_MR_INTEGRITY;
	wrs->reg.reg.mr = mr;
	wrs->reg.reg.key = mr->rkey;
	wrs->reg.reg.access = IB_ACCESS_LOCAL_WRITE;
	wrs->reg.send.next = &wrs->read.send;
	kverbs_single_write(&wrs->read, end, 0, client->dma + KVERBS_EXPOSED, client->pd->unsafe_global_rkey,
			    WIRE_BYTES);
	wrs->read.send.opcode = IB_WR_RDMA_READ;
	wrs->read.send.wr_cqe = &target->read_cqe;
	wrs->read.send.send_flags = 0;
	wrs->read.sge.addr = mr->iova;
	wrs->read.sge.lkey = mr->lkey;
	wrs->read.send.next = &wrs->response.send;
	kverbs_single_send(&wrs->response, end, 0, RESPONSE_BYTES);
	wrs->response.send.wr_cqe = &only_command(target)->cqe;
	wrs->response.send.send_flags |= IB_SEND_FENCE;
	return err;
}

static struct kverbs_single *first_of(struct kverbs_target *target, struct read_wrs *wrs)
{
	return only_command(target)->registered[0] ? &wrs->inv : &wrs->reg;
}

static int post_read(struct kverbs_target *target, bool bad)
{
	struct read_wrs wrs;
	int err;

	fill_wire(target, bad);
	err = make_read(target, &wrs);
	if (!err)
		err = kverbs_post_slot(target->pair, client_end(target), target->started++ % KVERBS_SLOTS,
				       SZ_64);
	if (!err)
		err = kverbs_post_single(target->pair, target_end(target), first_of(target, &wrs));
	only_command(target)->registered[0] = true;
	return err;
}

/* The ULP cannot check an unsignaled READ before its response is sent. */
static int read_then_respond(struct kverbs_target *target)
{
	struct kverbs_end *client = client_end(target);
	struct ib_wc wc;
	int err = post_read(target, false);

	if (!err)
		err = kverbs_await(target->pair, target_end(target)->send_cq, &wc);
	if (!err)
		err = expect(target, "response of a good READ", wc.status, IB_WC_SUCCESS);
	if (!err)
		err = kverbs_await(target->pair, client->recv_cq, &wc);
	if (!err)
		err = expect(target, "errors of a good READ",
			     kverbs_target_find_bad(target, only_command(target)), 0);
	if (!err)
		err = post_read(target, true);
	if (!err)
		err = kverbs_await(target->pair, target_end(target)->send_cq, &wc);
	if (!err)
		err = expect(target, "response of a bad READ is cancelled", cxib_wc_is_cancelled(&wc), true);
	if (!err)
		err = expect_no_response(target);
	return err ?: expect(target, "errors of a bad READ",
			     kverbs_target_find_bad(target, only_command(target)), 1);
}

static int run_read(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = { .depth = 1, .num_mrs = 1, .seed = settings->seed };

	return kverbs_target_run(report, &spec, read_then_respond);
}

static int expect_refused_from(struct kverbs_target *target, const char *what, struct kverbs_single *first)
{
	const struct ib_send_wr *bad = NULL;
	int err = ib_post_send(target_end(target)->qp, &first->send, &bad);

	if (err == -EINVAL && bad == &first->send)
		return 0;
	return kverbs_fail(target->pair->report, "%s: posting returns %d, the first WR is %srefused", what, err,
			   bad == &first->send ? "" : "not ");
}

static int expect_refused(struct kverbs_target *target, const char *what, struct read_wrs *wrs)
{
	return expect_refused_from(target, what, first_of(target, wrs));
}

/* What the driver could not cancel is refused, and nothing of it is posted. */
static int refuse_unprotected(struct kverbs_target *target)
{
	struct kverbs_single between;
	struct read_wrs wrs;
	int err = make_read(target, &wrs);

	wrs.read.send.send_flags = IB_SEND_SIGNALED;
	if (!err)
		err = expect_refused(target, "signaled transfer before its response", &wrs);
	wrs.read.send.send_flags = 0;
	wrs.response.send.send_flags = IB_SEND_SIGNALED;
	if (!err)
		err = expect_refused(target, "response without fence", &wrs);
	wrs.response.send.send_flags = IB_SEND_FENCE;
	if (!err)
		err = expect_refused(target, "unsignaled response", &wrs);
	wrs.read.send.next = NULL;
	if (!err)
		err = expect_refused(target, "no response", &wrs);
	kverbs_single_send(&between, target_end(target), 0, RESPONSE_BYTES);
	wrs.response.send.send_flags = IB_SEND_FENCE | IB_SEND_SIGNALED;
	wrs.read.send.next = &between.send;
	between.send.next = &wrs.response.send;
	if (!err)
		err = expect_refused(target, "signaled WR between transfer and response", &wrs);
	if (!err)
		err = kverbs_await_nothing(target->pair);
	return err ?: kverbs_target_commands(target, 20);
}

static int run_refused(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = { .depth = 1, .num_mrs = 1, .bad_chance = 50, .seed = 18 };

	return kverbs_target_run(report, &spec, refuse_unprotected);
}

static int expect_long_response_refused(struct kverbs_target *target, struct read_wrs *wrs)
{
	const struct kverbs_end *end = target_end(target);
	const u32 num_sge = end->cap.max_send_sge + 1;
	struct ib_sge *sges = kcalloc(num_sge, sizeof(*sges), GFP_KERNEL);
	u32 i;
	int err;

	if (!sges)
		return -ENOMEM;
	for (i = 0; i < num_sge; i++)
		sges[i] = wrs->response.sge;
	wrs->response.send.sg_list = sges;
	wrs->response.send.num_sge = num_sge;
	err = expect_refused(target, "response with too many SGEs", wrs);
	wrs->response.send.sg_list = &wrs->response.sge;
	wrs->response.send.num_sge = 1;
	kfree(sges);
	return err;
}

/*
 * Whatever is refused of a list, none of it is posted: a ULP that posts the response later would send
 * it after the error of its transfer.
 */
static int refuse_as_a_whole(struct kverbs_target *target)
{
	struct read_wrs wrs;
	struct ib_wc wc;
	int err = post_read(target, false);

	if (!err)
		err = kverbs_await(target->pair, target_end(target)->send_cq, &wc);
	if (!err)
		err = kverbs_await(target->pair, client_end(target)->recv_cq, &wc);
	if (!err)
		err = make_read(target, &wrs);
	if (!err)
		err = expect_refused(target, "registration of an MR that was not checked", &wrs);
	if (!err)
		err = expect(target, "errors", kverbs_target_find_bad(target, only_command(target)), 0);
	if (!err)
		err = expect_long_response_refused(target, &wrs);
	if (!err)
		err = kverbs_await_nothing(target->pair);
	fill_wire(target, true);
	if (!err)
		err = kverbs_post_slot(target->pair, client_end(target), target->started++ % KVERBS_SLOTS,
				       SZ_64);
	if (!err)
		err = kverbs_post_single(target->pair, target_end(target), first_of(target, &wrs));
	if (!err)
		err = kverbs_await(target->pair, target_end(target)->send_cq, &wc);
	if (!err)
		err = expect(target, "response is cancelled", cxib_wc_is_cancelled(&wc), true);
	return err ?: expect_no_response(target);
}

static int run_whole(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = { .depth = 1, .num_mrs = 1, .seed = settings->seed };

	return kverbs_target_run(report, &spec, refuse_as_a_whole);
}

/* A second READ of the registration, with a response of its own, behind the first. */
static int post_two_reads(struct kverbs_target *target, struct read_wrs *wrs, struct read_wrs *again)
{
	u32 i;
	int err;

	fill_wire(target, true);
	err = make_read(target, wrs);
	*again = *wrs;
	again->read.send.sg_list = &again->read.sge;
	again->read.send.next = &again->response.send;
	again->response.send.sg_list = &again->response.sge;
	wrs->response.send.next = &again->read.send;
	for (i = 0; i < 2 && !err; i++)
		err = kverbs_post_slot(target->pair, client_end(target), target->started++ % KVERBS_SLOTS,
				       SZ_64);
	if (!err)
		err = kverbs_post_single(target->pair, target_end(target), first_of(target, wrs));
	only_command(target)->registered[0] = true;
	return err;
}

/* The device reports one error of a registration, so the second READ is not checked by the device. */
static int transfer_twice(struct kverbs_target *target)
{
	struct read_wrs wrs, again;
	struct ib_wc wc;
	int err = post_two_reads(target, &wrs, &again);
	u32 i;

	for (i = 0; i < 2 && !err; i++) {
		err = kverbs_await(target->pair, target_end(target)->send_cq, &wc);
		if (!err)
			err = expect(target, "response is cancelled", cxib_wc_is_cancelled(&wc), true);
	}
	if (!err)
		err = expect_no_response(target);
	if (!err)
		err = expect_refused_from(target, "transfer of a failed MR", &again.read);
	if (!err)
		err = expect(target, "errors", kverbs_target_find_bad(target, only_command(target)), 1);
	if (!err)
		err = expect_refused_from(target, "transfer of a checked MR", &again.read);
	if (!err)
		err = post_read(target, true);
	if (!err)
		err = kverbs_await(target->pair, target_end(target)->send_cq, &wc);
	return err ?: expect(target, "response after a registration is cancelled",
			     cxib_wc_is_cancelled(&wc), true);
}

static int run_twice(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = { .depth = 1, .num_mrs = 1, .seed = settings->seed };

	return kverbs_target_run(report, &spec, transfer_twice);
}

/*
 * The device stops without a report of the error, by a fault of the emulator. The driver does not know
 * which response is that of bad data, so none is sent.
 */
static int error_without_report(struct kverbs_target *target)
{
	struct ib_wc wc;
	int err;

	target->spec.bad_chance = 100;
	err = kverbs_target_start(target, only_command(target));
	if (!err)
		err = await_event(target, IB_EVENT_QP_FATAL);
	do {
		if (!err)
			err = kverbs_await(target->pair, target_end(target)->send_cq, &wc);
	} while (!err && wc.wr_cqe != &only_command(target)->cqe);
	if (!err)
		err = expect(target, "status of the response", wc.status, IB_WC_WR_FLUSH_ERR);
	if (!err)
		err = expect(target, "mark of the response", cxib_wc_is_cancelled(&wc), false);
	return err ?: expect_no_response(target);
}

static int run_without_report(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = {
		.manual = settings->seed % 2, .depth = 1, .num_mrs = 1, .seed = settings->seed,
	};

	return kverbs_target_run(report, &spec, error_without_report);
}

/* The MR outlives the connection: the device might not report the error of the next registration. */
static int expect_distrusted(struct kverbs_target *target)
{
	struct ib_mr_status status = {};
	const struct ib_send_wr *bad;
	struct read_wrs wrs;
	int err = ib_check_mr_status(only_command(target)->mrs[0], IB_MR_CHECK_SIG_STATUS, &status);

	if (!status.fail_status)
		err = expect(target, "status of an MR whose error is lost", err, -EIO);
	if (!err)
		err = make_read(target, &wrs);
	return err ?: expect(target, "registration of the MR",
			     ib_post_send(target_end(target)->qp, &first_of(target, &wrs)->send, &bad), -EIO);
}

static int wrong_report(struct kverbs_target *target)
{
	int err;

	target->spec.bad_chance = 100;
	err = kverbs_target_start(target, only_command(target));
	if (!err)
		err = await_event(target, IB_EVENT_QP_FATAL);
	if (!err)
		err = expect_no_response(target);
	if (!err)
		err = kverbs_reconnect(target->pair);
	return err ?: expect_distrusted(target);
}

static int run_wrong_report(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = {
		.manual = settings->seed % 2, .depth = 1, .num_mrs = 1, .seed = settings->seed,
	};

	return kverbs_target_run(report, &spec, wrong_report);
}

/* The peer sends more than the receive has room for, so the device moves the queue pair to ERR. */
static int end_by_peer(struct kverbs_target *target)
{
	struct kverbs_end *end = target_end(target), *client = client_end(target);
	struct kverbs_single single;
	struct ib_wc wc;
	int err = kverbs_post_slot(target->pair, end, 5, 16);

	kverbs_single_send(&single, client, 1, SZ_256);
	if (!err)
		err = kverbs_post_single(target->pair, client, &single);
	if (!err)
		err = kverbs_await(target->pair, end->recv_cq, &wc);
	return err ?: expect(target, "status of the receive", wc.status, IB_WC_LOC_LEN_ERR);
}

/* WQEs of one WQEBB and of two. */
static int post_send_of(struct kverbs_target *target, u32 num_sge)
{
	struct kverbs_end *end = target_end(target);
	struct ib_send_wr wr = { .opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED, .num_sge = num_sge };
	struct ib_sge sges[4];
	u32 i;

	for (i = 0; i < num_sge; i++)
		sges[i] = (struct ib_sge){ end->dma + KVERBS_LOCAL, 16, end->pd->local_dma_lkey };
	wr.sg_list = sges;
	return ib_post_send(end->qp, &wr, NULL);
}

/*
 * The ULP does not know yet, and goes on: it polls flushed WRs and posts others over those that the stop
 * has left, until cancel() says that the queue pair works no more.
 */
static int cancel_after_error(struct kverbs_target *target)
{
	struct kverbs_end *end = target_end(target);
	struct ib_cqe none = {};
	struct ib_wc wc;
	u32 round, rounds;
	int result = 0, err = stop_at_bad(target);

	if (!err)
		err = end_by_peer(target);
	/* More than once around the ring. */
	rounds = 4 * end->cap.max_send_wr;
	for (round = 0; round < rounds && !err && result != -ENOTCONN; round++) {
		err = kverbs_await(target->pair, end->send_cq, &wc);
		result = target->table->cancel(end->qp, &none);
		if (!err && result && result != -ENOTCONN)
			err = expect(target, "cancel of nothing", result, 0);
		if (!err)
			err = post_send_of(target, round % 3 ? 4 : 1);
	}
	if (!err)
		err = expect(target, "cancel in the end", result, -ENOTCONN);
	return err;
}

static int run_cancel_after_error(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = {
		.manual = true, .depth = 1, .num_mrs = 1, .more_wrs = MORE_WRS, .seed = 4,
	};

	return kverbs_target_run(report, &spec, cancel_after_error);
}

/* The WQEBB index of the device has 16 bits. */
static int index_wraps(struct kverbs_target *target)
{
	return kverbs_target_commands(target, 9000);
}

static int run_wrap(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = {
		.manual = settings->seed & 1,
		.depth = 7,
		.num_mrs = 1,
		.bad_chance = 12,
		.reads = true,
		.pooled = settings->seed & 2,
		.seed = settings->seed,
	};

	return kverbs_target_run(report, &spec, index_wraps);
}

/**
 * struct shared - WRs behind a response, some with the same wr_cqe
 * @cqe: that wr_cqe
 * @wrs: the WRs
 * @sges: of the long ones
 * @num_shared: WRs with this wr_cqe
 * @num_marked: those of them that are signaled
 */
struct shared {
	struct ib_cqe cqe;
	struct kverbs_single wrs[MORE_WRS];
	struct ib_sge sges[4];
	u32 num_shared;
	u32 num_marked;
};

/* Inline or not, of one WQEBB or two, signaled or not, with a fence or not. */
static int post_one_of(struct kverbs_target *target, struct shared *shared, u32 i)
{
	const u32 random = prandom_u32_state(&target->random);
	struct kverbs_end *end = target_end(target);
	struct kverbs_single *single = &shared->wrs[i];
	bool is_shared = random & 1;
	int err = 0;

	kverbs_single_send(single, end, 0, 20);
	single->send.send_flags = !is_shared || random & 2 ? IB_SEND_SIGNALED : 0;
	single->send.send_flags |= random & 4 ? IB_SEND_FENCE : 0;
	single->send.wr_cqe = is_shared ? &shared->cqe : &only_command(target)->error_cqe;
	if (random & 8) {
		single->send.send_flags |= IB_SEND_INLINE;
		single->sge.addr = (uintptr_t)(end->memory + KVERBS_LOCAL);
	} else if (random & 16) {
		single->send.sg_list = shared->sges;
		single->send.num_sge = ARRAY_SIZE(shared->sges);
	}
	shared->num_shared += is_shared;
	shared->num_marked += is_shared && random & 2;
	if (!is_shared)
		err = kverbs_post_slot(target->pair, client_end(target), (target->started + i) % KVERBS_SLOTS,
				       SZ_64);
	return err ?: kverbs_post_single(target->pair, end, single);
}

static int post_shared(struct kverbs_target *target, struct shared *shared)
{
	struct kverbs_end *end = target_end(target);
	int err = 0;
	u32 i;

	*shared = (struct shared){};
	for (i = 0; i < ARRAY_SIZE(shared->sges); i++)
		shared->sges[i] = (struct ib_sge){ end->dma + KVERBS_LOCAL, 5, end->pd->local_dma_lkey };
	for (i = 0; i < MORE_WRS && !err; i++)
		err = post_one_of(target, shared, i);
	return err;
}

static int cancel_shared(struct kverbs_target *target, struct shared *shared)
{
	struct ib_qp *qp = target_end(target)->qp;
	struct kverbs_command *command = only_command(target);
	struct ib_sig_err error;
	int err;

	err = expect(target, "the failed MR", target->table->next_failed(qp, &error) == command->mrs[0], true);
	if (!err)
		err = expect(target, "cancelled with one wr_cqe", target->table->cancel(qp, &shared->cqe),
			     shared->num_shared);
	if (!err)
		err = expect(target, "cancelled again", target->table->cancel(qp, &shared->cqe), 0);
	if (!err)
		err = expect(target, "cancelled responses", target->table->cancel(qp, &command->cqe), 1);
	if (!err)
		err = expect(target, "the second one", !target->table->next_failed(qp, &error), true);
	return err ?: expect(target, "resume", target->table->resume(qp), 0);
}

/* Each signaled one once: marked if it was cancelled, successful otherwise. */
static int expect_completions(struct kverbs_target *target, struct shared *shared)
{
	const struct kverbs_command *command = only_command(target);
	const u32 sent = MORE_WRS - shared->num_shared;
	u32 i, marked = 0;
	struct ib_wc wc;
	int err = 0;

	for (i = 0; i < 1 + shared->num_marked + sent && !err; i++) {
		bool is_sent;

		err = kverbs_await(target->pair, target_end(target)->send_cq, &wc);
		if (err)
			return err;
		is_sent = wc.wr_cqe == &command->error_cqe;
		marked += cxib_wc_is_cancelled(&wc);
		err = expect(target, "mark", cxib_wc_is_cancelled(&wc), !is_sent);
		if (!err && is_sent)
			err = expect(target, "status", wc.status, IB_WC_SUCCESS);
		if (!err)
			err = expect(target, "opcode", wc.opcode, IB_WC_SEND);
	}
	for (i = 0; i < sent && !err; i++)
		err = kverbs_await(target->pair, client_end(target)->recv_cq, &wc);
	if (!err)
		err = kverbs_await_nothing(target->pair);
	return err ?: expect(target, "marked completions", marked, 1 + shared->num_marked);
}

/* The receive of the cancelled response is left. */
static int end_round(struct kverbs_target *target)
{
	struct kverbs_single single;
	struct ib_wc wc;
	int err;

	err = expect(target, "MRs with an error", kverbs_target_find_bad(target, only_command(target)), 1);
	only_command(target)->busy = false;
	only_command(target)->posted = false;
	kverbs_single_send(&single, target_end(target), 9, 8);
	if (!err)
		err = kverbs_post_single(target->pair, target_end(target), &single);
	if (!err)
		err = kverbs_await(target->pair, target_end(target)->send_cq, &wc);
	return err ?: kverbs_await(target->pair, client_end(target)->recv_cq, &wc);
}

static int cancel_several(struct kverbs_target *target)
{
	struct shared shared;
	int err = 0;
	u32 round;

	for (round = 0; round < 30 && !err; round++) {
		err = stop_at_bad(target);
		if (!err)
			err = post_shared(target, &shared);
		if (!err)
			err = cancel_shared(target, &shared);
		if (!err)
			err = expect_completions(target, &shared);
		if (!err)
			err = end_round(target);
	}
	return err ? kverbs_fail(target->pair->report, "in round %u", round) : 0;
}

static int run_several(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = {
		.manual = true, .depth = 1, .num_mrs = 1, .more_wrs = 2 * MORE_WRS, .seed = settings->seed,
	};

	return kverbs_target_run(report, &spec, cancel_several);
}

/* What is announced before SQD, with a wrong block in the first command, is sent before the event. */
static int drain_with_event(struct kverbs_target *target)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_SQD, .en_sqd_async_notify = 1 };
	struct kverbs_end *end = target_end(target);
	struct ib_wc wc;
	int err = 0;
	u32 i;

	WRITE_ONCE(end->last_event, -1);
	for (i = 0; i < target->spec.depth && !err; i++) {
		target->spec.bad_chance = i ? 0 : 100;
		err = kverbs_target_start(target, &target->slots[i]);
	}
	if (!err)
		err = expect(target, "way to SQD",
			     ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_EN_SQD_ASYNC_NOTIFY), 0);
	if (!err)
		err = await_event(target, IB_EVENT_SQ_DRAINED);
	/* One response is cancelled. */
	for (i = 1; i < target->spec.depth && !err; i++)
		err = kverbs_await(target->pair, client_end(target)->recv_cq, &wc);
	return err ?: expect_no_response(target);
}

/* All completions are there; the client has the receive of the cancelled response left. */
static int leave_drain(struct kverbs_target *target)
{
	struct kverbs_end *end = target_end(target);
	struct kverbs_single single;
	struct ib_wc wc;
	int err = expect(target, "way to RTS", kverbs_to_state(end, IB_QPS_RTS), 0);
	u32 i;

	for (i = 0; i < target->spec.depth && !err; i++) {
		err = kverbs_await(target->pair, end->send_cq, &wc);
		target->slots[i].busy = false;
		target->slots[i].posted = false;
	}
	for (i = 0; i < target->spec.depth && !err; i++)
		err = expect(target, "MRs with an error", kverbs_target_find_bad(target, &target->slots[i]), !i);
	kverbs_single_send(&single, end, 1, 8);
	if (!err)
		err = kverbs_post_single(target->pair, end, &single);
	if (!err)
		err = kverbs_await(target->pair, end->send_cq, &wc);
	return err ?: kverbs_await(target->pair, client_end(target)->recv_cq, &wc);
}

static int drain_tells_truth(struct kverbs_target *target)
{
	int i, err = 0;

	for (i = 0; i < 10 && !err; i++) {
		err = drain_with_event(target);
		if (!err)
			err = leave_drain(target);
	}
	return err;
}

static int run_drained(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	const struct kverbs_target_spec spec = { .depth = 4, .num_mrs = 1, .seed = settings->seed };

	return kverbs_target_run(report, &spec, drain_tells_truth);
}

const struct kverbs_case kverbs_pipelining_error_cases[] = {
	{ "pipelining_read_and_response", run_read },
	{ "pipelining_unprotected_refused", run_refused },
	{ "pipelining_refused_as_a_whole", run_whole },
	{ "pipelining_error_without_report", run_without_report },
	{ "pipelining_wrong_report", run_wrong_report },
	{ "pipelining_cancel_after_error", run_cancel_after_error },
	{ "pipelining_transfer_twice", run_twice },
	{ "pipelining_cancel_several", run_several },
	{ "pipelining_drained_sends_no_more", run_drained },
	{ "pipelining_index_wraps", run_wrap },
	{}
};
