// SPDX-License-Identifier: GPL-2.0-only
/* Multicast groups of QPs. */
#include <linux/delay.h>

#include "hw/qp.h"
#include "verbs/qp/qp.h"

int cxib_attach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_qp *qp = to_qp(ib);

	return cxib_cmd_attach_to_mcg(commands_of(ibdev), cxib_qp_uid(qp), qp->qpn, gid->raw);
}

/*
 * ib_uverbs_detach_mcast() has forgotten the group when it calls this function, and does not try
 * again: after an error nobody could destroy the QP any more. So this waits for the little memory
 * that the command needs.
 */
int cxib_detach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_qp *qp = to_qp(ib);
	int err;

	for (;;) {
		if (cxib_command_queue_is_fatal(commands_of(ibdev)))
			return 0;
		err = cxib_cmd_detach_from_mcg(commands_of(ibdev), cxib_qp_uid(qp), qp->qpn,
					       gid->raw);
		if (err != -ENOMEM)
			return err;
		msleep(20);
	}
}
