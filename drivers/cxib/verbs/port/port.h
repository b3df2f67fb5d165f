/* SPDX-License-Identifier: GPL-2.0-only */
/* Ports: state, tables of GIDs and P_Keys. */
#ifndef CXIB_VERBS_PORT_PORT_H
#define CXIB_VERBS_PORT_PORT_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

#include "hw/events.h"
#include "hw/port.h"

struct cxib_gsi;
struct cxib_ibdev;

/**
 * struct cxib_port - a port
 * @number: port number, from 1
 * @vl_count: enum hw_vl_count
 * @gid_count: length of the GID table
 * @pkey_count: length of the P_Key table
 * @has_smi: this function receives SMPs
 * @grh_required: all packets need a GRH
 * @link_refused: the last query of the link was refused
 * @mtu_refused: the last query of the MTU was refused
 * @lock: protects the members below
 * @gids: copy of the GID table
 * @pkeys: copy of the P_Key table
 * @gids_valid: @gids is up to date
 * @pkeys_valid: @pkeys is up to date
 * @gsi: send QPs of the GSI QP; NULL without a GSI QP
 * @counter_set: ID of the queue counters of its QPs; valid if has_counters is set
 *
 * The RDMA core reads the tables entry by entry, beginning with the first; a command reads a whole
 * table. So the driver reads a table again when its first entry is queried, or when any entry is
 * queried after a port change event.
 */
struct cxib_port {
	unsigned int number;
	u32 vl_count;
	unsigned int gid_count;
	unsigned int pkey_count;
	bool has_smi;
	bool grh_required;
	bool link_refused;
	bool mtu_refused;
	struct mutex lock; /* tables, gsi */
	struct hw_gid *gids;
	u16 *pkeys;
	bool gids_valid;
	bool pkeys_valid;
	struct cxib_gsi *gsi;
	u8 counter_set;
};

u8 cxib_link_width(u32 width);
u8 cxib_vl_code(u32 vls);
bool cxib_port_event(enum hw_port_change_subtype change, enum ib_event_type *event);

unsigned int cxib_port_vport(const struct cxib_ibdev *ibdev, const struct cxib_port *port);
int cxib_ports_create(struct cxib_ibdev *ibdev);
void cxib_ports_destroy(struct cxib_ibdev *ibdev);
void cxib_port_changed(void *context, unsigned int number, enum hw_port_change_subtype change);
int cxib_query_port(struct ib_device *ib, u32 number, struct ib_port_attr *attr);
int cxib_modify_port(struct ib_device *ib, u32 number, int mask, struct ib_port_modify *change);
int cxib_get_port_immutable(struct ib_device *ib, u32 number, struct ib_port_immutable *facts);
enum rdma_link_layer cxib_get_link_layer(struct ib_device *ib, u32 number);
int cxib_query_gid(struct ib_device *ib, u32 number, int index, union ib_gid *gid);
int cxib_query_pkey(struct ib_device *ib, u32 number, u16 index, u16 *pkey);

#endif
