/* SPDX-License-Identifier: GPL-2.0-only */
/* Performance management: port counters. */
#ifndef CXIB_VERBS_PORT_PMA_H
#define CXIB_VERBS_PORT_PMA_H

struct cxib_ibdev;
struct hw_ib_port_cntrs_grp_data_layout;
struct hw_query_vport_counter_out;
struct ib_mad;
struct ib_pma_portcounters;
struct ib_pma_portcounters_ext;

void cxib_pma_fill_ext(const struct hw_query_vport_counter_out *vport,
		       struct ib_pma_portcounters_ext *counters);
void cxib_pma_fill(const struct hw_ib_port_cntrs_grp_data_layout *port,
		   const struct ib_pma_portcounters_ext *traffic,
		   struct ib_pma_portcounters *counters);
int cxib_pma_get(struct cxib_ibdev *ibdev, const struct ib_mad *in, struct ib_mad *out);

#endif
