// SPDX-License-Identifier: GPL-2.0-only
/*
 * Integrity MRs: create, map and destroy them, and report their signature errors.
 *
 * The mkey of the MR describes one range of data and one of metadata, which the device
 * interleaves. If either is scattered, a second mkey of KLMs makes it one range.
 */
#include <kunit/visibility.h>
#include <linux/slab.h>

#include "hw/completion.h"
#include "hw/contexts.h"
#include "hw/mkey.h"
#include "hw/work_queue.h"
#include "verbs/mkey.h"
#include "verbs/qp/pipelining.h"
#include "verbs/signature/integrity.h"

/* Length of the translation list of the MR's mkey: a strided block, or one KLM. */
#define RANGE_XLT_OCTOWORDS	4

#define KEY_INDEX_SHIFT	8

/* Indices of the PSVs. */
#define WIRE		0
#define MEMORY		1

static int sig_mr_create_klm_mkey(struct cxib_sig_mr *mr, struct ib_pd *pd)
{
	struct cxib_ibdev *ibdev = to_ibdev(pd->device);
	struct cxib_mkey_params params = {
		.pd = to_pd(pd)->pdn,
		.variant = cxib_next_mkey_variant(ibdev),
		.indirect = true,
		.xlt_octowords = mr->mr.list_size / sizeof(struct hw_klm),
	};

	cxib_mkey_relax_ordering(ibdev->hw, &params);
	return cxib_cmd_create_mkey(commands_of(ibdev), &params, &mr->klm_mkey);
}

static int sig_mr_create_mkey(struct cxib_sig_mr *mr, struct ib_pd *pd)
{
	struct cxib_ibdev *ibdev = to_ibdev(pd->device);
	struct cxib_mkey_params params = {
		.pd = to_pd(pd)->pdn,
		.variant = cxib_next_mkey_variant(ibdev),
		.indirect = true,
		.bsf_en = true,
		.xlt_octowords = RANGE_XLT_OCTOWORDS,
	};
	int err;

	cxib_mkey_relax_ordering(ibdev->hw, &params);
	err = cxib_cmd_create_mkey(commands_of(ibdev), &params, &mr->mr.ib.lkey);
	mr->mr.ib.rkey = mr->mr.ib.lkey;
	return err;
}

/* The driver clears the mkey in the CQE of an error that it has noted: no MR has this index. */
static int sig_mr_check_mkey(struct cxib_ibdev *ibdev, u32 key)
{
	if (key >> KEY_INDEX_SHIFT)
		return 0;
	ibdev_err(&ibdev->ib, "integrity MR: invalid mkey from CREATE_MKEY: 0x%x\n", key);
	return -EIO;
}

static void sig_mr_destroy_mkey(struct cxib_ibdev *ibdev, u32 key)
{
	cxib_finish_destroy(ibdev, cxib_cmd_destroy_mkey(commands_of(ibdev), key, false));
}

static int sig_mr_create_psvs(struct cxib_sig_mr *mr, struct ib_pd *pd)
{
	u32 numbers[CXIB_PSV_COUNT];
	int err;

	err = cxib_cmd_create_psv(commands_of(to_ibdev(pd->device)), to_pd(pd)->pdn, numbers);
	mr->wire_psv = numbers[WIRE];
	mr->memory_psv = numbers[MEMORY];
	return err;
}

static void sig_mr_destroy_psvs(struct cxib_ibdev *ibdev, struct cxib_sig_mr *mr)
{
	struct cxib_command_queue *commands = commands_of(ibdev);

	cxib_finish_destroy(ibdev, cxib_cmd_destroy_psv(commands, mr->wire_psv));
	cxib_finish_destroy(ibdev, cxib_cmd_destroy_psv(commands, mr->memory_psv));
}

/* CQEs of signature errors find the MR from here on. */
static int sig_mr_create_in_device(struct cxib_ibdev *ibdev, struct cxib_sig_mr *mr,
				   struct ib_pd *pd)
{
	int err;

	err = sig_mr_create_psvs(mr, pd);
	if (err)
		return err;
	err = sig_mr_create_klm_mkey(mr, pd);
	if (err)
		goto destroy_psvs;
	err = sig_mr_create_mkey(mr, pd);
	if (err)
		goto destroy_klm_mkey;
	err = sig_mr_check_mkey(ibdev, mr->mr.ib.lkey);
	if (!err)
		err = xa_insert_irq(&ibdev->sig_mrs, mr->mr.ib.lkey >> KEY_INDEX_SHIFT, mr,
				    GFP_KERNEL);
	if (err)
		goto destroy_mkey;
	return 0;

destroy_mkey:
	sig_mr_destroy_mkey(ibdev, mr->mr.ib.lkey);
destroy_klm_mkey:
	sig_mr_destroy_mkey(ibdev, mr->klm_mkey);
destroy_psvs:
	sig_mr_destroy_psvs(ibdev, mr);
	return err;
}

static int sig_mr_check_sizes(struct ib_pd *ib, u32 max_data, u32 max_metadata)
{
	if (!to_ibdev(ib->device)->hw->caps.sho)
		return -EOPNOTSUPP;
	if (max_data && max_data <= CXIB_SIG_KLMS_MAX &&
	    max_metadata <= CXIB_SIG_KLMS_MAX)
		return 0;
	ibdev_dbg(ib->device,
		  "integrity MR: %u data or %u metadata KLMs out of range (max %u each)\n",
		  max_data, max_metadata, CXIB_SIG_KLMS_MAX);
	return -EINVAL;
}

/**
 * cxib_alloc_mr_integrity() - allocate an integrity MR
 * @ib: protection domain
 * @max_data: number of data KLMs
 * @max_metadata: number of metadata KLMs
 *
 * Context: process context, may sleep.
 * Return: the MR; its mkey is free until a WQE registers it. ERR_PTR(): -EOPNOTSUPP if
 * the device lacks signature offload, -EINVAL if a number is out of range, -ENOMEM; as
 * cxib_pd_create_dma_mkey().
 */
struct ib_mr *cxib_alloc_mr_integrity(struct ib_pd *ib, u32 max_data, u32 max_metadata)
{
	struct cxib_sig_mr *mr;
	int err;

	err = sig_mr_check_sizes(ib, max_data, max_metadata);
	if (err)
		return ERR_PTR(err);
	err = cxib_pd_create_dma_mkey(ib);
	if (err)
		return ERR_PTR(err);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	spin_lock_init(&mr->lock);
	INIT_LIST_HEAD(&mr->failed_node);
	mr->sigerr_count = 1;
	mr->mr.is_indirect = true;
	mr->mr.desc_size = sizeof(struct hw_klm);
	mr->mr.max_descs = max_data + max_metadata;
	err = cxib_mr_alloc_descs(ib->device, &mr->mr);
	if (err)
		goto free_mr;
	err = sig_mr_create_in_device(to_ibdev(ib->device), mr, ib);
	if (err)
		goto free_list;
	return &mr->mr.ib;

free_list:
	cxib_mr_free_descs(ib->device, &mr->mr);
free_mr:
	kfree(mr);
	return ERR_PTR(err);
}

static struct xarray *sig_mrs_of(struct ib_device *device)
{
	return &to_ibdev(device)->sig_mrs;
}

/* The driver cannot find the transfer of the QP that has failed any more. */
static void sig_mr_drop_failed(struct cxib_sig_mr *mr)
{
	lockdep_assert_held(&sig_mrs_of(mr->mr.ib.device)->xa_lock);

	if (list_empty(&mr->failed_node))
		return;
	list_del_init(&mr->failed_node);
	mr->failed_in->num_unknown++;
}

/**
 * cxib_free_sig_mr() - destroy an integrity MR
 * @mr: MR without users; freed
 *
 * Context: process context, may sleep.
 */
void cxib_free_sig_mr(struct cxib_sig_mr *mr)
{
	struct cxib_ibdev *ibdev = to_ibdev(mr->mr.ib.device);

	/* First, because another MR can get the index as soon as the mkey is destroyed. */
	xa_lock_irq(&ibdev->sig_mrs);
	sig_mr_drop_failed(mr);
	__xa_erase(&ibdev->sig_mrs, mr->mr.ib.lkey >> KEY_INDEX_SHIFT);
	xa_unlock_irq(&ibdev->sig_mrs);
	sig_mr_destroy_mkey(ibdev, mr->mr.ib.lkey);
	sig_mr_destroy_mkey(ibdev, mr->klm_mkey);
	sig_mr_destroy_psvs(ibdev, mr);
	cxib_mr_free_descs(&ibdev->ib, &mr->mr);
	kfree(mr);
}

/* A scatterlist whose entries become KLMs. */
struct sig_mr_klms {
	struct scatterlist *list;
	int count;
	unsigned int *offset;
};

static unsigned int sig_mr_take_offset(const struct sig_mr_klms *klms)
{
	unsigned int offset = klms->offset ? *klms->offset : 0;

	if (klms->offset)
		*klms->offset = 0;
	return offset;
}

static u64 sig_mr_length_of(const struct sig_mr_klms *klms)
{
	struct scatterlist *sg;
	u64 length = 0;
	int i;

	for_each_sg(klms->list, sg, klms->count, i)
		length += sg_dma_len(sg);
	return length - (klms->count && klms->offset ? *klms->offset : 0);
}

/* Writes KLMs from entry number @first on. */
static void sig_mr_list_klms(struct cxib_sig_mr *mr, unsigned int first,
			     const struct sig_mr_klms *klms)
{
	struct hw_klm *entry = (struct hw_klm *)mr->mr.descs + first;
	unsigned int skip = sig_mr_take_offset(klms);
	struct scatterlist *sg;
	int i;

	for_each_sg(klms->list, sg, klms->count, i) {
		hw_klm_pack(entry++, sg_dma_len(sg) - skip, to_pd(mr->mr.ib.pd)->key,
			    sg_dma_address(sg) + skip);
		skip = 0;
	}
}

static void sig_mr_map_with_list(struct cxib_sig_mr *mr, const struct sig_mr_klms *data,
				 const struct sig_mr_klms *metadata)
{
	struct device *dev = to_ibdev(mr->mr.ib.device)->hw->bus->dev;
	struct cxib_mr *klms = &mr->mr;

	dma_sync_single_for_cpu(dev, klms->desc_map, klms->list_size, DMA_TO_DEVICE);
	memset(klms->descs, 0, klms->list_size);
	sig_mr_list_klms(mr, 0, data);
	sig_mr_list_klms(mr, data->count, metadata);
	dma_sync_single_for_device(dev, klms->desc_map, klms->list_size, DMA_TO_DEVICE);
	cxib_mr_set_ndescs(klms, data->count + metadata->count);
	mr->data.key = mr->klm_mkey;
	mr->data.address = 0;
	mr->metadata.key = mr->klm_mkey;
	mr->metadata.address = mr->data.length;
}

/* One entry each: the DMA MR mkey covers them without KLMs. */
static void sig_mr_map_without_list(struct cxib_sig_mr *mr, const struct sig_mr_klms *data,
				    const struct sig_mr_klms *metadata)
{
	const u32 key = to_pd(mr->mr.ib.pd)->key;

	cxib_mr_set_ndescs(&mr->mr, 0);
	mr->data.key = key;
	mr->data.address = sg_dma_address(data->list) + sig_mr_take_offset(data);
	mr->metadata.key = key;
	mr->metadata.address = 0;
	if (metadata->count)
		mr->metadata.address =
			sg_dma_address(metadata->list) + sig_mr_take_offset(metadata);
}

static int sig_mr_map(struct cxib_sig_mr *mr, const struct sig_mr_klms *data,
		      const struct sig_mr_klms *metadata)
{
	u64 data_length, metadata_length;

	if (data->count <= 0 || metadata->count < 0)
		return -EINVAL;
	if (data->count + metadata->count > mr->mr.max_descs)
		return -ENOMEM;
	data_length = sig_mr_length_of(data);
	metadata_length = sig_mr_length_of(metadata);
	if (!data_length || data_length + metadata_length > U32_MAX)
		return -EINVAL;
	mr->data.length = data_length;
	mr->metadata.length = metadata_length;
	if (data->count == 1 && metadata->count <= 1)
		sig_mr_map_without_list(mr, data, metadata);
	else
		sig_mr_map_with_list(mr, data, metadata);
	return 0;
}

/**
 * cxib_map_mr_sg_pi() - set the memory of an integrity MR
 * @ib: MR without users
 * @data: data, of any length and alignment
 * @data_count: number of entries
 * @data_offset: bytes to skip in the first entry; NULL: none
 * @metadata: metadata
 * @metadata_count: number of entries; 0: none in memory
 * @metadata_offset: as @data_offset
 *
 * The ULP may set sig_attrs afterwards, before it registers the MR.
 *
 * Context: any.
 * Return: 0; -ENOMEM if there are more entries than the MR was allocated for, -EINVAL if
 * there is no data, or 4 GiB and more.
 */
int cxib_map_mr_sg_pi(struct ib_mr *ib, struct scatterlist *data, int data_count,
		      unsigned int *data_offset, struct scatterlist *metadata,
		      int metadata_count, unsigned int *metadata_offset)
{
	const struct sig_mr_klms data_klms = { data, data_count, data_offset };
	const struct sig_mr_klms metadata_klms = { metadata, metadata_count, metadata_offset };
	struct cxib_sig_mr *mr = to_sig_mr(ib);
	int err;

	err = sig_mr_map(mr, &data_klms, &metadata_klms);
	if (err)
		return err;
	ib->iova = 0;
	ib->length = mr->data.length + mr->metadata.length;
	ib->sig_attrs->meta_length = mr->metadata.length;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_map_mr_sg_pi);

/* Decodes the wrong field; the first one of the block if there are several. */
static void sig_mr_decode_error(const struct hw_sig_err_cqe *entry, struct ib_sig_err *error)
{
	const u32 syndrome = hw_sig_err_cqe_get_syndrome(entry);
	const u32 expected = hw_sig_err_cqe_get_expected_trans_sig(entry);
	const u32 actual = hw_sig_err_cqe_get_actual_trans_sig(entry);

	error->sig_err_offset = hw_sig_err_cqe_get_err_offset(entry);
	error->key = hw_sig_err_cqe_get_mkey(entry);
	if (syndrome & HW_CQE_SIG_SYNDROME_GUARD) {
		error->err_type = IB_SIG_BAD_GUARD;
		error->expected = upper_16_bits(expected);
		error->actual = upper_16_bits(actual);
	} else if (syndrome & HW_CQE_SIG_SYNDROME_REFTAG) {
		error->err_type = IB_SIG_BAD_REFTAG;
		error->expected = hw_sig_err_cqe_get_expected_reftag(entry);
		error->actual = hw_sig_err_cqe_get_actual_reftag(entry);
	} else {
		error->err_type = IB_SIG_BAD_APPTAG;
		error->expected = lower_16_bits(expected);
		error->actual = lower_16_bits(actual);
	}
}

/* Each error of the QP counts: one whose MR is not known must not pass for none. */
static void sig_mr_list_failed(struct cxib_pipelining *pipelining, struct cxib_sig_mr *mr)
{
	lockdep_assert_held(&sig_mrs_of(pipelining->qp->ib.device)->xa_lock);

	pipelining->num_errors++;
	if (!mr || mr->mr.ib.pd != pipelining->qp->ib.pd) {
		pipelining->num_unknown++;
		return;
	}
	if (mr->failed_in != pipelining)
		sig_mr_drop_failed(mr);
	mr->failed_in = pipelining;
	list_move_tail(&mr->failed_node, &pipelining->failed);
}

/* Returns false for a second error of one registration. */
static bool sig_mr_record_error(struct cxib_sig_mr *mr, const struct hw_sig_err_cqe *entry)
{
	bool is_first;

	spin_lock(&mr->lock);
	is_first = !mr->has_failed;
	if (is_first) {
		sig_mr_decode_error(entry, &mr->sig_err);
		mr->sig_err_exists = true;
		mr->sigerr_count ^= 1;
	}
	mr->has_failed = true;
	mr->is_unreliable |= !is_first;
	spin_unlock(&mr->lock);
	return is_first;
}

/**
 * cxib_note_signature_error() - record a signature error of an MR
 * @ibdev: RDMA device
 * @qp: QP of the transfer; NULL: unknown
 * @entry: the CQE; copied out of the CQ
 *
 * Errors of MRs that were destroyed are ignored. With signature pipelining the error is counted,
 * and the MR is listed, if it is one of the PD of @qp. The device reports one error of a
 * registration: after a second one, the MR cannot be registered any more.
 *
 * Context: any.
 */
void cxib_note_signature_error(struct cxib_ibdev *ibdev, const struct cxib_qp *qp,
			       const struct hw_sig_err_cqe *entry)
{
	const u32 index = hw_sig_err_cqe_get_mkey(entry) >> KEY_INDEX_SHIFT;
	struct cxib_sig_mr *mr;
	unsigned long flags;

	/* The MR cannot be freed while this lock is held. */
	xa_lock_irqsave(&ibdev->sig_mrs, flags);
	mr = xa_load(&ibdev->sig_mrs, index);
	if (mr && !sig_mr_record_error(mr, entry)) {
		ibdev_err_ratelimited(&ibdev->ib, "mkey 0x%x: second signature error\n",
				      hw_sig_err_cqe_get_mkey(entry));
		mr = NULL;
	}
	/* The driver has noted and neutralised a CQE without mkey before. */
	if (qp && qp->pipelining && index)
		sig_mr_list_failed(qp->pipelining, mr);
	xa_unlock_irqrestore(&ibdev->sig_mrs, flags);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_note_signature_error);

/**
 * cxib_take_failed_mr() - take the first MR from the list of those with a signature error
 * @pipelining: signature pipelining of a QP
 * @error: set to its error
 *
 * cxib_check_mr_status() still reports the error.
 *
 * Context: any.
 * Return: the MR, which its owner may destroy at any time; NULL if there is none.
 */
struct ib_mr *cxib_take_failed_mr(struct cxib_pipelining *pipelining, struct ib_sig_err *error)
{
	struct xarray *mrs = sig_mrs_of(pipelining->qp->ib.device);
	struct cxib_sig_mr *mr;
	unsigned long flags;

	xa_lock_irqsave(mrs, flags);
	mr = list_first_entry_or_null(&pipelining->failed, struct cxib_sig_mr, failed_node);
	if (mr) {
		list_del_init(&mr->failed_node);
		spin_lock(&mr->lock);
		*error = mr->sig_err;
		spin_unlock(&mr->lock);
	}
	xa_unlock_irqrestore(mrs, flags);
	return mr ? &mr->mr.ib : NULL;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_take_failed_mr);

static bool sig_mr_failures_are_known(const struct cxib_pipelining *pipelining)
{
	lockdep_assert_held(&sig_mrs_of(pipelining->qp->ib.device)->xa_lock);

	return pipelining->num_errors && !pipelining->num_unknown;
}

/**
 * cxib_failures_are_known() - whether the MR of each signature error since the last resume is known
 * @pipelining: signature pipelining of a QP that the device has stopped
 *
 * Return: false also if there was no error: then nothing explains the stop.
 */
bool cxib_failures_are_known(struct cxib_pipelining *pipelining)
{
	struct xarray *mrs = sig_mrs_of(pipelining->qp->ib.device);
	unsigned long flags;
	bool known;

	xa_lock_irqsave(mrs, flags);
	known = sig_mr_failures_are_known(pipelining);
	xa_unlock_irqrestore(mrs, flags);
	return known;
}

/**
 * cxib_end_failures() - count signature errors anew, if all were taken
 * @pipelining: signature pipelining of a QP that is about to be resumed
 *
 * Return: 0; -EBUSY if a failed MR is listed; -EIO if cxib_failures_are_known() is false.
 */
int cxib_end_failures(struct cxib_pipelining *pipelining)
{
	struct xarray *mrs = sig_mrs_of(pipelining->qp->ib.device);
	unsigned long flags;
	int err = 0;

	xa_lock_irqsave(mrs, flags);
	if (!sig_mr_failures_are_known(pipelining))
		err = -EIO;
	else if (!list_empty(&pipelining->failed))
		err = -EBUSY;
	else
		pipelining->num_errors = 0;
	xa_unlock_irqrestore(mrs, flags);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_end_failures);

/**
 * cxib_is_sig_mkey() - whether an mkey is one of an integrity MR
 * @ibdev: RDMA device
 * @key: mkey
 *
 * Context: any.
 */
bool cxib_is_sig_mkey(struct cxib_ibdev *ibdev, u32 key)
{
	return xa_load(&ibdev->sig_mrs, key >> KEY_INDEX_SHIFT);
}

/**
 * cxib_sig_mkey_has_failed() - whether an mkey is one of an integrity MR with a signature error
 * @ibdev: RDMA device
 * @key: mkey
 *
 * Context: any.
 * Return: true if an error was reported after the last registration. Then the device does not check
 * other transfers of the MR.
 */
bool cxib_sig_mkey_has_failed(struct cxib_ibdev *ibdev, u32 key)
{
	const struct cxib_sig_mr *mr;
	unsigned long flags;
	bool has_failed;

	/* The MR cannot be freed while this lock is held. */
	xa_lock_irqsave(&ibdev->sig_mrs, flags);
	mr = xa_load(&ibdev->sig_mrs, key >> KEY_INDEX_SHIFT);
	has_failed = mr && READ_ONCE(mr->has_failed);
	xa_unlock_irqrestore(&ibdev->sig_mrs, flags);
	return has_failed;
}

/**
 * cxib_distrust_sig_mrs() - refuse integrity MRs whose signature errors may be lost
 * @ibdev: RDMA device
 * @cqn: send CQ of the QPs
 * @qpn: QP; 0: all QPs of the CQ
 *
 * An MR whose transfers may still be in progress has an unknown number of errors in the device.
 *
 * Context: any.
 */
void cxib_distrust_sig_mrs(struct cxib_ibdev *ibdev, u32 cqn, u32 qpn)
{
	struct cxib_sig_mr *mr;
	unsigned long index, flags;
	unsigned int count = 0;

	xa_lock_irqsave(&ibdev->sig_mrs, flags);
	xa_for_each(&ibdev->sig_mrs, index, mr) {
		spin_lock(&mr->lock);
		if (mr->is_unchecked && !mr->has_failed && mr->cqn == cqn &&
		    (!qpn || mr->qpn == qpn)) {
			mr->is_unreliable = true;
			count++;
		}
		spin_unlock(&mr->lock);
	}
	xa_unlock_irqrestore(&ibdev->sig_mrs, flags);
	if (count)
		ibdev_err_ratelimited(&ibdev->ib,
				      "CQ 0x%x: signature errors of %u MRs may be lost\n", cqn,
				      count);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_distrust_sig_mrs);

/**
 * cxib_clear_failed_mrs() - forget the signature errors of a QP
 * @pipelining: signature pipelining of a QP that is not resumed
 */
void cxib_clear_failed_mrs(struct cxib_pipelining *pipelining)
{
	struct xarray *mrs = sig_mrs_of(pipelining->qp->ib.device);
	struct cxib_sig_mr *mr, *next;
	unsigned long flags;

	xa_lock_irqsave(mrs, flags);
	list_for_each_entry_safe(mr, next, &pipelining->failed, failed_node)
		list_del_init(&mr->failed_node);
	pipelining->num_errors = 0;
	pipelining->num_unknown = 0;
	xa_unlock_irqrestore(mrs, flags);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_clear_failed_mrs);

/*
 * Only an MR with an error can be listed: others need not take the lock that all MRs share. With
 * the automatic policy the driver still has to cancel the response, although the ULP knows of the
 * error.
 */
static void sig_mr_unlist_failed(struct cxib_sig_mr *mr)
{
	struct xarray *mrs = sig_mrs_of(mr->mr.ib.device);
	unsigned long flags;

	xa_lock_irqsave(mrs, flags);
	if (!list_empty(&mr->failed_node) && mr->failed_in->is_manual)
		list_del_init(&mr->failed_node);
	xa_unlock_irqrestore(mrs, flags);
}

static int sig_mr_take_error(struct cxib_sig_mr *mr, struct ib_mr_status *status)
{
	unsigned long flags;
	bool is_unreliable;

	spin_lock_irqsave(&mr->lock, flags);
	is_unreliable = mr->is_unreliable;
	if (mr->sig_err_exists) {
		status->fail_status = IB_MR_CHECK_SIG_STATUS;
		status->sig_err = mr->sig_err;
	}
	mr->sig_err_exists = false;
	mr->is_unchecked = false;
	spin_unlock_irqrestore(&mr->lock, flags);
	if (status->fail_status)
		sig_mr_unlist_failed(mr);
	return is_unreliable && !status->fail_status ? -EIO : 0;
}

/**
 * cxib_check_mr_status() - report whether a transfer had a signature error
 * @ib: integrity MR; the completion of the transfer was polled
 * @mask: IB_MR_CHECK_SIG_STATUS
 * @status: filled in
 *
 * An error is reported once. Afterwards the MR can be registered again.
 *
 * Context: any.
 * Return: 0; -EINVAL for other kinds of MRs and for unknown bits of @mask; -EIO if an error may be
 * lost: then the data must be regarded as bad, and the MR must be deregistered.
 */
int cxib_check_mr_status(struct ib_mr *ib, u32 mask, struct ib_mr_status *status)
{
	if (ib->type != IB_MR_TYPE_INTEGRITY || mask & ~IB_MR_CHECK_SIG_STATUS) {
		ibdev_dbg(ib->device, "check MR status: mask 0x%x unsupported for MR type %d\n",
			  mask, ib->type);
		return -EINVAL;
	}
	status->fail_status = 0;
	return mask ? sig_mr_take_error(to_sig_mr(ib), status) : 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_check_mr_status);
