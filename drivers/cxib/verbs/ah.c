// SPDX-License-Identifier: GPL-2.0-only
/* Address handles. The device has no objects for them: each UD WQE contains the address vector. */
#include <kunit/visibility.h>

#include "verbs/verbs.h"

/* stat_rate is the value of enum ib_rate plus this offset. */
#define RATE_OFFSET	5

/* Limits of fields in packet headers, and of the LID path bits (the LMC is at most 7). */
#define SL_MAX		0xf
#define PATH_BITS_MAX	0x7f
#define FLOW_LABEL_MAX	0xfffff

static bool ah_is_supported(const struct cxib_device_caps *caps, int rate)
{
	return caps->stat_rate_support & BIT(rate + RATE_OFFSET);
}

/**
 * cxib_static_rate() - convert a static rate to stat_rate
 * @caps: capabilities of the device
 * @rate: enum ib_rate
 *
 * The values of enum ib_rate are not in the order of the rates: 14 Gb/s has a higher value than 120
 * Gb/s.
 *
 * Return: stat_rate of the highest rate that the device supports and that does not exceed @rate; 0,
 * which means the rate of the port, if there is no such rate or @rate is IB_RATE_PORT_CURRENT;
 * -EINVAL if @rate is out of range.
 */
int cxib_static_rate(const struct cxib_device_caps *caps, u8 rate)
{
	int best = IB_RATE_PORT_CURRENT, candidate;

	if (rate == IB_RATE_PORT_CURRENT)
		return 0;
	if (rate < IB_RATE_2_5_GBPS || rate > CXIB_RATE_MAX)
		return -EINVAL;
	for (candidate = IB_RATE_2_5_GBPS; candidate <= CXIB_RATE_MAX; candidate++)
		if (ah_is_supported(caps, candidate) &&
		    ib_rate_to_mbps(candidate) <= ib_rate_to_mbps(rate) &&
		    ib_rate_to_mbps(candidate) > ib_rate_to_mbps(best))
			best = candidate;
	return best == IB_RATE_PORT_CURRENT ? 0 : best + RATE_OFFSET;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_static_rate);

/* Convert stat_rate to enum ib_rate. */
u8 cxib_rate_to_ib(u32 code)
{
	return code > RATE_OFFSET ? code - RATE_OFFSET : IB_RATE_PORT_CURRENT;
}

static void ah_fill_route(struct hw_av *vector, const struct ib_global_route *route)
{
	hw_av_set_grh(vector, 1);
	hw_av_set_src_addr_index(vector, route->sgid_index);
	hw_av_set_flow_label(vector, route->flow_label);
	hw_av_set_tclass(vector, route->traffic_class);
	hw_av_set_hop_limit(vector, route->hop_limit);
	memcpy(hw_av_rgid(vector), route->dgid.raw, sizeof(route->dgid.raw));
}

/* The RDMA core does not check these fields, which user space fills. */
static int ah_check_range(struct ib_device *ib, const char *name, u32 value, u32 max)
{
	if (value <= max)
		return 0;
	ibdev_dbg(ib, "AH: %s %u out of range [0, %u]\n", name, value, max);
	return -EINVAL;
}

static int ah_check_attr(struct ib_device *ib, const struct rdma_ah_attr *attr)
{
	int err = ah_check_range(ib, "sl", rdma_ah_get_sl(attr), SL_MAX);

	if (!err)
		err = ah_check_range(ib, "src_path_bits", rdma_ah_get_path_bits(attr),
				     PATH_BITS_MAX);
	if (!err)
		err = ah_check_range(ib, "dlid", rdma_ah_get_dlid(attr), U16_MAX);
	if (!err && rdma_ah_get_ah_flags(attr) & IB_AH_GRH)
		err = ah_check_range(ib, "flow_label", rdma_ah_read_grh(attr)->flow_label,
				     FLOW_LABEL_MAX);
	return err;
}

static int ah_fill_address(struct cxib_ah *ah, struct ib_device *ib,
			   const struct rdma_ah_attr *attr)
{
	int rate = cxib_static_rate(&to_ibdev(ib)->hw->caps, rdma_ah_get_static_rate(attr));
	struct hw_av *vector = &ah->vector;
	int err;

	if (rate < 0)
		return rate;
	err = ah_check_attr(ib, attr);
	if (err)
		return err;
	*vector = (struct hw_av){};
	hw_av_set_extended(vector, 1);
	hw_av_set_stat_rate(vector, rate);
	hw_av_set_sl(vector, rdma_ah_get_sl(attr));
	hw_av_set_mlid(vector, rdma_ah_get_path_bits(attr));
	hw_av_set_rlid(vector, rdma_ah_get_dlid(attr));
	if (rdma_ah_get_ah_flags(attr) & IB_AH_GRH)
		ah_fill_route(vector, rdma_ah_read_grh(attr));
	ah->port = rdma_ah_get_port_num(attr);
	return 0;
}

int cxib_create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	return ah_fill_address(to_ah(ib), ib->device, init->ah_attr);
}

/* WQEs that are already posted keep the old address vector. */
int cxib_modify_ah(struct ib_ah *ib, struct rdma_ah_attr *attr)
{
	return ah_fill_address(to_ah(ib), ib->device, attr);
}

int cxib_query_ah(struct ib_ah *ib, struct rdma_ah_attr *attr)
{
	const struct hw_av *vector = &to_ah(ib)->vector;

	*attr = (struct rdma_ah_attr){ .type = ib->type };
	rdma_ah_set_port_num(attr, to_ah(ib)->port);
	rdma_ah_set_dlid(attr, hw_av_get_rlid(vector));
	rdma_ah_set_sl(attr, hw_av_get_sl(vector));
	rdma_ah_set_path_bits(attr, hw_av_get_mlid(vector));
	rdma_ah_set_static_rate(attr, cxib_rate_to_ib(hw_av_get_stat_rate(vector)));
	if (!hw_av_get_grh(vector))
		return 0;
	rdma_ah_set_grh(attr, NULL, hw_av_get_flow_label(vector),
			hw_av_get_src_addr_index(vector), hw_av_get_hop_limit(vector),
			hw_av_get_tclass(vector));
	memcpy(rdma_ah_retrieve_grh(attr)->dgid.raw, hw_av_get_rgid(vector),
	       sizeof(union ib_gid));
	return 0;
}

int cxib_destroy_ah(struct ib_ah *ib, u32 flags)
{
	return 0;
}
