// SPDX-License-Identifier: GPL-2.0-only
/* Counters of all queue pairs together, as hardware counters of the port. */
#include <linux/array_size.h>
#include <linux/slab.h>

#include "verbs/verbs.h"

/* struct reader - how a counter is read from the device's answer */
struct reader {
	u32 (*get)(const struct hw_query_q_counter_out *counters);
};

/* Tools know a counter by the name of its field: the in-tree driver names them so. */
#define COUNTER(field)							\
	{								\
		.name = #field,						\
		.priv = &(const struct reader){				\
			hw_query_q_counter_out_get_##field },		\
	}

static const struct rdma_stat_desc descriptions[] = {
	COUNTER(rx_write_requests),
	COUNTER(rx_read_requests),
	COUNTER(rx_atomic_requests),
	COUNTER(rx_dct_connect),
	COUNTER(out_of_buffer),
	COUNTER(out_of_sequence),
	COUNTER(duplicate_request),
	COUNTER(rnr_nak_retry_err),
	COUNTER(packet_seq_err),
	COUNTER(implied_nak_seq_err),
	COUNTER(local_ack_timeout_err),
	COUNTER(resp_local_length_error),
	COUNTER(resp_cqe_error),
	COUNTER(req_cqe_error),
	COUNTER(req_remote_invalid_request),
	COUNTER(req_remote_access_errors),
	COUNTER(resp_remote_access_errors),
	COUNTER(resp_cqe_flush_error),
	COUNTER(req_cqe_flush_error),
};

/**
 * cxib_counters_create() - has the device count
 * @verbs: RDMA device
 *
 * A device without counters does without.
 */
int cxib_counters_create(struct cxib_verbs *verbs)
{
	int err;

	if (!verbs->hw->caps.max_qp_cnt)
		return 0;
	err = cxib_alloc_counter_set(commands_of(verbs), &verbs->counter_set);
	verbs->has_counters = !err;
	return err;
}

/**
 * cxib_counters_destroy() - the reverse
 * @verbs: RDMA device without queue pairs
 */
void cxib_counters_destroy(struct cxib_verbs *verbs)
{
	if (verbs->has_counters && cxib_dealloc_counter_set(commands_of(verbs), verbs->counter_set))
		cxib_hw_give_up(verbs->hw);
}

struct rdma_hw_stats *cxib_alloc_port_stats(struct ib_device *ib, u32 number)
{
	if (!to_verbs(ib)->has_counters)
		return NULL;
	return rdma_alloc_hw_stats_struct(descriptions, ARRAY_SIZE(descriptions),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/* One command reads all of them, so it is of no use to ask which one is wanted. */
int cxib_get_stats(struct ib_device *ib, struct rdma_hw_stats *stats, u32 number, int index)
{
	struct cxib_verbs *verbs = to_verbs(ib);
	struct hw_query_q_counter_out out;
	int err, i;

	err = cxib_query_counter_set(commands_of(verbs), verbs->counter_set, &out);
	if (err)
		return err;
	for (i = 0; i < stats->num_counters; i++) {
		const struct reader *reader = stats->descs[i].priv;

		stats->value[i] = reader->get(&out);
	}
	return stats->num_counters;
}
