// SPDX-License-Identifier: GPL-2.0-only
/*
 * Indirect mkeys: user space creates them by commands and modifies them by WQEs, so only
 * the device knows their KLMs.
 */
#include <kunit/visibility.h>
#include <linux/minmax.h>
#include <linux/slab.h>

#include "hw/command_queue.h"
#include "hw/commands_memory.h"
#include "hw/contexts.h"
#include "hw/mkey.h"
#include "hw/work_queue.h"
#include "verbs/odp/odp_fault.h"

/* QUERY_MKEY always returns this number of KLMs after the mkey context. */
#define KLMS_INLINE	2

/*
 * If the KLMs of a query end before the range, the next query reads this times as many. So three
 * more queries reach the limit of a fault (KLMS_MAX).
 */
#define GROWTH		16

/* Length of a KLM whose byte count is 0. */
#define KLM_MAX_BYTES	BIT(31)

static u32 odp_klm_access_mode(const struct hw_mkc *context)
{
	return hw_mkc_get_access_mode_1_0(context) | hw_mkc_get_access_mode_4_2(context) << 2;
}

/* If the mkey has a BSF, the list would begin with the BSF. */
static bool odp_klm_has_klms(const struct hw_mkc *context)
{
	u32 mode = odp_klm_access_mode(context);

	return !hw_mkc_get_free(context) && !hw_mkc_get_bsf_en(context) &&
	       (mode == HW_MKEY_ACCESS_MODE_KLMS || mode == HW_MKEY_ACCESS_MODE_KSM);
}

static u64 odp_klm_length(const struct hw_mkc *context, const struct hw_klm *klm)
{
	if (odp_klm_access_mode(context) == HW_MKEY_ACCESS_MODE_KSM)
		return BIT_ULL(hw_mkc_get_log_page_size(context));
	return hw_klm_get_bcount(klm) ?: KLM_MAX_BYTES;
}

/**
 * cxib_pf_walk_klms() - call a function for each KLM in a range of an mkey
 * @context: mkey context, as the device returned it
 * @klms: its KLMs; their mkeys and addresses are untrusted
 * @count: number of @klms
 * @address: first byte of the range
 * @length: bytes
 * @fn: called with each range, until it returns an error
 * @data: for @fn
 *
 * Return: 0 or the error of @fn.
 */
int cxib_pf_walk_klms(const struct hw_mkc *context, const struct hw_klm *klms, size_t count,
		      u64 address, u64 length, cxib_pf_sge_fn fn, void *data)
{
	u64 offset = address - hw_mkc_get_start_addr(context);
	int err = 0;
	size_t i;

	for (i = 0; i < count && length && !err; i++) {
		u64 bytes = odp_klm_length(context, &klms[i]);
		u64 chunk;

		if (offset >= bytes) {
			offset -= bytes;
			continue;
		}
		chunk = min(bytes - offset, length);
		err = fn(data, hw_klm_get_key(&klms[i]), hw_klm_get_va(&klms[i]) + offset,
			 chunk);
		length -= chunk;
		offset = 0;
	}
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_pf_walk_klms);

/* Returns the output, which the caller frees, or an ERR_PTR(). */
static struct hw_query_mkey_out *odp_klm_query_klms(struct cxib_command_queue *commands, u32 key,
						    size_t count)
{
	size_t length = sizeof(struct hw_query_mkey_out) +
			(max_t(size_t, count, KLMS_INLINE) - KLMS_INLINE) *
			sizeof(struct hw_klm);
	struct hw_query_mkey_out *out = kvzalloc(length, GFP_KERNEL);
	int err;

	if (!out)
		return ERR_PTR(-ENOMEM);
	err = cxib_cmd_query_mkey(commands, key, out, length);
	if (!err)
		return out;
	kvfree(out);
	return ERR_PTR(err);
}

static size_t odp_klm_count_klms(const struct hw_query_mkey_out *out)
{
	const struct hw_mkc *context = hw_query_mkey_out_get_memory_key_mkey_entry(out);

	return odp_klm_has_klms(context) ? hw_mkc_get_translations_octword_size(context) : 0;
}

static const struct hw_klm *odp_klm_klms_of(const struct hw_query_mkey_out *out)
{
	return (const void *)hw_query_mkey_out_get_bsf0_klm0_pas_mtt0_1(out);
}

/*
 * Returns the number of KLMs to read up to offset @end, where the range ends. QUERY_MKEY begins
 * with the first KLM, so the KLMs before the range are read, too. All KSMs have the same length, so
 * their number is known before they are read.
 */
static size_t odp_klm_count_needed(const struct hw_query_mkey_out *out, size_t count, u64 end)
{
	const struct hw_mkc *context = hw_query_mkey_out_get_memory_key_mkey_entry(out);
	size_t i;

	if (odp_klm_access_mode(context) == HW_MKEY_ACCESS_MODE_KSM)
		return ((end - 1) >> hw_mkc_get_log_page_size(context)) + 1;
	for (i = 0; i < count; i++) {
		u64 bytes = odp_klm_length(context, &odp_klm_klms_of(out)[i]);

		if (end <= bytes)
			return i + 1;
		end -= bytes;
	}
	return count * GROWTH;
}

/* Returns the context and the KLMs up to the end of the range, or an ERR_PTR(). */
static struct hw_query_mkey_out *odp_klm_query_range(struct cxib_command_queue *commands, u32 key,
						     u64 address, u64 length, size_t *count,
						     size_t *budget)
{
	struct hw_query_mkey_out *out = NULL;
	size_t needed = KLMS_INLINE;
	u64 offset;

	for (*count = 0; *count < needed;) {
		kvfree(out);
		*count = needed;
		out = odp_klm_query_klms(commands, key, *count);
		if (IS_ERR(out))
			return out;
		*budget -= *count;
		offset = address -
			 hw_mkc_get_start_addr(hw_query_mkey_out_get_memory_key_mkey_entry(out));
		needed = min3(odp_klm_count_klms(out), *budget,
			      odp_klm_count_needed(out, *count, offset + length));
	}
	/* The mkey may have changed since the first query. */
	*count = min(*count, odp_klm_count_klms(out));
	return out;
}

/**
 * cxib_pf_walk_mkey() - call a function for each KLM in a range of an mkey that is not an MR
 * @commands: command queue
 * @key: the mkey; untrusted
 * @address: first byte of the range
 * @length: bytes, not 0
 * @budget: number of KLMs that may still be read for a fault; decremented. KLMs beyond it are
 *	ignored, because user space chooses their number but is not charged for the memory.
 * @pdn: PD of the object that names the mkey; %CXIB_ANY_PD is replaced with the PD of the mkey
 * @fn: called with each range of another mkey, until it returns an error
 * @data: for @fn
 *
 * Context: process context, may sleep.
 * Return: 0, also if the mkey has no KLMs, does not exist or has another PD; an error of the
 * command, or of @fn.
 */
int cxib_pf_walk_mkey(struct cxib_command_queue *commands, u32 key, u64 address, u64 length,
		      size_t *budget, u32 *pdn, cxib_pf_sge_fn fn, void *data)
{
	const struct hw_mkc *context;
	struct hw_query_mkey_out *out;
	size_t count;
	int err;

	if (*budget < KLMS_INLINE)
		return 0;
	out = odp_klm_query_range(commands, key, address, length, &count, budget);
	if (IS_ERR(out))
		return cxib_command_optional(PTR_ERR(out));
	context = hw_query_mkey_out_get_memory_key_mkey_entry(out);
	if (*pdn == CXIB_ANY_PD)
		*pdn = hw_mkc_get_pd(context);
	err = hw_mkc_get_pd(context) == *pdn ? cxib_pf_walk_klms(context, odp_klm_klms_of(out),
								 count, address, length, fn, data) :
					       0;
	kvfree(out);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_pf_walk_mkey);
