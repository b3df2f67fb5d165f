// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * MRs with signatures: the HCA inserts, strips or passes protection information, and reports wrong
 * information.
 *
 * The second end owns the MR. The first end accesses it by RDMA, and the second end accesses it
 * with its own WRs.
 */
#include <linux/prandom.h>
#include <linux/slab.h>

#include "protection.h"
#include "single.h"

#define BLOCKS		9
#define WRONG_BLOCK	5
#define LONGEST_BLOCK	4160
#define IMAGE_SIZE	(BLOCKS * (LONGEST_BLOCK + KVERBS_DIF_SIZE))
#define UNTOUCHED	0xee

/* Offsets of the data and of the metadata in the exposed area. */
#define DATA_PLACE	KVERBS_EXPOSED
#define METADATA_PLACE	(KVERBS_EXPOSED + SZ_64K)
#define PIECES_MAX	4
#define GAP		100

static const struct kverbs_tags tags = { .application = 0x1234, .reference = 0xfffffffc };

/* The part of a block that a test corrupts. */
enum fault {
	FAULT_NONE,
	FAULT_DATA,
	FAULT_GUARD,
	FAULT_APPLICATION_TAG,
	FAULT_REFERENCE_TAG,
};

/**
 * struct transfer - a transfer with signatures
 * @interval: bytes of a block
 * @wire: guard of the blocks on the wire
 * @memory: guard of the blocks in memory
 * @to_memory: the transfer writes to the MR
 * @is_local: the end that owns the MR posts the WR
 * @in_pieces: the MR is scattered
 * @fault: corrupted part of a block at the source
 */
struct transfer {
	u16 interval;
	enum kverbs_guard wire;
	enum kverbs_guard memory;
	bool to_memory;
	bool is_local;
	bool in_pieces;
	enum fault fault;
};

/**
 * struct bench - objects of all transfers
 * @pair: two ends
 * @mr: MR with signatures
 * @data: blocks without protection information
 * @information: protection information on the wire, then in memory
 * @random: state of the random numbers for the data
 */
struct bench {
	struct kverbs_pair *pair;
	struct ib_mr *mr;
	u8 data[BLOCKS * LONGEST_BLOCK];
	u8 information[2][BLOCKS * KVERBS_DIF_SIZE];
	struct rnd_state random;
};

/* Scattered memory of the MR. */
struct pieces {
	struct scatterlist list[PIECES_MAX];
	int count;
};

static void cut(struct pieces *pieces, u64 address, u32 length, bool in_pieces)
{
	u32 rest = length, i;

	pieces->count = in_pieces ? PIECES_MAX : 1;
	sg_init_table(pieces->list, PIECES_MAX);
	for (i = 0; i < pieces->count; i++) {
		u32 part = i == pieces->count - 1 ? rest : length / PIECES_MAX - 3;

		sg_dma_address(&pieces->list[i]) = address;
		sg_dma_len(&pieces->list[i]) = part;
		address += part + GAP;
		rest -= part;
	}
}

static void find_memory(const struct bench *bench, const struct transfer *transfer,
			struct pieces *data, struct pieces *metadata)
{
	const u64 dma = bench->pair->ends[1].dma;

	cut(data, dma + DATA_PLACE, BLOCKS * transfer->interval, transfer->in_pieces);
	cut(metadata, dma + METADATA_PLACE, BLOCKS * KVERBS_DIF_SIZE, transfer->in_pieces);
	if (transfer->memory == KVERBS_GUARD_NONE)
		metadata->count = 0;
}

/* Copies the contents of the scattered memory in order. */
static void move(const struct bench *bench, struct pieces *pieces, u8 *bytes, bool to_memory)
{
	struct kverbs_end *end = &bench->pair->ends[1];
	struct scatterlist *piece;
	int i;

	for_each_sg(pieces->list, piece, pieces->count, i) {
		u8 *place = end->memory + (sg_dma_address(piece) - end->dma);

		if (to_memory)
			memcpy(place, bytes, sg_dma_len(piece));
		else
			memcpy(bytes, place, sg_dma_len(piece));
		bytes += sg_dma_len(piece);
	}
}

static void make_data(struct bench *bench, const struct transfer *transfer)
{
	const enum kverbs_guard guards[2] = { transfer->wire, transfer->memory };
	u32 form, i;

	prandom_bytes_state(&bench->random, bench->data, BLOCKS * transfer->interval);
	for (form = 0; form < 2; form++)
		for (i = 0; i < BLOCKS && guards[form] != KVERBS_GUARD_NONE; i++)
			kverbs_protect(bench->information[form] + i * KVERBS_DIF_SIZE, guards[form],
				    &tags, i, bench->data + i * transfer->interval,
				    transfer->interval);
}

static u32 wire_length(const struct transfer *transfer)
{
	u32 length = BLOCKS * transfer->interval;

	return transfer->wire == KVERBS_GUARD_NONE ? length : length + BLOCKS * KVERBS_DIF_SIZE;
}

/* Builds the data as they are on the wire. */
static void make_wire(const struct bench *bench, const struct transfer *transfer, u8 *wire)
{
	u32 i;

	for (i = 0; i < BLOCKS; i++) {
		memcpy(wire, bench->data + i * transfer->interval, transfer->interval);
		wire += transfer->interval;
		if (transfer->wire == KVERBS_GUARD_NONE)
			continue;
		memcpy(wire, bench->information[0] + i * KVERBS_DIF_SIZE, KVERBS_DIF_SIZE);
		wire += KVERBS_DIF_SIZE;
	}
}

static void spoil(struct bench *bench, const struct transfer *transfer)
{
	u8 *information = bench->information[!transfer->to_memory] + WRONG_BLOCK * KVERBS_DIF_SIZE;

	switch (transfer->fault) {
	case FAULT_DATA:
		bench->data[WRONG_BLOCK * transfer->interval + 7] ^= 0x40;
		break;
	case FAULT_GUARD:
		information[1] ^= 0x01;
		break;
	case FAULT_APPLICATION_TAG:
		information[2] ^= 0x80;
		break;
	case FAULT_REFERENCE_TAG:
		information[7] ^= 0x01;
		break;
	default:
		break;
	}
}

static void fill_source(struct bench *bench, const struct transfer *transfer)
{
	struct kverbs_end *end = &bench->pair->ends[0], *peer = &bench->pair->ends[1];
	struct pieces data, metadata;

	make_data(bench, transfer);
	spoil(bench, transfer);
	memset(end->memory + KVERBS_LOCAL, UNTOUCHED, KVERBS_AREA_SIZE);
	memset(peer->memory + KVERBS_EXPOSED, UNTOUCHED, KVERBS_AREA_SIZE);
	find_memory(bench, transfer, &data, &metadata);
	if (transfer->to_memory) {
		make_wire(bench, transfer, end->memory + KVERBS_LOCAL);
	} else {
		move(bench, &data, bench->data, true);
		move(bench, &metadata, bench->information[1], true);
	}
	kverbs_to_device(end);
	kverbs_to_device(peer);
}

static int compare(struct bench *bench, const u8 *found, const u8 *expected, u32 length,
		   const char *name)
{
	u32 i;

	for (i = 0; i < length; i++)
		if (found[i] != expected[i])
			return kverbs_fail(bench->pair->report, "byte %u of %u of the %s is 0x%02x, should be 0x%02x",
					i, length, name, found[i], expected[i]);
	return 0;
}

static int check_memory(struct bench *bench, const struct transfer *transfer, u8 *image)
{
	struct pieces data, metadata;
	int err;

	kverbs_to_cpu(&bench->pair->ends[1]);
	find_memory(bench, transfer, &data, &metadata);
	move(bench, &data, image, false);
	err = compare(bench, image, bench->data, BLOCKS * transfer->interval, "data in memory");
	if (err || transfer->memory == KVERBS_GUARD_NONE)
		return err;
	move(bench, &metadata, image, false);
	return compare(bench, image, bench->information[1], BLOCKS * KVERBS_DIF_SIZE,
		       "metadata in memory");
}

static int check_wire(struct bench *bench, const struct transfer *transfer, u8 *image)
{
	struct kverbs_end *end = &bench->pair->ends[0];

	kverbs_to_cpu(end);
	make_wire(bench, transfer, image);
	return compare(bench, end->memory + KVERBS_LOCAL, image, wire_length(transfer),
		       "data on the wire");
}

static int check_destination(struct bench *bench, const struct transfer *transfer)
{
	u8 *image = kmalloc(IMAGE_SIZE, GFP_KERNEL);
	int err;

	if (!image)
		return -ENOMEM;
	err = transfer->to_memory ? check_memory(bench, transfer, image) :
				    check_wire(bench, transfer, image);
	kfree(image);
	return err;
}

static void describe_form(struct ib_sig_domain *domain, enum kverbs_guard guard, u16 interval)
{
	*domain = (struct ib_sig_domain){ .sig_type = IB_SIG_TYPE_NONE };
	if (guard == KVERBS_GUARD_NONE)
		return;
	domain->sig_type = IB_SIG_TYPE_T10_DIF;
	domain->sig.dif = (struct ib_t10_dif_domain){
		.bg_type = guard == KVERBS_GUARD_CRC ? IB_T10DIF_CRC : IB_T10DIF_CSUM,
		.pi_interval = interval,
		.app_tag = tags.application,
		.ref_tag = tags.reference,
		.ref_remap = true,
		.apptag_check_mask = 0xffff,
	};
}

static int map_region(struct bench *bench, const struct transfer *transfer)
{
	struct ib_sig_attrs *attrs = bench->mr->sig_attrs;
	struct pieces data, metadata;
	int err;

	attrs->check_mask = IB_SIG_CHECK_GUARD | IB_SIG_CHECK_APPTAG | IB_SIG_CHECK_REFTAG;
	describe_form(&attrs->wire, transfer->wire, transfer->interval);
	describe_form(&attrs->mem, transfer->memory, transfer->interval);
	find_memory(bench, transfer, &data, &metadata);
	err = ib_map_mr_sg_pi(bench->mr, data.list, data.count, NULL,
			      metadata.count ? metadata.list : NULL, metadata.count, NULL, SZ_4K);
	if (err)
		return kverbs_fail(bench->pair->report, "the region cannot be mapped: error %d", err);
	ib_update_fast_reg_key(bench->mr, ib_inc_rkey(bench->mr->rkey));
	return 0;
}

static void make_registration(const struct bench *bench, struct kverbs_single *single, u64 wr_id)
{
	*single = (struct kverbs_single){
		.send = {
			.wr_id = wr_id,
			.opcode = IB_WR_REG_MR_INTEGRITY,
			.send_flags = IB_SEND_SIGNALED,
		},
	};
	single->reg.mr = bench->mr;
	single->reg.key = bench->mr->rkey;
	single->reg.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ |
			     IB_ACCESS_REMOTE_WRITE;
}

/* Posts the registration as ULPs do: the WR after it shows its end. */
static int register_region(struct bench *bench)
{
	struct kverbs_end *end = &bench->pair->ends[0], *peer = &bench->pair->ends[1];
	struct kverbs_single registration, next;
	int err;

	make_registration(bench, &registration, 0);
	registration.send.send_flags = 0;
	kverbs_single_write(&next, peer, 1, end->dma + KVERBS_EXPOSED, end->pd->unsafe_global_rkey, 8);
	registration.send.next = &next.send;
	err = kverbs_post_single(bench->pair, peer, &registration);
	return err ?: kverbs_await_status(bench->pair, peer->send_cq, 1, IB_WC_SUCCESS);
}

static int register_signalled(struct bench *bench, enum ib_wc_status status)
{
	struct kverbs_end *peer = &bench->pair->ends[1];
	struct kverbs_single single;
	int err;

	make_registration(bench, &single, 4);
	err = kverbs_post_single(bench->pair, peer, &single);
	return err ?: kverbs_await_status(bench->pair, peer->send_cq, 4, status);
}

static int invalidate_region(struct bench *bench)
{
	struct kverbs_end *peer = &bench->pair->ends[1];
	struct kverbs_single single = {
		.send = {
			.wr_id = 2,
			.opcode = IB_WR_LOCAL_INV,
			.send_flags = IB_SEND_SIGNALED,
			.ex.invalidate_rkey = bench->mr->rkey,
		},
	};
	int err;

	err = kverbs_post_single(bench->pair, peer, &single);
	return err ?: kverbs_await_status(bench->pair, peer->send_cq, 2, IB_WC_SUCCESS);
}

/* Posts the WR at the end without the MR, with its rkey, or at the end with the MR. */
static int run_request(struct bench *bench, const struct transfer *transfer)
{
	struct kverbs_end *end = &bench->pair->ends[transfer->is_local];
	struct kverbs_single single;
	bool writes = transfer->to_memory != transfer->is_local;
	int err;

	kverbs_single_write(&single, end, 3, bench->mr->iova, bench->mr->rkey, wire_length(transfer));
	single.send.opcode = writes ? IB_WR_RDMA_WRITE : IB_WR_RDMA_READ;
	if (transfer->is_local) {
		single.sge.addr = bench->mr->iova;
		single.sge.lkey = bench->mr->lkey;
		single.rdma.remote_addr = bench->pair->ends[0].dma + KVERBS_LOCAL;
		single.rdma.rkey = bench->pair->ends[0].pd->unsafe_global_rkey;
	}
	err = kverbs_post_single(bench->pair, end, &single);
	return err ?: kverbs_await_status(bench->pair, end->send_cq, 3, IB_WC_SUCCESS);
}

/* The driver knows a signature error once the CQ has been polled. */
static int check_status(struct bench *bench, struct ib_mr_status *status)
{
	int err;

	err = kverbs_await_nothing(bench->pair);
	if (err)
		return err;
	err = ib_check_mr_status(bench->mr, IB_MR_CHECK_SIG_STATUS, status);
	if (err)
		return kverbs_fail(bench->pair->report, "the status cannot be checked: error %d", err);
	return 0;
}

static u32 expected_value(const struct bench *bench, const struct transfer *transfer)
{
	enum kverbs_guard guard = transfer->to_memory ? transfer->wire : transfer->memory;

	switch (transfer->fault) {
	case FAULT_APPLICATION_TAG:
		return tags.application;
	case FAULT_REFERENCE_TAG:
		return tags.reference + WRONG_BLOCK;
	default:
		return kverbs_guard_of(guard, bench->data + WRONG_BLOCK * transfer->interval,
				    transfer->interval);
	}
}

static u32 actual_value(const struct bench *bench, const struct transfer *transfer)
{
	const u8 *information = bench->information[!transfer->to_memory] +
				WRONG_BLOCK * KVERBS_DIF_SIZE;

	switch (transfer->fault) {
	case FAULT_APPLICATION_TAG:
		return get_unaligned_be16(information + 2);
	case FAULT_REFERENCE_TAG:
		return get_unaligned_be32(information + 4);
	default:
		return get_unaligned_be16(information);
	}
}

static enum ib_sig_err_type expected_type(const struct transfer *transfer)
{
	switch (transfer->fault) {
	case FAULT_APPLICATION_TAG:
		return IB_SIG_BAD_APPTAG;
	case FAULT_REFERENCE_TAG:
		return IB_SIG_BAD_REFTAG;
	default:
		return IB_SIG_BAD_GUARD;
	}
}

static int check_error(struct bench *bench, const struct transfer *transfer,
		       const struct ib_sig_err *error)
{
	struct kverbs_report *report = bench->pair->report;

	if (error->err_type != expected_type(transfer))
		return kverbs_fail(report, "the error is of type %d, should be %d", error->err_type,
				expected_type(transfer));
	if (error->expected != expected_value(bench, transfer) ||
	    error->actual != actual_value(bench, transfer))
		return kverbs_fail(report, "0x%x was expected, 0x%x found; it should be 0x%x and 0x%x",
				error->expected, error->actual, expected_value(bench, transfer),
				actual_value(bench, transfer));
	if (error->sig_err_offset / (transfer->interval + KVERBS_DIF_SIZE) != WRONG_BLOCK)
		return kverbs_fail(report, "the error is at byte %llu, that is not in block %u",
				error->sig_err_offset, WRONG_BLOCK);
	if (error->key >> 8 != bench->mr->rkey >> 8)
		return kverbs_fail(report, "the error is one of key 0x%x, not 0x%x", error->key,
				bench->mr->rkey);
	return 0;
}

static int check_outcome(struct bench *bench, const struct transfer *transfer)
{
	struct ib_mr_status status;
	int err;

	err = check_status(bench, &status);
	if (err)
		return err;
	if (!!status.fail_status != (transfer->fault != FAULT_NONE))
		return kverbs_fail(bench->pair->report, "%s error is reported (type %d, expected 0x%x, found 0x%x)",
				status.fail_status ? "an" : "no", status.sig_err.err_type,
				status.sig_err.expected, status.sig_err.actual);
	if (status.fail_status)
		return check_error(bench, transfer, &status.sig_err);
	return check_destination(bench, transfer);
}

static int run_transfer(struct bench *bench, const struct transfer *transfer)
{
	int err;

	fill_source(bench, transfer);
	err = map_region(bench, transfer);
	if (!err)
		err = register_region(bench);
	if (!err)
		err = run_request(bench, transfer);
	if (!err)
		err = check_outcome(bench, transfer);
	if (!err)
		err = invalidate_region(bench);
	if (!err)
		return 0;
	return kverbs_fail(bench->pair->report, "blocks of %u, guards %d on the wire and %d in memory, %s memory, %s, %s, fault %d",
			transfer->interval, transfer->wire, transfer->memory,
			transfer->to_memory ? "to" : "from",
			transfer->is_local ? "by its owner" : "by the peer",
			transfer->in_pieces ? "in pieces" : "at a stretch", transfer->fault);
}

/* The bits of the number select the variant of the transfer. */
static void choose_way(struct transfer *transfer, unsigned int number)
{
	transfer->to_memory = number & 1;
	transfer->is_local = number & 2;
	transfer->in_pieces = number & 4;
}

static const struct {
	enum kverbs_guard wire, memory;
} forms[] = {
	{ KVERBS_GUARD_CRC, KVERBS_GUARD_NONE },
	{ KVERBS_GUARD_CHECKSUM, KVERBS_GUARD_NONE },
	{ KVERBS_GUARD_NONE, KVERBS_GUARD_CRC },
	{ KVERBS_GUARD_NONE, KVERBS_GUARD_CHECKSUM },
	{ KVERBS_GUARD_CRC, KVERBS_GUARD_CRC },
	{ KVERBS_GUARD_CRC, KVERBS_GUARD_CHECKSUM },
	{ KVERBS_GUARD_CHECKSUM, KVERBS_GUARD_CHECKSUM },
};

static int all_forms_of_blocks(struct bench *bench, u16 interval)
{
	struct transfer transfer = { .interval = interval };
	unsigned int form, way;
	int err = 0;

	for (form = 0; form < ARRAY_SIZE(forms); form++)
		for (way = 0; way < 8 && !err; way++) {
			transfer.wire = forms[form].wire;
			transfer.memory = forms[form].memory;
			choose_way(&transfer, way);
			err = run_transfer(bench, &transfer);
		}
	return err;
}

static int all_forms(struct bench *bench)
{
	static const u16 intervals[] = { 512, 520, 4096, LONGEST_BLOCK };
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(intervals) && !err; i++)
		err = all_forms_of_blocks(bench, intervals[i]);
	return err;
}

/* The in-tree driver does not support this size. */
static int blocks_of_4048(struct bench *bench)
{
	return all_forms_of_blocks(bench, 4048);
}

/* A side without protection information cannot have an error. */
static bool can_be_wrong(const struct transfer *transfer)
{
	return (transfer->to_memory ? transfer->wire : transfer->memory) != KVERBS_GUARD_NONE;
}

/* All transfers use one MR: after a signature error it reports the next one. */
static int all_faults(struct bench *bench)
{
	struct transfer transfer = { .interval = 512 };
	unsigned int form, way, fault;
	int err = 0;

	for (form = 0; form < ARRAY_SIZE(forms) && !err; form++)
		for (way = 0; way < 8 && !err; way++) {
			transfer.wire = forms[form].wire;
			transfer.memory = forms[form].memory;
			choose_way(&transfer, way);
			for (fault = FAULT_NONE; fault <= FAULT_REFERENCE_TAG && !err; fault++) {
				transfer.fault = fault;
				if (!fault || can_be_wrong(&transfer))
					err = run_transfer(bench, &transfer);
			}
		}
	return err;
}

static const struct transfer usual = {
	.interval = 512,
	.wire = KVERBS_GUARD_CRC,
	.memory = KVERBS_GUARD_CRC,
	.to_memory = true,
	.in_pieces = true,
};

/* The HCA accepts wrong information in a field that it does not check. */
static int pass_what_is_not_checked(struct bench *bench)
{
	struct transfer transfer = usual;
	struct ib_mr_status status;
	int err;

	transfer.fault = FAULT_REFERENCE_TAG;
	fill_source(bench, &transfer);
	err = map_region(bench, &transfer);
	if (err)
		return err;
	bench->mr->sig_attrs->check_mask = IB_SIG_CHECK_GUARD | IB_SIG_CHECK_APPTAG;
	err = register_region(bench);
	if (!err)
		err = run_request(bench, &transfer);
	if (!err)
		err = check_status(bench, &status);
	if (!err && status.fail_status)
		err = kverbs_fail(bench->pair->report, "a tag that is not to be checked is wrong");
	/* The wrong tag is passed unchanged. */
	memcpy(bench->information[1], bench->information[0], sizeof(bench->information[0]));
	return err ?: check_destination(bench, &transfer);
}

/*
 * Registers the MR without checks: with checks the device could hold a signature error that no
 * caller has read.
 */
static int register_unchecked(struct bench *bench)
{
	struct kverbs_end *peer = &bench->pair->ends[1];
	const struct ib_send_wr *bad;
	struct ib_mr_status status;
	struct kverbs_single single;
	int err;

	err = map_region(bench, &usual);
	if (!err)
		err = register_region(bench);
	if (!err)
		err = invalidate_region(bench);
	if (err)
		return err;
	make_registration(bench, &single, 4);
	if (ib_post_send(peer->qp, &single.send, &bad) != -EINVAL)
		return kverbs_fail(bench->pair->report, "it can be registered without having been checked");
	err = check_status(bench, &status);
	return err ?: run_transfer(bench, &usual);
}

/* Each WR completes once, however many WQEs the driver posts for it. */
static int register_twice(struct bench *bench)
{
	struct ib_mr_status status;
	int err;

	err = map_region(bench, &usual);
	if (!err)
		err = register_signalled(bench, IB_WC_SUCCESS);
	if (!err)
		err = check_status(bench, &status);
	if (!err)
		err = register_signalled(bench, IB_WC_MW_BIND_ERR);
	if (!err)
		err = kverbs_await_nothing(bench->pair);
	if (!err)
		err = check_status(bench, &status);
	if (!err)
		err = kverbs_reconnect(bench->pair);
	if (!err)
		err = invalidate_region(bench);
	return err ?: run_transfer(bench, &usual);
}

static int flush_registrations(struct bench *bench)
{
	struct kverbs_end *peer = &bench->pair->ends[1];
	struct ib_mr_status status;
	int err, i;

	err = kverbs_to_state(peer, IB_QPS_ERR);
	if (err)
		return kverbs_fail(bench->pair->report, "no state of errors: error %d", err);
	for (i = 0; i < 3 && !err; i++) {
		err = map_region(bench, &usual);
		if (!err)
			err = register_signalled(bench, IB_WC_WR_FLUSH_ERR);
		if (!err)
			err = check_status(bench, &status);
	}
	if (!err)
		err = kverbs_reconnect(bench->pair);
	return err ?: run_transfer(bench, &usual);
}

/* The driver counts signature errors in CQEs that are discarded with their QP. */
static int reset_with_error(struct bench *bench)
{
	struct transfer wrong = usual;
	struct ib_mr_status status;
	int err;

	wrong.fault = FAULT_GUARD;
	fill_source(bench, &wrong);
	err = map_region(bench, &wrong);
	if (!err)
		err = register_region(bench);
	if (!err)
		err = run_request(bench, &wrong);
	if (!err)
		err = kverbs_reconnect(bench->pair);
	if (!err)
		err = check_status(bench, &status);
	if (!err)
		err = invalidate_region(bench);
	return err ?: run_transfer(bench, &wrong);
}

static int with_region(struct kverbs_pair *pair, u64 seed, int (*test)(struct bench *bench))
{
	struct bench *bench = kzalloc(sizeof(*bench), GFP_KERNEL);
	int err;

	if (!bench)
		return -ENOMEM;
	bench->pair = pair;
	prandom_seed_state(&bench->random, seed);
	bench->mr = ib_alloc_mr_integrity(pair->ends[1].pd, PIECES_MAX, PIECES_MAX);
	if (IS_ERR(bench->mr)) {
		err = kverbs_fail(pair->report, "no region with signatures: error %ld",
			       PTR_ERR(bench->mr));
	} else {
		err = test(bench);
		ib_dereg_mr(bench->mr);
	}
	kfree(bench);
	return err;
}

static int run(struct kverbs_report *report, const struct kverbs_settings *settings,
	       int (*test)(struct bench *bench))
{
	struct kverbs_pair *pair = kzalloc(sizeof(*pair), GFP_KERNEL);
	struct kverbs_spec spec = kverbs_usual;
	int err;

	if (!pair)
		return -ENOMEM;
	spec.is_signed = true;
	spec.mtu = IB_MTU_4096;
	err = kverbs_pair_create(pair, &spec, report);
	if (!err)
		err = with_region(pair, settings->seed, test);
	kverbs_pair_destroy(pair);
	kfree(pair);
	return err;
}

static int run_forms(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run(report, settings, all_forms);
}

static int run_4048(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run(report, settings, blocks_of_4048);
}

static int run_faults(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run(report, settings, all_faults);
}

static int run_unchecked_parts(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run(report, settings, pass_what_is_not_checked);
}

static int run_unchecked(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run(report, settings, register_unchecked);
}

static int run_twice(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run(report, settings, register_twice);
}

static int run_flushed(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run(report, settings, flush_registrations);
}

static int run_reset(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run(report, settings, reset_with_error);
}

const struct kverbs_case kverbs_signature_cases[] = {
	{ "signatures_all_forms", run_forms },
	{ "signatures_4048_byte_blocks", run_4048 },
	{ "signatures_with_faults", run_faults },
	{ "signatures_parts_unchecked", run_unchecked_parts },
	{ "signatures_registered_unchecked", run_unchecked },
	{ "signatures_registered_twice", run_twice },
	{ "signatures_flushed", run_flushed },
	{ "signatures_reset_with_error", run_reset },
	{}
};
