// SPDX-License-Identifier: GPL-2.0-only
/* Multicast groups of QPs. */
#include "hw/qp.h"
#include "verbs/qp/qp.h"

int cxib_attach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_qp *qp = to_qp(ib);

	return cxib_cmd_attach_to_mcg(commands_of(ibdev), cxib_qp_uid(qp), qp->qpn, gid->raw);
}

int cxib_detach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_qp *qp = to_qp(ib);

	if (cxib_command_queue_is_fatal(commands_of(ibdev)))
		return 0;
	return cxib_cmd_detach_from_mcg(commands_of(ibdev), cxib_qp_uid(qp), qp->qpn,
					gid->raw);
}
