// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test of write combining.
 *
 * Software can write a WQE that is not larger than a BlueFlame register into the register instead
 * of ringing the doorbell. Then the device does not fetch the WQE from memory. But the WQE must
 * arrive as whole writes of 64 bytes, and it is not documented whether CPU, bridges and hypervisor
 * preserve such writes.
 *
 * So the driver tests it with NOP WQEs on a QP of the test. Each WQE is unsignaled in the SQ but
 * signaled in the register, so each CQE shows that the device has taken the WQE from the register.
 * The last WQE, which ends the test, is signaled in the SQ, too.
 */
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/pci.h>

#include "hw/commands_queue_pairs.h"
#include "hw/pd.h"
#include "hw/work_queue.h"
#include "verbs/cq/cq.h"
#include "verbs/qp/post.h"

/*
 * An interrupt may split the writes of one WQE, so the test needs several WQEs. Both the WQEs and
 * their CQEs fill a page.
 */
#define LOG_WQES	6
#define NUM_WQES	BIT(LOG_WQES)
#define LAST_WQE	(NUM_WQES - 1)

/* The test takes microseconds; the health poll detects a device that hangs. */
#define TIMEOUT_MS	5000

#define LOG_MESSAGE	12

/* The pages of the memory of the test. */
enum { CQ_PAGE, SQ_PAGE, NUM_PAGES };

/**
 * struct wc_trial - state of a test
 * @ibdev: RDMA device
 * @uar: index of its UAR page
 * @uar_map: write-combining mapping of the UAR page
 * @bf_offset: offset of the next WQE in the UAR page; WQEs use the two buffers of the BlueFlame
 *	register alternately
 * @buffer: memory of its queues
 * @dbrs: doorbell records of the queues
 * @pd: PDN
 * @cqn: CQN
 * @qpn: QPN
 */
struct wc_trial {
	struct cxib_ibdev *ibdev;
	u32 uar;
	void __iomem *uar_map;
	u32 bf_offset;
	struct cxib_buffer buffer;
	struct cxib_dbr dbrs[NUM_PAGES];
	u32 pd;
	u32 cqn;
	u32 qpn;
};

/* A WQEBB, written by consecutive 64-bit writes. */
union wc_wqebb {
	struct hw_wqe_ctrl_seg control;
	u64 words[CXIB_WQEBB_SIZE / sizeof(u64)];
};

static u32 wc_bf_buffer_size(const struct wc_trial *trial)
{
	return BIT(trial->ibdev->hw->caps.log_bf_reg_size) / 2;
}

static bool wc_has_blue_flame(const struct cxib_device_caps *caps)
{
	const u32 size = BIT(caps->log_bf_reg_size);

	return caps->bf && size >= 2 * CXIB_WQEBB_SIZE &&
	       size <= CXIB_UAR_SIZE - HW_UAR_OFFSET_BLUE_FLAME;
}

static struct cxib_buffer wc_queue_page(const struct wc_trial *trial, unsigned int page)
{
	return (struct cxib_buffer){ .pages = &trial->buffer.pages[page], .page_count = 1 };
}

static int wc_create_uar(struct wc_trial *trial)
{
	struct cxib_ibdev *ibdev = trial->ibdev;
	int err;

	err = cxib_cmd_alloc_uar(commands_of(ibdev), 0, &trial->uar);
	if (err)
		return err;
	trial->bf_offset = HW_UAR_OFFSET_BLUE_FLAME;
	trial->uar_map = ioremap_wc(cxib_uar_address(ibdev->hw->bus, trial->uar),
				    CXIB_UAR_SIZE);
	if (trial->uar_map)
		return 0;
	cxib_finish_destroy(ibdev, cxib_cmd_dealloc_uar(commands_of(ibdev), 0, trial->uar));
	return -ENOMEM;
}

static void wc_destroy_uar(struct wc_trial *trial)
{
	struct cxib_ibdev *ibdev = trial->ibdev;

	iounmap(trial->uar_map);
	cxib_finish_destroy(ibdev, cxib_cmd_dealloc_uar(commands_of(ibdev), 0, trial->uar));
}

static int wc_alloc_memory(struct wc_trial *trial)
{
	struct cxib_hw *hw = trial->ibdev->hw;
	struct cxib_buffer cqes;
	int err;

	err = cxib_buffer_create(&trial->buffer, hw->bus->dev, NUM_PAGES * PAGE_SIZE);
	if (err)
		return err;
	err = cxib_dbr_alloc(hw, &trial->dbrs[CQ_PAGE]);
	if (err)
		goto destroy_buffer;
	err = cxib_dbr_alloc(hw, &trial->dbrs[SQ_PAGE]);
	if (err)
		goto free_dbr;
	cqes = wc_queue_page(trial, CQ_PAGE);
	cxib_cq_invalidate(&cqes, LOG_WQES);
	return 0;

free_dbr:
	cxib_dbr_free(hw, &trial->dbrs[CQ_PAGE]);
destroy_buffer:
	cxib_buffer_destroy(&trial->buffer, hw->bus->dev);
	return err;
}

/* @err: result of the command that passed the memory to the device; 0: queues destroyed */
static void wc_free_memory(struct wc_trial *trial, int err)
{
	struct cxib_buffer none = {};

	cxib_free_queue_memory(trial->ibdev, &none, &trial->dbrs[SQ_PAGE], err);
	cxib_free_queue_memory(trial->ibdev, &trial->buffer, &trial->dbrs[CQ_PAGE], err);
}

static int wc_create_cq(struct wc_trial *trial)
{
	const struct cxib_buffer buffer = wc_queue_page(trial, CQ_PAGE);
	struct cxib_hw *hw = trial->ibdev->hw;
	const struct cxib_cq_params params = {
		.buffer = &buffer,
		.log_size = LOG_WQES,
		.uar = hw->uar_index,
		.eqn = hw->comp_eqs[0].eqn,
		.dbr = trial->dbrs[CQ_PAGE].dma,
	};

	return cxib_cmd_create_cq(&hw->commands, &params, &trial->cqn);
}

static int wc_create_qp(struct wc_trial *trial)
{
	const struct cxib_buffer buffer = wc_queue_page(trial, SQ_PAGE);
	struct hw_qpc context = {};

	hw_qpc_set_st(&context, HW_QP_SERVICE_TYPE_UD);
	hw_qpc_set_pm_state(&context, HW_QP_MIGRATION_STATE_MIGRATED);
	hw_qpc_set_pd(&context, trial->pd);
	hw_qpc_set_uar_page(&context, trial->uar);
	hw_qpc_set_user_index(&context, CXIB_NO_USER_INDEX);
	hw_qpc_set_log_sq_size(&context, LOG_WQES);
	hw_qpc_set_rq_type(&context, HW_QP_RQ_TYPE_ZERO_LEN_RQ);
	hw_qpc_set_cqn_snd(&context, trial->cqn);
	hw_qpc_set_cqn_rcv(&context, trial->cqn);
	hw_qpc_set_dbr_addr(&context, trial->dbrs[SQ_PAGE].dma);
	return cxib_cmd_create_qp(commands_of(trial->ibdev), 0, &context, &buffer, &trial->qpn);
}

static int wc_change_state(const struct wc_trial *trial, u16 opcode)
{
	struct cxib_qp_transition transition = { .opcode = opcode, .qpn = trial->qpn };

	hw_qpc_set_st(&transition.context, HW_QP_SERVICE_TYPE_UD);
	hw_qpc_set_pm_state(&transition.context, HW_QP_MIGRATION_STATE_MIGRATED);
	hw_qpc_set_mtu(&transition.context, HW_QP_MTU_4K_BYTES);
	hw_qpc_set_log_msg_max(&transition.context, LOG_MESSAGE);
	hw_qpc_set_log_ack_req_freq(&transition.context, CXIB_LOG_ACK_REQ_FREQ);
	if (opcode == HW_CMD_RST2INIT_QP)
		hw_ads_set_vhca_port_num(hw_qpc_primary_address_path(&transition.context), 1);
	return cxib_cmd_modify_qp(commands_of(trial->ibdev), &transition);
}

static int wc_modify_to_rts(const struct wc_trial *trial)
{
	return wc_change_state(trial, HW_CMD_RST2INIT_QP) ?:
	       wc_change_state(trial, HW_CMD_INIT2RTR_QP) ?:
	       wc_change_state(trial, HW_CMD_RTR2RTS_QP);
}

/* Moves the QP to RST first; afterwards the device does not access its queues. */
static void wc_destroy_qp(struct wc_trial *trial)
{
	struct cxib_command_queue *commands = commands_of(trial->ibdev);

	cxib_finish_destroy(trial->ibdev, cxib_cmd_2rst_qp(commands, 0, trial->qpn));
	cxib_finish_destroy(trial->ibdev, cxib_cmd_destroy_qp(commands, 0, trial->qpn));
}

static int wc_create_queues(struct wc_trial *trial)
{
	struct cxib_ibdev *ibdev = trial->ibdev;
	struct cxib_command_queue *commands = commands_of(ibdev);
	int err;

	err = cxib_cmd_alloc_pd(commands, 0, &trial->pd);
	if (err)
		return err;
	err = wc_create_cq(trial);
	if (err)
		goto dealloc_pd;
	err = wc_create_qp(trial);
	if (err)
		goto destroy_cq;
	err = wc_modify_to_rts(trial);
	if (err)
		goto destroy_qp;
	return 0;

destroy_qp:
	wc_destroy_qp(trial);
destroy_cq:
	cxib_finish_destroy(ibdev, cxib_cmd_destroy_cq(commands, 0, trial->cqn));
dealloc_pd:
	cxib_finish_destroy(ibdev, cxib_cmd_dealloc_pd(commands, 0, trial->pd));
	return err;
}

static void wc_destroy_queues(struct wc_trial *trial)
{
	struct cxib_ibdev *ibdev = trial->ibdev;
	struct cxib_command_queue *commands = commands_of(ibdev);

	wc_destroy_qp(trial);
	cxib_finish_destroy(ibdev, cxib_cmd_destroy_cq(commands, 0, trial->cqn));
	cxib_finish_destroy(ibdev, cxib_cmd_dealloc_pd(commands, 0, trial->pd));
}

static int wc_create_trial(struct wc_trial *trial)
{
	int err;

	err = wc_create_uar(trial);
	if (err)
		return err;
	err = wc_alloc_memory(trial);
	if (err)
		goto destroy_uar;
	err = wc_create_queues(trial);
	if (err)
		goto free_memory;
	return 0;

free_memory:
	wc_free_memory(trial, err);
destroy_uar:
	wc_destroy_uar(trial);
	return err;
}

static void wc_destroy_trial(struct wc_trial *trial)
{
	wc_destroy_queues(trial);
	wc_free_memory(trial, 0);
	wc_destroy_uar(trial);
}

static void wc_write_nop(const struct wc_trial *trial, struct hw_wqe_ctrl_seg *control, u16 index,
			 enum hw_completion_mode mode)
{
	control->dw[0] = hw_wqe_ctrl_seg_pack_00(0, index, HW_WQE_OPCODE_NOP);
	control->dw[1] = hw_wqe_ctrl_seg_pack_04(trial->qpn, 1);
	control->dw[2] = hw_wqe_ctrl_seg_pack_08(0, HW_FENCE_MODE_NONE, mode, 0);
	control->dw[3] = hw_wqe_ctrl_seg_pack_0c(0);
}

static void wc_post(struct wc_trial *trial, u16 index)
{
	const struct cxib_buffer sq = wc_queue_page(trial, SQ_PAGE);
	union wc_wqebb wqebb = {};

	wc_write_nop(trial, cxib_buffer_at(&sq, index * sizeof(wqebb)), index,
		     index == LAST_WQE ? HW_COMPLETION_MODE_CQ_UPDATE :
					 HW_COMPLETION_MODE_ONLY_ERROR);
	wc_write_nop(trial, &wqebb.control, index, HW_COMPLETION_MODE_CQ_UPDATE);
	/* The WQE must be written before the doorbell record. */
	dma_wmb();
	WRITE_ONCE(trial->dbrs[SQ_PAGE].words[CXIB_SND_DBR], cpu_to_be32(index + 1));
	/* The doorbell record must be written before the register. */
	wmb();
	__iowrite64_copy(trial->uar_map + trial->bf_offset, wqebb.words,
			 ARRAY_SIZE(wqebb.words));
	/* Flushes the write-combining buffer, so that the CPU does not merge WQEs. */
	wmb();
	trial->bf_offset ^= wc_bf_buffer_size(trial);
}

/*
 * Reads a CQE if its last word, with opcode, owner and wqe_counter, is valid. The ring does not
 * wrap around, so a valid CQE is new.
 */
static bool wc_read_cqe(const struct wc_trial *trial, u32 number, struct hw_cqe64 *copy)
{
	const struct cxib_buffer cqes = wc_queue_page(trial, CQ_PAGE);
	const struct hw_cqe64 *entry = cxib_buffer_at(&cqes, number * sizeof(*entry));
	const size_t last = ARRAY_SIZE(entry->dw) - 1;

	copy->dw[last] = READ_ONCE(entry->dw[last]);
	return hw_cqe64_get_opcode(copy) != HW_CQE_OPCODE_INVALID && !hw_cqe64_get_owner(copy);
}

static bool wc_await_cqe(const struct wc_trial *trial, u32 number, unsigned long deadline,
			 struct hw_cqe64 *copy)
{
	while (!wc_read_cqe(trial, number, copy)) {
		if (time_after(jiffies, deadline) || cxib_verbs_dma_off(trial->ibdev))
			return false;
		usleep_range(20, 100);
	}
	return true;
}

/* Returns the number of WQEs that the device has taken from the register, or an error. */
static int wc_count_bf_wqes(const struct wc_trial *trial)
{
	const unsigned long deadline = jiffies + msecs_to_jiffies(TIMEOUT_MS);
	struct hw_cqe64 cqe;
	int count;

	for (count = 0; count < NUM_WQES; count++) {
		if (!wc_await_cqe(trial, count, deadline, &cqe))
			return -ETIMEDOUT;
		if (hw_cqe64_get_opcode(&cqe) != HW_CQE_OPCODE_REQ)
			return -EIO;
		if (hw_cqe64_get_wqe_counter(&cqe) == LAST_WQE)
			return count;
	}
	return -EBADMSG;
}

static enum cxib_write_combining wc_try_wqes(struct wc_trial *trial)
{
	struct ib_device *ib = &trial->ibdev->ib;
	int taken;
	u16 i;

	for (i = 0; i < NUM_WQES; i++)
		wc_post(trial, i);
	taken = wc_count_bf_wqes(trial);
	if (taken < 0)
		ibdev_dbg(ib, "write combining: test failed: %d\n", taken);
	else
		ibdev_dbg(ib, "write combining%s supported: %d of %lu WQEs taken from the BlueFlame register\n",
			  taken ? "" : " not", taken, LAST_WQE);
	return taken > 0 ? CXIB_WC_SUPPORTED : CXIB_WC_UNSUPPORTED;
}

static enum cxib_write_combining wc_try(struct cxib_ibdev *ibdev)
{
	struct wc_trial trial = { .ibdev = ibdev };
	enum cxib_write_combining result;
	int err;

	if (!arch_can_pci_mmap_wc() || !wc_has_blue_flame(&ibdev->hw->caps))
		return CXIB_WC_UNSUPPORTED;
	err = wc_create_trial(&trial);
	if (err) {
		ibdev_dbg(&ibdev->ib, "write combining: test setup failed: %d\n", err);
		return CXIB_WC_UNKNOWN;
	}
	result = wc_try_wqes(&trial);
	wc_destroy_trial(&trial);
	return result;
}

/**
 * cxib_wc_supported() - whether WQEs can be written into BlueFlame registers
 * @ibdev: RDMA device
 *
 * The first call runs the test. If its setup fails, the result is false, and the next call
 * runs it again.
 *
 * Context: process context, may sleep.
 */
bool cxib_wc_supported(struct cxib_ibdev *ibdev)
{
	guard(mutex)(&ibdev->wc_lock);
	if (ibdev->wc_state == CXIB_WC_UNKNOWN)
		ibdev->wc_state = wc_try(ibdev);
	return ibdev->wc_state == CXIB_WC_SUPPORTED;
}
