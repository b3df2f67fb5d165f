// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ibv_alloc_null_mr() is for WRs that access no host memory. Expected on a device with a null mkey:
 * data written from the MR arrive as zeros, and a READ into the MR succeeds.
 */
#include "verbs_pair.h"

#define LENGTH (1U << 20)

static void transfer_with(struct end *a, struct end *b, struct ibv_mr *null, enum ibv_wr_opcode opcode)
{
	enum ibv_wc_status status;

	MUST(post_rdma(a->qp, opcode, 0, null->lkey, LENGTH, (uintptr_t)b->memory, b->mr->rkey, 1));
	status = await(a->cq).status;
	if (status)
		fail("opcode %d with the null region: %s", opcode, ibv_wc_status_str(status));
}

int main(void)
{
	struct end a = {}, b = {};
	struct ibv_mr *null;
	size_t i;

	make_pair(&a, &b, LENGTH);
	errno = 0;
	null = ibv_alloc_null_mr(a.pd);
	if (!null)
		fail("ibv_alloc_null_mr: %s", strerror(errno));
	memset(b.memory, 0x5a, LENGTH);
	transfer_with(&a, &b, null, IBV_WR_RDMA_READ);
	transfer_with(&a, &b, null, IBV_WR_RDMA_WRITE);
	for (i = 0; i < LENGTH; i++)
		if (b.memory[i])
			fail("byte %zu is 0x%02x, not 0", i, b.memory[i]);
	MUST(ibv_dereg_mr(null));
	pass("requests with the null region complete");
}
