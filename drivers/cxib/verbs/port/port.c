// SPDX-License-Identifier: GPL-2.0-only
/* Ports: attributes, GID and P_Key tables, events. */
#include <kunit/visibility.h>
#include <linux/slab.h>
#include <rdma/ib_mad.h>

#include "hw/names.h"
#include "hw/registers.h"
#include "verbs/port/gsi.h"
#include "verbs/port/port.h"
#include "verbs/verbs.h"

/* The length of a table is its minimum times a power of two. */
#define MIN_GIDS	8
#define MIN_PKEYS	128

static struct cxib_port *port_of(struct cxib_ibdev *ibdev, u32 number)
{
	return &ibdev->ports[number - 1];
}

/**
 * cxib_port_vport() - returns the number by which commands name a port
 * @ibdev: RDMA device
 * @port: its port
 *
 * Return: the port number; 0 for a function with a single port.
 */
unsigned int cxib_port_vport(const struct cxib_ibdev *ibdev, const struct cxib_port *port)
{
	return ibdev->hw->caps.num_ports > 1 ? port->number : 0;
}

/**
 * cxib_link_width() - convert a link width to that of ib_verbs.h
 * @width: HW_IB_LINK_WIDTH_…; 0 while the link is down
 *
 * Return: enum ib_port_width; 4X for other values, as in other drivers.
 */
u8 cxib_link_width(u32 width)
{
	switch (width) {
	case HW_IB_LINK_WIDTH_2X:
		return IB_WIDTH_2X;
	case HW_IB_LINK_WIDTH_1X:
		return IB_WIDTH_1X;
	case HW_IB_LINK_WIDTH_8X:
		return IB_WIDTH_8X;
	case HW_IB_LINK_WIDTH_12X:
		return IB_WIDTH_12X;
	default:
		return IB_WIDTH_4X;
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_link_width);

/**
 * cxib_vl_code() - convert a number of virtual lanes to that of PortInfo
 * @vls: enum hw_vl_count
 *
 * Return: VLCap of PortInfo (IBA 14.2.5.6); 0 for a number that the specification does
 * not define.
 */
u8 cxib_vl_code(u32 vls)
{
	switch (vls) {
	case HW_VL_COUNT_VL0:
		return 1;
	case HW_VL_COUNT_VL0_1:
		return 2;
	case HW_VL_COUNT_VL0_3:
		return 3;
	case HW_VL_COUNT_VL0_7:
		return 4;
	case HW_VL_COUNT_VL0_14:
		return 5;
	default:
		return 0;
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_vl_code);

/**
 * cxib_port_event() - convert a port change event to that of ib_verbs.h
 * @change: sub-type of the event
 * @event: filled in
 *
 * Return: false if there is no event for it.
 */
bool cxib_port_event(enum hw_port_change_subtype change, enum ib_event_type *event)
{
	switch (change) {
	case HW_PORT_CHANGE_SUBTYPE_ACTIVE:
		*event = IB_EVENT_PORT_ACTIVE;
		return true;
	case HW_PORT_CHANGE_SUBTYPE_DOWN:
	case HW_PORT_CHANGE_SUBTYPE_INITIALIZED:
		*event = IB_EVENT_PORT_ERR;
		return true;
	case HW_PORT_CHANGE_SUBTYPE_LID:
		*event = IB_EVENT_LID_CHANGE;
		return true;
	case HW_PORT_CHANGE_SUBTYPE_PKEY:
		*event = IB_EVENT_PKEY_CHANGE;
		return true;
	case HW_PORT_CHANGE_SUBTYPE_GUID:
		*event = IB_EVENT_GID_CHANGE;
		return true;
	case HW_PORT_CHANGE_SUBTYPE_CLIENT_REREG:
		*event = IB_EVENT_CLIENT_REREGISTER;
		return true;
	default:
		return false;
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_port_event);

static void port_invalidate_tables(struct cxib_port *port)
{
	mutex_lock(&port->lock);
	port->gids_valid = false;
	port->pkeys_valid = false;
	mutex_unlock(&port->lock);
}

/*
 * The RDMA core reads the tables after most events, so the function invalidates the caches before
 * it dispatches the event.
 */
void cxib_port_changed(void *context, unsigned int number, enum hw_port_change_subtype change)
{
	struct cxib_ibdev *ibdev = context;
	struct ib_event event = { .device = &ibdev->ib, .element.port_num = number };

	if (number > ibdev->ib.phys_port_cnt) {
		ibdev_warn_ratelimited(&ibdev->ib,
				       "port change '%s' ignored: port %u out of range [1, %u]\n",
				       hw_port_change_subtype_name(change), number,
				       ibdev->ib.phys_port_cnt);
		return;
	}
	port_invalidate_tables(port_of(ibdev, number));
	if (change == HW_PORT_CHANGE_SUBTYPE_PKEY &&
	    cxib_gsi_defers_pkey_event(port_of(ibdev, number)))
		return;
	if (cxib_port_event(change, &event.event))
		ib_dispatch_event(&event);
	else
		ibdev_warn_ratelimited(&ibdev->ib, "unknown port change 0x%x ignored: port %u\n",
				       change, number);
}

static void port_fill_vport(struct ib_port_attr *attr, const struct cxib_vport *vport)
{
	attr->state = vport->state;
	attr->phys_state = vport->physical_state;
	attr->port_cap_flags = vport->capabilities;
	attr->port_cap_flags2 = vport->capabilities2;
	attr->lid = vport->lid;
	attr->lmc = vport->lmc;
	attr->sm_lid = vport->sm_lid;
	attr->sm_sl = vport->sm_sl;
	attr->subnet_timeout = vport->subnet_timeout;
	attr->init_type_reply = vport->init_type_reply;
	attr->bad_pkey_cntr = vport->p_key_violations;
	attr->qkey_viol_cntr = vport->q_key_violations;
}

/*
 * Port change events invalidate both caches. @again reads the GID table regardless: no event is
 * defined for each way in which the subnet prefix changes.
 */
static int port_load_gids(struct cxib_ibdev *ibdev, struct cxib_port *port, bool again)
{
	int err;

	lockdep_assert_held(&port->lock);

	if (port->gids_valid && !again)
		return 0;
	err = cxib_cmd_query_vport_gid(commands_of(ibdev), cxib_port_vport(ibdev, port),
				       port->gid_count, port->gids);
	port->gids_valid = !err;
	return err;
}

/* Each P_Key costs a command, so the table is read once for each event. */
static int port_load_pkeys(struct cxib_ibdev *ibdev, struct cxib_port *port)
{
	int err;

	lockdep_assert_held(&port->lock);

	if (port->pkeys_valid)
		return 0;
	err = cxib_cmd_query_vport_pkey(commands_of(ibdev), cxib_port_vport(ibdev, port),
					port->pkey_count, port->pkeys);
	port->pkeys_valid = !err;
	return err;
}

/* Without this, the RDMA core would take the prefix from the last GID, which need not exist. */
static int port_query_subnet_prefix(struct cxib_ibdev *ibdev, struct cxib_port *port, u64 *prefix)
{
	union ib_gid gid;
	int err;

	mutex_lock(&port->lock);
	err = port_load_gids(ibdev, port, false);
	memcpy(gid.raw, hw_gid_get_gid(&port->gids[0]), sizeof(gid.raw));
	mutex_unlock(&port->lock);
	*prefix = be64_to_cpu(gid.global.subnet_prefix);
	return err;
}

/*
 * Width and speed are informative, so a port works without them. If firmware refuses the command,
 * the driver reports the values of a link that is down. Monitoring tools query ports often, so the
 * driver logs only the first refusal.
 */
static int port_query_link(struct cxib_ibdev *ibdev, struct cxib_port *port,
			   struct ib_port_attr *attr)
{
	struct cxib_link link;
	int err;

	err = cxib_cmd_query_ptys(commands_of(ibdev), port->number, READ_ONCE(port->link_refused),
				  &link);
	WRITE_ONCE(port->link_refused, cxib_command_is_refusal(err));
	attr->active_width = cxib_link_width(link.width);
	/*
	 * The device and ib_verbs.h use the same bits. While the link is down, the lowest speed is
	 * reported.
	 */
	attr->active_speed = link.speed ?: IB_SPEED_SDR;
	return cxib_command_optional(err);
}

/*
 * If firmware refuses the command, the driver reports the smallest MTU, which each port supports
 * (IBA 14.2.5.6) and which is enough for MADs.
 */
static int port_query_mtu(struct cxib_ibdev *ibdev, struct cxib_port *port,
			  struct ib_port_attr *attr)
{
	struct cxib_mtu mtu;
	bool is_refused;
	int err;

	err = cxib_cmd_query_pmtu(commands_of(ibdev), port->number, READ_ONCE(port->mtu_refused),
				  &mtu);
	is_refused = cxib_command_is_refusal(err);
	WRITE_ONCE(port->mtu_refused, is_refused);
	attr->max_mtu = is_refused ? IB_MTU_256 : ib_mtu_int_to_enum(mtu.maximum);
	attr->active_mtu = is_refused ? IB_MTU_256 : ib_mtu_int_to_enum(mtu.operational);
	return cxib_command_optional(err);
}

int cxib_query_port(struct ib_device *ib, u32 number, struct ib_port_attr *attr)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib);
	struct cxib_port *port = port_of(ibdev, number);
	struct cxib_vport vport;
	int err;

	err = cxib_cmd_query_hca_vport(commands_of(ibdev), cxib_port_vport(ibdev, port), &vport);
	if (!err)
		err = port_query_link(ibdev, port, attr);
	if (!err)
		err = port_query_mtu(ibdev, port, attr);
	if (!err)
		err = port_query_subnet_prefix(ibdev, port, &attr->subnet_prefix);
	if (err)
		return err;
	port_fill_vport(attr, &vport);
	attr->max_vl_num = cxib_vl_code(port->vl_count);
	attr->max_msg_sz = 1U << ibdev->hw->caps.log_max_msg;
	attr->gid_tbl_len = port->gid_count;
	attr->pkey_tbl_len = port->pkey_count;
	return 0;
}

int cxib_modify_port(struct ib_device *ib, u32 number, int mask, struct ib_port_modify *change)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib);
	u32 select = change->clr_port_cap_mask | change->set_port_cap_mask;

	if (mask) {
		ibdev_dbg(ib, "modify port: unsupported mask 0x%x\n", mask);
		return -EOPNOTSUPP;
	}
	/* As in mlx5_ib_modify_port(), bits that are not selected are set in the value. */
	return cxib_cmd_modify_hca_vport(commands_of(ibdev),
					 cxib_port_vport(ibdev, port_of(ibdev, number)), select,
					 ~change->clr_port_cap_mask | change->set_port_cap_mask);
}

int cxib_get_port_immutable(struct ib_device *ib, u32 number, struct ib_port_immutable *facts)
{
	const struct cxib_port *port = port_of(to_ibdev(ib), number);

	facts->core_cap_flags = RDMA_CORE_PORT_IBA_IB;
	if (!port->has_smi)
		facts->core_cap_flags &= ~RDMA_CORE_CAP_IB_SMI;
	if (port->grh_required)
		facts->core_cap_flags |= RDMA_CORE_CAP_IB_GRH_REQUIRED;
	facts->max_mad_size = IB_MGMT_MAD_SIZE;
	facts->gid_tbl_len = port->gid_count;
	facts->pkey_tbl_len = port->pkey_count;
	return 0;
}

enum rdma_link_layer cxib_get_link_layer(struct ib_device *ib, u32 number)
{
	return IB_LINK_LAYER_INFINIBAND;
}

int cxib_query_gid(struct ib_device *ib, u32 number, int index, union ib_gid *gid)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib);
	struct cxib_port *port = port_of(ibdev, number);
	int err;

	if (index < 0 || index >= port->gid_count)
		return -EINVAL;
	mutex_lock(&port->lock);
	err = port_load_gids(ibdev, port, !index);
	memcpy(gid->raw, hw_gid_get_gid(&port->gids[index]), sizeof(gid->raw));
	mutex_unlock(&port->lock);
	return err;
}

int cxib_query_pkey(struct ib_device *ib, u32 number, u16 index, u16 *pkey)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib);
	struct cxib_port *port = port_of(ibdev, number);
	int err;

	if (index >= port->pkey_count)
		return -EINVAL;
	mutex_lock(&port->lock);
	err = port_load_pkeys(ibdev, port);
	*pkey = port->pkeys[index];
	mutex_unlock(&port->lock);
	return err;
}

/* Queries attributes that never change. */
static int port_query_constants(struct cxib_ibdev *ibdev, struct cxib_port *port)
{
	struct cxib_command_queue *commands = commands_of(ibdev);
	struct cxib_vport vport;
	int err;

	err = cxib_cmd_query_hca_vport(commands, cxib_port_vport(ibdev, port), &vport);
	if (err)
		return err;
	/* Informative only: 0 stands for an unknown number of virtual lanes. */
	err = cxib_command_optional(cxib_cmd_query_pvlc(commands, port->number,
							&port->vl_count));
	if (err)
		return err;
	port->has_smi = vport.has_smi;
	port->grh_required = vport.grh_required;
	ibdev->ib.node_guid = cpu_to_be64(vport.node_guid);
	ibdev->system_image_guid = vport.system_image_guid;
	return 0;
}

static int port_create(struct cxib_ibdev *ibdev, struct cxib_port *port, unsigned int number)
{
	const struct cxib_device_caps *caps = &ibdev->hw->caps;

	port->number = number;
	mutex_init(&port->lock);
	port->gid_count = MIN_GIDS << caps->gid_table_size;
	port->pkey_count = MIN_PKEYS << caps->pkey_table_size;
	port->gids = kcalloc(port->gid_count, sizeof(*port->gids), GFP_KERNEL);
	port->pkeys = kcalloc(port->pkey_count, sizeof(*port->pkeys), GFP_KERNEL);
	if (!port->gids || !port->pkeys)
		return -ENOMEM;
	return port_query_constants(ibdev, port);
}

/**
 * cxib_ports_create() - query the ports and allocate their tables
 * @ibdev: RDMA device
 *
 * Return: 0, -ENOMEM or the error of a command; the caller must call cxib_ports_destroy() even
 * after an error.
 */
int cxib_ports_create(struct cxib_ibdev *ibdev)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ibdev->hw->caps.num_ports && !err; i++)
		err = port_create(ibdev, &ibdev->ports[i], i + 1);
	return err;
}

/**
 * cxib_ports_destroy() - undo cxib_ports_create()
 * @ibdev: RDMA device without users
 */
void cxib_ports_destroy(struct cxib_ibdev *ibdev)
{
	unsigned int i;

	for (i = 0; i < CXIB_PORTS_MAX; i++) {
		kfree(ibdev->ports[i].gids);
		kfree(ibdev->ports[i].pkeys);
	}
}
