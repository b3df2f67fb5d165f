// SPDX-License-Identifier: GPL-2.0-only
/* Mkey and PSV commands. */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "hw/command_queue.h"
#include "hw/commands_device.h"
#include "hw/commands_memory.h"
#include "hw/commands_objects.h"
#include "hw/contexts.h"
#include "hw/mkey.h"
#include "hw/work_queue.h"

/* QPN of an mkey that all QPs of the PD can use. */
#define ANY_QPN	0xffffff

/* An mkey is an index and the variant in the lowest bits. */
#define OCTOWORD_SIZE		16

static void mkey_set_access_mode(struct hw_mkc *context, enum hw_mkey_access_mode mode)
{
	hw_mkc_set_access_mode_1_0(context, mode & 3);
	hw_mkc_set_access_mode_4_2(context, mode >> 2);
}

/* Access mode of an mkey with translations. */
static enum hw_mkey_access_mode mkey_mode_of(const struct cxib_mkey_params *params)
{
	if (params->ksm)
		return HW_MKEY_ACCESS_MODE_KSM;
	return params->indirect ? HW_MKEY_ACCESS_MODE_KLMS : HW_MKEY_ACCESS_MODE_MTT;
}

static void mkey_fill_access(struct hw_mkc *context, const struct cxib_mkey_params *params)
{
	hw_mkc_set_lr(context, 1);
	hw_mkc_set_lw(context, params->local_write);
	hw_mkc_set_rr(context, params->remote_read);
	hw_mkc_set_rw(context, params->remote_write);
	hw_mkc_set_a(context, params->remote_atomic);
	hw_mkc_set_en_rinval(context, params->remote_invalidate);
	hw_mkc_set_relaxed_ordering_write(context, params->relaxed_ordering_write);
	hw_mkc_set_relaxed_ordering_read(context, params->relaxed_ordering_read);
}

static void mkey_fill_context(struct hw_mkc *context, const struct cxib_mkey_params *params,
			      unsigned int xlt_octowords)
{
	mkey_fill_access(context, params);
	hw_mkc_set_qpn(context, ANY_QPN);
	hw_mkc_set_mkey_7_0(context, params->variant);
	hw_mkc_set_pd(context, params->pd);
	if (params->xlt_octowords) {
		hw_mkc_set_free(context, 1);
		hw_mkc_set_umr_en(context, 1);
		mkey_set_access_mode(context, mkey_mode_of(params));
		hw_mkc_set_start_addr(context, params->start_addr);
		hw_mkc_set_len(context, params->length);
		hw_mkc_set_log_page_size(context, params->log_page_size);
		hw_mkc_set_translations_octword_size(context, params->xlt_octowords);
		if (params->bsf_en) {
			hw_mkc_set_bsf_en(context, 1);
			hw_mkc_set_bsf_octword_size(context, sizeof(struct hw_bsf) / OCTOWORD_SIZE);
		}
		return;
	}
	if (params->memic) {
		mkey_set_access_mode(context, HW_MKEY_ACCESS_MODE_MEMIC);
		hw_mkc_set_start_addr(context, params->start_addr);
		hw_mkc_set_len(context, params->length);
		return;
	}
	if (!params->page_count) {
		mkey_set_access_mode(context, HW_MKEY_ACCESS_MODE_PA);
		hw_mkc_set_length64(context, 1);
		return;
	}
	mkey_set_access_mode(context, mkey_mode_of(params));
	hw_mkc_set_umr_en(context, params->umr_en);
	hw_mkc_set_start_addr(context, params->start_addr);
	hw_mkc_set_len(context, params->length);
	hw_mkc_set_log_page_size(context, params->log_page_size);
	hw_mkc_set_translations_octword_size(context, xlt_octowords);
}

/**
 * cxib_cmd_create_mkey() - CREATE_MKEY: creates an mkey
 * @queue: command queue
 * @params: attributes of the mkey
 * @key: output: mkey, as in WQEs
 *
 * Return: -ENOMEM also when there are too many pages for a command.
 */
int cxib_cmd_create_mkey(struct cxib_command_queue *queue, const struct cxib_mkey_params *params,
			 u32 *key)
{
	/* The PAS list is padded to whole octowords. */
	unsigned int xlt_octowords = DIV_ROUND_UP(params->page_count * sizeof(u64), OCTOWORD_SIZE);
	struct hw_create_mkey_out out;
	struct hw_create_mkey_in *in;
	struct cxib_command command = {
		.out = &out, .out_length = sizeof(out), .for_user = params->for_user,
	};
	int err;

	in = cxib_command_alloc_in(&command, size_add(sizeof(*in),
						      (size_t)xlt_octowords * OCTOWORD_SIZE));
	if (!in)
		return -ENOMEM;
	hw_create_mkey_in_set_opcode(in, HW_CMD_CREATE_MKEY);
	hw_create_mkey_in_set_translations_octword_actual_size(in, xlt_octowords);
	hw_create_mkey_in_set_pg_access(in, params->odp);
	mkey_fill_context(hw_create_mkey_in_memory_key_mkey_entry(in), params, xlt_octowords);
	memcpy(in->klm_pas_mtt, params->pages, params->page_count * sizeof(u64));
	err = cxib_cmd_exec(queue, &command);
	*key = hw_create_mkey_out_get_mkey_index(&out) << CXIB_MKEY_INDEX_SHIFT | params->variant;
	kvfree(in);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_create_mkey);

/**
 * cxib_cmd_destroy_mkey() - DESTROY_MKEY: destroys an mkey
 * @queue: command queue
 * @key: mkey; WQEs that use it fail from the call on
 * @for_user: as in struct cxib_command: firmware refuses an mkey to which an MW is bound
 */
int cxib_cmd_destroy_mkey(struct cxib_command_queue *queue, u32 key, bool for_user)
{
	struct hw_destroy_mkey_in in = {};
	struct hw_destroy_mkey_out out;
	struct cxib_command command = {
		.in = &in, .in_length = sizeof(in),
		.out = &out, .out_length = sizeof(out),
		.for_user = for_user,
	};

	hw_destroy_mkey_in_set_opcode(&in, HW_CMD_DESTROY_MKEY);
	hw_destroy_mkey_in_set_mkey_index(&in, key >> CXIB_MKEY_INDEX_SHIFT);
	return cxib_cmd_exec(queue, &command);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_destroy_mkey);

/**
 * cxib_cmd_query_special_contexts() - QUERY_SPECIAL_CONTEXTS: reads the mkeys of the device itself
 * @queue: command queue
 * @optional: the caller continues without the mkeys
 * @keys: output
 *
 * Context: process context, may sleep.
 * Return: as cxib_cmd_exec().
 */
int cxib_cmd_query_special_contexts(struct cxib_command_queue *queue, bool optional,
				    struct cxib_special_keys *keys)
{
	struct hw_query_special_contexts_in in = {};
	struct hw_query_special_contexts_out out;
	struct cxib_command command = {
		.in = &in, .in_length = sizeof(in),
		.out = &out, .out_length = sizeof(out),
		.optional = optional,
	};
	int err;

	hw_query_special_contexts_in_set_opcode(&in, HW_CMD_QUERY_SPECIAL_CONTEXTS);
	err = cxib_cmd_exec(queue, &command);
	if (err)
		return err;
	keys->resd_lkey = hw_query_special_contexts_out_get_resd_lkey(&out);
	keys->null_mkey = hw_query_special_contexts_out_get_null_mkey(&out);
	keys->dump_fill = hw_query_special_contexts_out_get_dump_fill_mkey(&out);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_query_special_contexts);

/**
 * cxib_cmd_query_mkey() - QUERY_MKEY: reads the context of an mkey
 * @queue: command queue
 * @key: mkey, which need not exist: a refusal is not logged
 * @out: output: the context, followed by the translation, truncated to @length
 * @length: size of @out, bytes; at least sizeof(*out)
 *
 * Context: process context, may sleep.
 * Return: as cxib_cmd_exec() of an optional command.
 */
int cxib_cmd_query_mkey(struct cxib_command_queue *queue, u32 key, struct hw_query_mkey_out *out,
			size_t length)
{
	struct hw_query_mkey_in in = {};
	struct cxib_command command = {
		.in = &in, .in_length = sizeof(in),
		.out = out, .out_length = length,
		.no_log = true, .optional = true,
	};

	hw_query_mkey_in_set_opcode(&in, HW_CMD_QUERY_MKEY);
	hw_query_mkey_in_set_mkey_index(&in, key >> CXIB_MKEY_INDEX_SHIFT);
	return cxib_cmd_exec(queue, &command);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_query_mkey);

/**
 * cxib_cmd_create_psv() - CREATE_PSV: creates two PSVs
 * @queue: command queue
 * @pd: PDN
 * @numbers: output: %CXIB_PSV_COUNT PSV numbers
 */
int cxib_cmd_create_psv(struct cxib_command_queue *queue, u32 pd, u32 *numbers)
{
	struct hw_create_psv_in in = {};
	struct hw_create_psv_out out;
	int err;

	hw_create_psv_in_set_opcode(&in, HW_CMD_CREATE_PSV);
	hw_create_psv_in_set_num_psv(&in, CXIB_PSV_COUNT);
	hw_create_psv_in_set_pd(&in, pd);
	err = cxib_cmd_exec_inout(queue, in, out);
	numbers[0] = hw_create_psv_out_get_psv0_index(&out);
	numbers[1] = hw_create_psv_out_get_psv1_index(&out);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_create_psv);

/**
 * cxib_cmd_destroy_psv() - DESTROY_PSV: destroys one PSV
 * @queue: command queue
 * @number: PSV number, which no WQE or mkey uses
 */
int cxib_cmd_destroy_psv(struct cxib_command_queue *queue, u32 number)
{
	struct hw_destroy_psv_in in = {};
	struct hw_destroy_psv_out out;

	hw_destroy_psv_in_set_opcode(&in, HW_CMD_DESTROY_PSV);
	hw_destroy_psv_in_set_psvn(&in, number);
	return cxib_cmd_exec_inout(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_destroy_psv);
