// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queue counters: all QPs of a port share one set, which is shown as hardware counters of the port.
 */
#include <linux/array_size.h>
#include <linux/slab.h>

#include "hw/uctx.h"
#include "verbs/verbs.h"

/**
 * struct counters_counter - a counter of the device
 * @name: name in user space: the name of its field, as in mlx5_ib
 * @get: reads the counter from the output of QUERY_Q_COUNTER
 * @needs: offset of the required capability in struct cxib_device_caps
 */
struct counters_counter {
	const char *name;
	u32 (*get)(const struct hw_query_q_counter_out *counters);
	size_t needs;
};

#define COUNTER_IF(field, capability)					\
	{								\
		.name = #field,						\
		.get = hw_query_q_counter_out_get_##field,		\
		.needs = offsetof(struct cxib_device_caps, capability),	\
	}
#define COUNTER(field)		COUNTER_IF(field, max_qp_cnt)
#define COUNTER_LOST(field)	COUNTER_IF(field, out_of_seq_cnt)
#define COUNTER_AGAIN(field)	COUNTER_IF(field, retransmission_q_counters)
#define COUNTER_ERROR(field)	COUNTER_IF(field, enhanced_error_q_counters)

static const struct counters_counter counters[] = {
	COUNTER(rx_write_requests),
	COUNTER(rx_read_requests),
	COUNTER(rx_atomic_requests),
	COUNTER(rx_dct_connect),
	COUNTER(out_of_buffer),
	COUNTER_LOST(out_of_sequence),
	COUNTER_AGAIN(duplicate_request),
	COUNTER_AGAIN(rnr_nak_retry_err),
	COUNTER_AGAIN(packet_seq_err),
	COUNTER_AGAIN(implied_nak_seq_err),
	COUNTER_AGAIN(local_ack_timeout_err),
	COUNTER_ERROR(resp_local_length_error),
	COUNTER_ERROR(resp_cqe_error),
	COUNTER_ERROR(req_cqe_error),
	COUNTER_ERROR(req_remote_invalid_request),
	COUNTER_ERROR(req_remote_access_errors),
	COUNTER_ERROR(resp_remote_access_errors),
	COUNTER_ERROR(resp_cqe_flush_error),
	COUNTER_ERROR(req_cqe_flush_error),
	COUNTER_ERROR(req_transport_retries_exceeded),
	COUNTER_ERROR(req_rnr_retries_exceeded),
};

/* Lists the counters that the device supports. */
static void counters_describe(struct cxib_ibdev *ibdev)
{
	const void *caps = &ibdev->hw->caps;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(counters); i++) {
		const u32 *needed = caps + counters[i].needs;

		if (*needed)
			ibdev->counters[ibdev->counter_count++] = (struct rdma_stat_desc){
				.name = counters[i].name, .priv = &counters[i],
			};
	}
}

static struct rdma_hw_stats *counters_alloc(struct ib_device *ib, u32 number)
{
	const struct cxib_ibdev *ibdev = to_ibdev(ib);

	return rdma_alloc_hw_stats_struct(ibdev->counters, ibdev->counter_count,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

static bool counters_is_registered(struct ib_device *ib)
{
	if (!ib_device_try_get(ib))
		return false;
	ib_device_put(ib);
	return true;
}

/* One command reads all counters, so @index is ignored. */
static int counters_get(struct ib_device *ib, struct rdma_hw_stats *stats, u32 number, int index)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib);
	struct hw_query_q_counter_out out;
	int err, i;

	err = cxib_cmd_query_q_counter(commands_of(ibdev), ibdev->ports[number - 1].counter_set,
				       &out);
	/*
	 * While the RDMA core registers a device, it leaks memory if this function returns an
	 * error.
	 */
	if (err)
		return counters_is_registered(ib) ? err : stats->num_counters;
	for (i = 0; i < stats->num_counters; i++) {
		const struct counters_counter *counter = stats->descs[i].priv;

		stats->value[i] = counter->get(&out);
	}
	return stats->num_counters;
}

static const struct ib_device_ops ops = {
	.alloc_hw_port_stats = counters_alloc,
	.get_hw_stats = counters_get,
};

/* Returns false if a dealloc command fails. */
static bool counters_dealloc_sets(struct cxib_ibdev *ibdev, unsigned int count)
{
	bool all = true;

	while (count--)
		if (cxib_cmd_dealloc_q_counter(commands_of(ibdev), ibdev->ports[count].counter_set))
			all = false;
	return all;
}

static int counters_alloc_sets(struct cxib_ibdev *ibdev)
{
	/* QPs of user contexts refer to the counter sets. */
	u16 uid = cxib_shared_uid(&ibdev->hw->caps);
	unsigned int i;
	int err;

	for (i = 0; i < ibdev->hw->caps.num_ports; i++) {
		err = cxib_cmd_alloc_q_counter(commands_of(ibdev), uid,
					       &ibdev->ports[i].counter_set);
		if (err) {
			counters_dealloc_sets(ibdev, i);
			return err;
		}
	}
	return 0;
}

/**
 * cxib_port_q_counter() - returns the queue counters of the QPs of a port
 * @ibdev: RDMA device
 * @port: port number; any other value: the port is not set yet
 *
 * Return: counter_set_id; 0 if the port has none: then nothing is counted.
 */
u8 cxib_port_q_counter(const struct cxib_ibdev *ibdev, u32 port)
{
	if (!ibdev->has_counters || !rdma_is_port_valid(&ibdev->ib, port))
		return 0;
	return ibdev->ports[port - 1].counter_set;
}

/**
 * cxib_counters_create() - allocate the queue counters of the ports
 * @ibdev: RDMA device after cxib_ports_create(), not registered yet
 *
 * If the device lacks the capability or refuses a counter set, there are no counters.
 */
int cxib_counters_create(struct cxib_ibdev *ibdev)
{
	int err;

	static_assert(ARRAY_SIZE(counters) <= CXIB_COUNTERS_MAX);
	if (!ibdev->hw->caps.max_qp_cnt)
		return 0;
	err = counters_alloc_sets(ibdev);
	if (err)
		return cxib_command_optional(err);
	ibdev->has_counters = true;
	counters_describe(ibdev);
	ib_set_device_ops(&ibdev->ib, &ops);
	return 0;
}

/**
 * cxib_counters_destroy() - undo cxib_counters_create()
 * @ibdev: RDMA device without QPs
 */
void cxib_counters_destroy(struct cxib_ibdev *ibdev)
{
	if (ibdev->has_counters && !counters_dealloc_sets(ibdev, ibdev->hw->caps.num_ports))
		cxib_hw_set_fatal(ibdev->hw);
}
