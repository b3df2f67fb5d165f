// SPDX-License-Identifier: GPL-2.0-only
/* Multicast groups of queue pairs. */
#include "hw/queues.h"
#include "verbs/qp/qp.h"

int cxib_attach_multicast(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	struct cxib_verbs *verbs = to_verbs(ib->device);
	struct cxib_qp *qp = to_qp(ib);

	return cxib_attach_to_multicast(commands_of(verbs), cxib_qp_uid(qp), qp->number, gid->raw);
}

int cxib_detach_multicast(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	struct cxib_verbs *verbs = to_verbs(ib->device);
	struct cxib_qp *qp = to_qp(ib);

	if (cxib_command_queue_is_broken(commands_of(verbs)))
		return 0;
	return cxib_detach_from_multicast(commands_of(verbs), cxib_qp_uid(qp), qp->number,
					  gid->raw);
}
