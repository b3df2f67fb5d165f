// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether the host combines writes.
 *
 * A request of up to a register's length can be written into the register of its
 * doorbell (BlueFlame), and the device does not fetch it from memory. It has to
 * arrive as one write of 64 bytes, or several; whether processor, bridges and
 * hypervisor leave it whole, nobody says. So it is tried: a queue pair of the
 * trial's own gets requests that do nothing. In memory they want no completion,
 * in the register they do, so each completion is of a request that the device has
 * taken from the register. The last one wants a completion in memory, too, and
 * ends the trial.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/pci.h>

#include "hw/commands_queue_pairs.h"
#include "hw/mkey.h"
#include "hw/work_queue.h"
#include "verbs/cq/cq.h"
#include "verbs/qp/post.h"

/*
 * Interrupts can come between the parts of any one request. As many fit into a
 * page, and so do their completions.
 */
#define LOG_REQUESTS	6
#define REQUESTS	BIT(LOG_REQUESTS)
#define LAST		(REQUESTS - 1)

/* They take microseconds; a device that is stuck is found out by others. */
#define LIMIT_MS	5000

/* Word of a queue pair's doorbell record. */
#define SND_DBR	1

#define LOG_MESSAGE	12

/* The parts of the trial's memory, a page each. */
enum { CQ_PART, SQ_OFFSET, PARTS };

/**
 * struct trial - what a trial has
 * @ibdev: RDMA device
 * @uar: number of its page of doorbells
 * @doorbells: the page, writes to which are combined if they can be
 * @register_offset: where on it the next request goes: the two buffers of a
 *	register take turns
 * @buffer: memory of its queues
 * @dbrs: their doorbell records
 * @pd: number of its protection domain
 * @cqn: number of its completion queue
 * @qpn: number of its queue pair
 */
struct trial {
	struct cxib_ibdev *ibdev;
	u32 uar;
	void __iomem *doorbells;
	u32 register_offset;
	struct cxib_buffer buffer;
	struct cxib_dbr dbrs[PARTS];
	u32 pd;
	u32 cqn;
	u32 qpn;
};

/* What is written at once. */
union block {
	struct hw_wqe_ctrl_seg control;
	u64 words[CXIB_WQEBB_SIZE / sizeof(u64)];
};

static u32 register_buffer_size(const struct trial *trial)
{
	return BIT(trial->ibdev->hw->caps.log_bf_reg_size) / 2;
}

static bool device_takes_requests(const struct cxib_device_caps *caps)
{
	const u32 size = BIT(caps->log_bf_reg_size);

	return caps->bf && size >= 2 * CXIB_WQEBB_SIZE &&
	       size <= CXIB_UAR_SIZE - HW_UAR_OFFSET_BLUE_FLAME;
}

static struct cxib_buffer part(const struct trial *trial, unsigned int page)
{
	return (struct cxib_buffer){ .pages = &trial->buffer.pages[page], .page_count = 1 };
}

static int make_doorbells(struct trial *trial)
{
	struct cxib_ibdev *ibdev = trial->ibdev;
	int err;

	err = cxib_cmd_alloc_uar(commands_of(ibdev), 0, &trial->uar);
	if (err)
		return err;
	trial->register_offset = HW_UAR_OFFSET_BLUE_FLAME;
	trial->doorbells = ioremap_wc(cxib_uar_address(ibdev->hw->bus, trial->uar),
				      CXIB_UAR_SIZE);
	if (trial->doorbells)
		return 0;
	cxib_end_in_device(ibdev, NULL, cxib_cmd_dealloc_uar(commands_of(ibdev), 0, trial->uar));
	return -ENOMEM;
}

static void free_doorbells(struct trial *trial)
{
	struct cxib_ibdev *ibdev = trial->ibdev;

	iounmap(trial->doorbells);
	cxib_end_in_device(ibdev, NULL, cxib_cmd_dealloc_uar(commands_of(ibdev), 0, trial->uar));
}

static int make_memory(struct trial *trial)
{
	struct cxib_hw *hw = trial->ibdev->hw;
	struct cxib_buffer completions;
	int err;

	err = cxib_buffer_create(&trial->buffer, hw->bus->dev, PARTS * PAGE_SIZE);
	if (err)
		return err;
	err = cxib_dbr_alloc(hw, &trial->dbrs[CQ_PART]);
	if (err)
		goto destroy_buffer;
	err = cxib_dbr_alloc(hw, &trial->dbrs[SQ_OFFSET]);
	if (err)
		goto destroy_record;
	completions = part(trial, CQ_PART);
	cxib_cq_invalidate(&completions, LOG_REQUESTS);
	return 0;

destroy_record:
	cxib_dbr_free(hw, &trial->dbrs[CQ_PART]);
destroy_buffer:
	cxib_buffer_destroy(&trial->buffer, hw->bus->dev);
	return err;
}

/* @err: how the command has ended that told the device of the memory; 0: it uses it no more */
static void free_memory(struct trial *trial, int err)
{
	struct cxib_buffer none = {};

	cxib_free_queue_memory(trial->ibdev, &none, &trial->dbrs[SQ_OFFSET], err);
	cxib_free_queue_memory(trial->ibdev, &trial->buffer, &trial->dbrs[CQ_PART], err);
}

static int create_cq(struct trial *trial)
{
	const struct cxib_buffer buffer = part(trial, CQ_PART);
	struct cxib_hw *hw = trial->ibdev->hw;
	const struct cxib_cq_params params = {
		.buffer = &buffer,
		.log_size = LOG_REQUESTS,
		.uar = hw->uar_index,
		.eqn = hw->comp_eqs[0].eqn,
		.dbr = trial->dbrs[CQ_PART].dma,
	};

	return cxib_cmd_create_cq(&hw->commands, &params, &trial->cqn);
}

static int create_qp(struct trial *trial)
{
	const struct cxib_buffer buffer = part(trial, SQ_OFFSET);
	struct hw_qpc context = {};

	hw_qpc_set_st(&context, HW_QP_SERVICE_TYPE_UD);
	hw_qpc_set_pm_state(&context, HW_QP_MIGRATION_STATE_MIGRATED);
	hw_qpc_set_pd(&context, trial->pd);
	hw_qpc_set_uar_page(&context, trial->uar);
	hw_qpc_set_user_index(&context, CXIB_NO_USER_INDEX);
	hw_qpc_set_log_sq_size(&context, LOG_REQUESTS);
	hw_qpc_set_rq_type(&context, HW_QP_RQ_TYPE_ZERO_LEN_RQ);
	hw_qpc_set_cqn_snd(&context, trial->cqn);
	hw_qpc_set_cqn_rcv(&context, trial->cqn);
	hw_qpc_set_dbr_addr(&context, trial->dbrs[SQ_OFFSET].dma);
	return cxib_cmd_create_qp(commands_of(trial->ibdev), 0, &context, &buffer, &trial->qpn);
}

static int change_state(const struct trial *trial, u16 opcode)
{
	struct cxib_qp_transition transition = { .opcode = opcode, .qpn = trial->qpn };

	hw_qpc_set_st(&transition.context, HW_QP_SERVICE_TYPE_UD);
	hw_qpc_set_pm_state(&transition.context, HW_QP_MIGRATION_STATE_MIGRATED);
	hw_qpc_set_mtu(&transition.context, HW_QP_MTU_4K_BYTES);
	hw_qpc_set_log_msg_max(&transition.context, LOG_MESSAGE);
	hw_ads_set_vhca_port_num(hw_qpc_primary_address_path(&transition.context), 1);
	return cxib_cmd_modify_qp(commands_of(trial->ibdev), &transition);
}

static int get_ready(const struct trial *trial)
{
	return change_state(trial, HW_CMD_RST2INIT_QP) ?:
	       change_state(trial, HW_CMD_INIT2RTR_QP) ?:
	       change_state(trial, HW_CMD_RTR2RTS_QP);
}

/* In reset first: then the device does nothing about it any more. */
static void destroy_qp(struct trial *trial)
{
	struct cxib_command_queue *commands = commands_of(trial->ibdev);

	cxib_end_in_device(trial->ibdev, NULL, cxib_cmd_2rst_qp(commands, 0, trial->qpn));
	cxib_end_in_device(trial->ibdev, NULL, cxib_cmd_destroy_qp(commands, 0, trial->qpn));
}

static int make_queues(struct trial *trial)
{
	struct cxib_ibdev *ibdev = trial->ibdev;
	struct cxib_command_queue *commands = commands_of(ibdev);
	int err;

	err = cxib_cmd_alloc_pd(commands, 0, &trial->pd);
	if (err)
		return err;
	err = create_cq(trial);
	if (err)
		goto dealloc_pd;
	err = create_qp(trial);
	if (err)
		goto destroy_cq;
	err = get_ready(trial);
	if (err)
		goto destroy_qp;
	return 0;

destroy_qp:
	destroy_qp(trial);
destroy_cq:
	cxib_end_in_device(ibdev, NULL, cxib_cmd_destroy_cq(commands, 0, trial->cqn));
dealloc_pd:
	cxib_end_in_device(ibdev, NULL, cxib_cmd_dealloc_pd(commands, 0, trial->pd));
	return err;
}

static void destroy_queues(struct trial *trial)
{
	struct cxib_ibdev *ibdev = trial->ibdev;
	struct cxib_command_queue *commands = commands_of(ibdev);

	destroy_qp(trial);
	cxib_end_in_device(ibdev, NULL, cxib_cmd_destroy_cq(commands, 0, trial->cqn));
	cxib_end_in_device(ibdev, NULL, cxib_cmd_dealloc_pd(commands, 0, trial->pd));
}

static int make(struct trial *trial)
{
	int err;

	err = make_doorbells(trial);
	if (err)
		return err;
	err = make_memory(trial);
	if (err)
		goto free_doorbells;
	err = make_queues(trial);
	if (err)
		goto free_memory;
	return 0;

free_memory:
	free_memory(trial, err);
free_doorbells:
	free_doorbells(trial);
	return err;
}

static void end(struct trial *trial)
{
	destroy_queues(trial);
	free_memory(trial, 0);
	free_doorbells(trial);
}

static void write_nop(const struct trial *trial, struct hw_wqe_ctrl_seg *control, u16 index,
		      enum hw_completion_mode mode)
{
	control->dw[0] = hw_wqe_ctrl_seg_pack_00(0, index, HW_WQE_OPCODE_NOP);
	control->dw[1] = hw_wqe_ctrl_seg_pack_04(trial->qpn, 1);
	control->dw[2] = hw_wqe_ctrl_seg_pack_08(0, HW_FENCE_MODE_NONE, mode, 0);
	control->dw[3] = hw_wqe_ctrl_seg_pack_0c(0);
}

static void post(struct trial *trial, u16 index)
{
	const struct cxib_buffer sq = part(trial, SQ_OFFSET);
	union block block = {};

	write_nop(trial, cxib_buffer_at(&sq, index * sizeof(block)), index,
		  index == LAST ? HW_COMPLETION_MODE_CQ_UPDATE : HW_COMPLETION_MODE_ONLY_ERROR);
	write_nop(trial, &block.control, index, HW_COMPLETION_MODE_CQ_UPDATE);
	/* A device that reads the record finds the request in memory. */
	dma_wmb();
	WRITE_ONCE(trial->dbrs[SQ_OFFSET].words[SND_DBR], cpu_to_be32(index + 1));
	/* A device that sees the register written finds the record. */
	wmb();
	__iowrite64_copy(trial->doorbells + trial->register_offset, block.words,
			 ARRAY_SIZE(block.words));
	/* It leaves the processor before the next one, which it must not mix with. */
	wmb();
	trial->register_offset ^= register_buffer_size(trial);
}

/*
 * The word of a completion that says what it is of. The ring is not passed twice, so
 * what the device has written there is no older.
 */
static bool read_completion(const struct trial *trial, u32 number, struct hw_cqe64 *copy)
{
	const struct cxib_buffer completions = part(trial, CQ_PART);
	const struct hw_cqe64 *entry = cxib_buffer_at(&completions, number * sizeof(*entry));
	const size_t last = ARRAY_SIZE(entry->dw) - 1;

	copy->dw[last] = READ_ONCE(entry->dw[last]);
	return hw_cqe64_get_opcode(copy) != HW_CQE_OPCODE_INVALID && !hw_cqe64_get_owner(copy);
}

static bool await_completion(const struct trial *trial, u32 number, unsigned long deadline,
			     struct hw_cqe64 *copy)
{
	while (!read_completion(trial, number, copy)) {
		if (time_after(jiffies, deadline) || cxib_verbs_dma_off(trial->ibdev))
			return false;
		usleep_range(20, 100);
	}
	return true;
}

/* Requests that the device has taken from the register, or an error. */
static int count_taken(const struct trial *trial)
{
	const unsigned long deadline = jiffies + msecs_to_jiffies(LIMIT_MS);
	struct hw_cqe64 completion;
	int count;

	for (count = 0; count < REQUESTS; count++) {
		if (!await_completion(trial, count, deadline, &completion))
			return -ETIMEDOUT;
		if (hw_cqe64_get_opcode(&completion) != HW_CQE_OPCODE_REQ)
			return -EIO;
		if (hw_cqe64_get_wqe_counter(&completion) == LAST)
			return count;
	}
	return -EBADMSG;
}

static enum cxib_write_combining try_requests(struct trial *trial)
{
	struct ib_device *ib = &trial->ibdev->ib;
	int taken;
	u16 i;

	for (i = 0; i < REQUESTS; i++)
		post(trial, i);
	taken = count_taken(trial);
	if (taken < 0)
		ibdev_dbg(ib, "requests cannot be written into doorbell registers: the trial has failed, error %d\n",
			  taken);
	else
		ibdev_dbg(ib, "requests can%s be written into doorbell registers: the device has taken %d of %lu there\n",
			  taken ? "" : "not", taken, LAST);
	return taken > 0 ? CXIB_WC_SUPPORTED : CXIB_WC_UNSUPPORTED;
}

static enum cxib_write_combining try(struct cxib_ibdev *ibdev)
{
	struct trial trial = { .ibdev = ibdev };
	enum cxib_write_combining result;
	int err;

	if (!arch_can_pci_mmap_wc() || !device_takes_requests(&ibdev->hw->caps))
		return CXIB_WC_UNSUPPORTED;
	err = make(&trial);
	if (err) {
		ibdev_dbg(&ibdev->ib, "whether writes are combined cannot be tried now: error %d\n",
			  err);
		return CXIB_WC_UNKNOWN;
	}
	result = try_requests(&trial);
	end(&trial);
	return result;
}

/**
 * cxib_wc_supported() - whether requests can be written into doorbell registers
 * @ibdev: RDMA device
 *
 * It is tried at the first call. Where that is not possible, the answer is no, and the
 * next call tries it again.
 *
 * Context: process context, may sleep.
 */
bool cxib_wc_supported(struct cxib_ibdev *ibdev)
{
	guard(mutex)(&ibdev->combining_lock);
	if (ibdev->combining == CXIB_WC_UNKNOWN)
		ibdev->combining = try(ibdev);
	return ibdev->combining == CXIB_WC_SUPPORTED;
}
