// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <infiniband/verbs.h>
#include <stddef.h>

/*
 * A program of 2008 may use this name for a member of its own structure, as GASNet's ibv-conduit
 * does.
 */
struct of_a_program {
	uint32_t xrc_remote_srq_num;
	uint32_t xrc_qp_num;
	uint32_t xrc_domain;
};

/** A table of verbs, as in programs that look verbs up with dlsym(). */
struct verbs_of_a_program {
	struct ibv_qp *(*ibv_create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *init_attr);
};

/** The function's address is that of the function behind the call, which leaves the SRQ out. */
struct ibv_qp *create_by_member(const struct verbs_of_a_program *verbs, struct ibv_pd *pd, struct ibv_qp_init_attr *init_attr);

struct ibv_qp *create_by_member(const struct verbs_of_a_program *verbs, struct ibv_pd *pd, struct ibv_qp_init_attr *init_attr)
{
	return verbs->ibv_create_qp(pd, init_attr);
}

/** Uses each function and member as a C program does. */
struct ibv_qp *use_each_name(struct ibv_context *context, struct ibv_pd *pd, struct ibv_cq *cq, struct of_a_program *own);

struct ibv_qp *use_each_name(struct ibv_context *context, struct ibv_pd *pd, struct ibv_cq *cq, struct of_a_program *own)
{
	struct ibv_xrc_domain *domain = ibv_open_xrc_domain(context, -1, 0);
	struct ibv_qp_init_attr init_attr = { .qp_type = IBV_QPT_XRC, .xrc_domain = domain };
	struct ibv_srq_init_attr srq_init_attr = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_xrc_srq(pd, domain, cq, &srq_init_attr);
	struct ibv_send_wr wr = { .xrc_remote_srq_num = srq->xrc_srq_num };
	struct ibv_async_event event;
	struct ibv_qp_attr attr;

	if (ibv_get_async_event(context, &event))
		return NULL;
	if (event.event_type & IBV_XRC_QP_EVENT_FLAG)
		own->xrc_qp_num = event.element.xrc_qp_num;
	own->xrc_remote_srq_num = wr.xrc_remote_srq_num;
	init_attr.srq = srq;
	if (ibv_create_xrc_rcv_qp(&init_attr, &own->xrc_qp_num) ||
	    ibv_modify_xrc_rcv_qp(domain, own->xrc_qp_num, &attr, IBV_QP_STATE) ||
	    ibv_query_xrc_rcv_qp(domain, own->xrc_qp_num, &attr, 0, &init_attr) ||
	    ibv_reg_xrc_rcv_qp(domain, own->xrc_qp_num) || ibv_unreg_xrc_rcv_qp(domain, own->xrc_qp_num) ||
	    ibv_close_xrc_domain(domain))
		return NULL;
	return create_by_member(&(struct verbs_of_a_program){ .ibv_create_qp = ibv_create_qp }, pd, &init_attr);
}
