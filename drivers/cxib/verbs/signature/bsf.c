// SPDX-License-Identifier: GPL-2.0-only
/*
 * BSF (byte stream format): describes the signatures of an MR to the device.
 *
 * Data has two domains, memory and wire. In each of them protection information may
 * follow every block.
 */
#include <kunit/visibility.h>
#include <rdma/signature.h>

#include "hw/work_queue.h"
#include "verbs/signature/integrity.h"

/* No protection information. */
#define NO_BLOCKS	0

static int bsf_block_size_code(const struct cxib_device_caps *caps,
			       const struct ib_sig_domain *domain, u32 *code)
{
	switch (domain->sig.dif.pi_interval) {
	case 512:
		*code = HW_BSF_BLOCK_SIZE_BLOCK_512;
		return 0;
	case 520:
		*code = HW_BSF_BLOCK_SIZE_BLOCK_520;
		return 0;
	case 4048:
		if (!caps->sig_block_4048)
			return -EINVAL;
		*code = HW_BSF_BLOCK_SIZE_BLOCK_4048;
		return 0;
	case 4096:
		*code = HW_BSF_BLOCK_SIZE_BLOCK_4096;
		return 0;
	case 4160:
		*code = HW_BSF_BLOCK_SIZE_BLOCK_4160;
		return 0;
	default:
		return -EINVAL;
	}
}

/* The seed of the guard is all ones or all zeros. */
static bool bsf_seed_is_valid(const struct ib_t10_dif_domain *dif)
{
	return dif->bg == 0 || dif->bg == U16_MAX;
}

static int bsf_check_domain(const struct cxib_device_caps *caps, const struct ib_sig_domain *domain,
			    u32 *block_size)
{
	*block_size = NO_BLOCKS;
	switch (domain->sig_type) {
	case IB_SIG_TYPE_NONE:
		return 0;
	case IB_SIG_TYPE_T10_DIF:
		if (domain->sig.dif.bg_type > IB_T10DIF_CSUM ||
		    !bsf_seed_is_valid(&domain->sig.dif))
			return -EINVAL;
		return bsf_block_size_code(caps, domain, block_size);
	default:
		return -EINVAL;
	}
}

/* Separate metadata in memory must match the number of blocks. */
static bool bsf_metadata_fits(const struct cxib_sig_mr *mr)
{
	const struct ib_sig_domain *memory = &mr->mr.ib.sig_attrs->mem;
	u32 interval = memory->sig.dif.pi_interval;

	if (memory->sig_type == IB_SIG_TYPE_NONE)
		return true;
	if (!mr->metadata.length)
		return mr->data.length % (interval + CXIB_DIF_SIZE) == 0;
	return mr->data.length % interval == 0 &&
	       mr->metadata.length == mr->data.length / interval * CXIB_DIF_SIZE;
}

static u32 bsf_escape_of(const struct ib_t10_dif_domain *dif)
{
	if (!dif->app_escape)
		return HW_BSF_ESCAPE_NONE;
	return dif->ref_escape ? HW_BSF_ESCAPE_APPREF : HW_BSF_ESCAPE_APPTAG;
}

static void bsf_fill_inline(struct hw_bsf_inl *inl, const struct ib_t10_dif_domain *dif)
{
	inl->dw[0] = hw_bsf_inl_pack_00(1, 1, dif->app_tag);
	inl->dw[1] = hw_bsf_inl_pack_04(dif->ref_tag);
	inl->dw[2] = hw_bsf_inl_pack_08(dif->bg_type == IB_T10DIF_CRC ?
					HW_BSF_SIG_TYPE_DIF_CRC :
					HW_BSF_SIG_TYPE_DIF_IPCS,
					1, dif->bg != 0);
	inl->dw[3] = hw_bsf_inl_pack_0c(dif->ref_remap, bsf_escape_of(dif), dif->apptag_check_mask);
}

/* Fields that are equal in both domains are copied without a check. */
static u32 bsf_copied_bytes(const struct ib_t10_dif_domain *wire,
			    const struct ib_t10_dif_domain *memory)
{
	u32 mask = 0;

	if (wire->bg_type == memory->bg_type && wire->bg == memory->bg)
		mask |= HW_BSF_DIF_BYTES_GUARD;
	if (wire->app_tag == memory->app_tag)
		mask |= HW_BSF_DIF_BYTES_APP;
	if (wire->ref_tag == memory->ref_tag && wire->ref_remap == memory->ref_remap)
		mask |= HW_BSF_DIF_BYTES_REF;
	return mask;
}

static __be32 bsf_block_structure(const struct ib_sig_attrs *attrs, u32 wire_size, u32 memory_size)
{
	bool same = wire_size != NO_BLOCKS && wire_size == memory_size;

	if (same)
		wire_size = bsf_copied_bytes(&attrs->wire.sig.dif, &attrs->mem.sig.dif);
	return hw_bsf_basic_pack_00(HW_BSF_SIZE_WITH_INLINE, same, attrs->check_mask, wire_size,
				    memory_size);
}

/**
 * cxib_fill_bsf() - fill in the BSF of an MR
 * @bsf: filled in
 * @mr: mapped MR with its sig_attrs
 *
 * Context: any.
 * Return: 0, or -EINVAL for a signature type, block size or seed that the device does not
 * support, and for metadata whose length does not match the number of blocks.
 */
int cxib_fill_bsf(struct hw_bsf *bsf, const struct cxib_sig_mr *mr)
{
	const struct cxib_device_caps *caps = &to_ibdev(mr->mr.ib.device)->hw->caps;
	const struct ib_sig_attrs *attrs = mr->mr.ib.sig_attrs;
	struct hw_bsf_basic *basic = hw_bsf_basic(bsf);
	u32 wire_size, memory_size;

	if (bsf_check_domain(caps, &attrs->wire, &wire_size) ||
	    bsf_check_domain(caps, &attrs->mem, &memory_size) || !bsf_metadata_fits(mr))
		return -EINVAL;
	*bsf = (struct hw_bsf){};
	basic->dw[0] = bsf_block_structure(attrs, wire_size, memory_size);
	/* As mlx5_ib: with interleaved protection information, which is part of the range. */
	basic->dw[1] = hw_bsf_basic_pack_04(mr->data.length);
	if (wire_size != NO_BLOCKS) {
		basic->dw[2] = hw_bsf_basic_pack_08(HW_BSF_BLOCK_FORMAT_T10_DIF,
						    mr->wire_psv);
		bsf_fill_inline(hw_bsf_w_inl(bsf), &attrs->wire.sig.dif);
	}
	if (memory_size != NO_BLOCKS) {
		basic->dw[3] = hw_bsf_basic_pack_0c(HW_BSF_BLOCK_FORMAT_T10_DIF,
						    mr->memory_psv);
		bsf_fill_inline(hw_bsf_m_inl(bsf), &attrs->mem.sig.dif);
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_fill_bsf);
