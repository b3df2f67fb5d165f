// SPDX-License-Identifier: GPL-2.0-only
/* Mkeys: functions that PDs, MRs, MWs and integrity MRs share. */
#include <kunit/visibility.h>
#include <linux/pci.h>

#include "hw/commands_memory.h"
#include "hw/mkey.h"
#include "verbs/mkey.h"
#include "verbs/verbs.h"

/**
 * cxib_mkey_relax_ordering() - allow relaxed PCIe ordering of accesses through an mkey
 * @hw: the device
 * @params: attributes of the mkey; ordering is filled in
 *
 * Kernel ULPs read memory only after the completion and through the DMA API, so they do not depend
 * on the order of accesses, and some hosts are much faster with relaxed ordering. User space
 * requests it with IB_ACCESS_RELAXED_ORDERING.
 */
void cxib_mkey_relax_ordering(const struct cxib_hw *hw, struct cxib_mkey_params *params)
{
	params->relaxed_ordering_write = hw->caps.relaxed_ordering_write;
	params->relaxed_ordering_read = hw->caps.relaxed_ordering_read ||
			       (hw->caps.relaxed_ordering_read_pci_enabled &&
				pcie_relaxed_ordering_enabled(to_pci_dev(hw->bus->dev)));
}

/**
 * cxib_mkey_set_access() - fill the access rights of an mkey
 * @hw: the device
 * @params: attributes of the mkey; rights and ordering are filled in
 * @access: IB_ACCESS_…
 */
void cxib_mkey_set_access(const struct cxib_hw *hw, struct cxib_mkey_params *params,
			  int access)
{
	params->local_write = access & IB_ACCESS_LOCAL_WRITE;
	params->remote_read = access & IB_ACCESS_REMOTE_READ;
	params->remote_write = access & IB_ACCESS_REMOTE_WRITE;
	params->remote_atomic = access & IB_ACCESS_REMOTE_ATOMIC;
	if (access & IB_ACCESS_RELAXED_ORDERING)
		cxib_mkey_relax_ordering(hw, params);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_mkey_set_access);

/**
 * cxib_next_mkey_variant() - returns the lower 8 bits of the next mkey
 * @ibdev: RDMA device
 *
 * Return: a different value each time, so that the device rejects stale mkeys.
 */
u8 cxib_next_mkey_variant(struct cxib_ibdev *ibdev)
{
	return atomic_inc_return(&ibdev->key_variant);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_next_mkey_variant);

/**
 * cxib_mkey_destroy() - returns the command that destroys an mkey
 * @key: the mkey
 */
struct cxib_destroy cxib_mkey_destroy(u32 key)
{
	return cxib_destroy_object(HW_CMD_DESTROY_MKEY, 0, key >> CXIB_MKEY_INDEX_SHIFT);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_mkey_destroy);

/**
 * cxib_discard_mkey() - destroy an mkey through which the device can access no memory
 * @pd: protection domain
 * @key: the mkey
 *
 * If firmware refuses, the mkey of a user context becomes an orphan. The mkey of a kernel object
 * makes the device fatal, with DMA off.
 *
 * Context: process context, may sleep.
 */
void cxib_discard_mkey(struct ib_pd *pd, u32 key)
{
	struct cxib_ibdev *ibdev = to_ibdev(pd->device);
	const struct cxib_destroy destroy = cxib_mkey_destroy(key);

	cxib_discard_object(ibdev, cxib_pd_context(pd), &destroy, NULL,
			    cxib_cmd_destroy_mkey(commands_of(ibdev), key, cxib_pd_context(pd)));
}

/**
 * cxib_mr_destroy_mkey() - destroy the mkey of an MR
 * @mr: the MR
 * @udata: as for cxib_finish_user_destroy()
 * @pinned: what the device can access through the mkey; NULL: nothing
 *
 * Firmware refuses the command for example while an MW is bound to the MR. If reregistration has
 * replaced the MR, no process can repeat the request, and the RDMA core would keep the MR locked
 * and warn when the user context is closed. So the mkey of such an MR becomes an orphan, together
 * with @pinned, which is zeroed.
 *
 * Context: process context, may sleep.
 * Return: as cxib_finish_user_destroy(); 0 for an MR that was replaced.
 */
int cxib_mr_destroy_mkey(struct cxib_mr *mr, struct ib_udata *udata, struct cxib_pinned *pinned)
{
	struct cxib_ibdev *ibdev = to_ibdev(mr->ib.device);
	const struct cxib_destroy destroy = cxib_mkey_destroy(mr->ib.lkey);
	int err = cxib_cmd_destroy_mkey(commands_of(ibdev), mr->ib.lkey, udata);

	if (!mr->is_replaced)
		return cxib_finish_user_destroy(ibdev, udata, &destroy, pinned, err);
	cxib_discard_object(ibdev, cxib_udata_context(udata), &destroy, pinned, err);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_mr_destroy_mkey);

/**
 * cxib_create_mkey() - create an mkey of an MR
 * @mr: the MR; its lkey and rkey are filled in
 * @pd: protection domain
 * @params: attributes of the mkey; PD and variant are filled in
 *
 * Return: as cxib_cmd_create_mkey().
 */
int cxib_create_mkey(struct cxib_mr *mr, struct ib_pd *pd, struct cxib_mkey_params *params)
{
	struct cxib_ibdev *ibdev = to_ibdev(pd->device);
	int err;

	params->pd = to_pd(pd)->pdn;
	params->variant = cxib_next_mkey_variant(ibdev);
	params->for_user = cxib_pd_context(pd);
	err = cxib_cmd_create_mkey(commands_of(ibdev), params, &mr->ib.lkey);
	mr->ib.rkey = mr->ib.lkey;
	return err;
}

/**
 * cxib_mr_create_mkey() - create the mkey of a user MR
 * @mr: the MR; its access holds IB_ACCESS_…
 * @pd: protection domain
 * @params: attributes of the mkey; PD, variant and access are filled in
 *
 * Return: as cxib_cmd_create_mkey().
 */
int cxib_mr_create_mkey(struct cxib_mr *mr, struct ib_pd *pd, struct cxib_mkey_params *params)
{
	cxib_mkey_set_access(to_ibdev(pd->device)->hw, params, mr->access);
	return cxib_create_mkey(mr, pd, params);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_mr_create_mkey);
