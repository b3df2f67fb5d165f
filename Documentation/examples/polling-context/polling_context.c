// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Example of a ULP with a polling context: its done() handlers run in the thread of a completion
 * vector where cxib drives the HCA, and in a softirq of the RDMA core where another driver does.
 * It says so in the kernel log, once for each HCA, and moves no data: one receive WR is flushed.
 */
#include <cxib/poll_context.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>

#define ENTRIES		16

/* What a ULP has for each HCA. */
struct example {
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct ib_cqe cqe;
};

static void example_done(struct ib_cq *cq, struct ib_wc *wc)
{
	dev_info(&cq->device->dev, "done() runs in %s: %s\n",
		 in_serving_softirq() ? "a softirq" : current->comm, ib_wc_status_msg(wc->status));
}

static struct ib_cq *example_alloc_cq(struct ib_device *device)
{
	static const struct cxib_cq_options options = { .context = CXIB_CQ_THREAD };
	struct ib_cq *cq = cxib_alloc_cq(device, NULL, ENTRIES, CXIB_ANY_VECTOR, &options);

	/* An HCA of another driver, or a cxib with another version of the header. */
	if (cq == ERR_PTR(-EOPNOTSUPP))
		cq = ib_alloc_cq_any(device, NULL, ENTRIES, IB_POLL_SOFTIRQ);
	return cq;
}

static struct ib_qp *example_create_qp(struct example *example)
{
	struct ib_qp_init_attr init = {
		.send_cq = example->cq,
		.recv_cq = example->cq,
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		/* One more than is posted: ib_drain_qp() posts, too. */
		.cap = { .max_send_wr = 1, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	return ib_create_qp(example->pd, &init);
}

/* The WR completes with an error, as the QP is in the error state from ib_drain_qp() on. */
static int example_use_qp(struct example *example)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1 };
	struct ib_recv_wr wr = { .wr_cqe = &example->cqe };
	int err;

	err = ib_modify_qp(example->qp, &attr,
			   IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	if (!err)
		err = ib_post_recv(example->qp, &wr, NULL);
	ib_drain_qp(example->qp);
	return err;
}

static int example_open(struct example *example, struct ib_device *device)
{
	int err;

	example->cqe.done = example_done;
	example->pd = ib_alloc_pd(device, 0);
	if (IS_ERR(example->pd))
		return PTR_ERR(example->pd);
	example->cq = example_alloc_cq(device);
	if (IS_ERR(example->cq)) {
		err = PTR_ERR(example->cq);
		goto dealloc_pd;
	}
	example->qp = example_create_qp(example);
	if (IS_ERR(example->qp)) {
		err = PTR_ERR(example->qp);
		goto free_cq;
	}
	err = example_use_qp(example);
	if (!err)
		return 0;
	ib_destroy_qp(example->qp);
free_cq:
	ib_free_cq(example->cq);
dealloc_pd:
	ib_dealloc_pd(example->pd);
	return err;
}

static struct ib_client example_client;

static int example_add(struct ib_device *device)
{
	struct example *example = kzalloc(sizeof(*example), GFP_KERNEL);
	int err;

	if (!example)
		return -ENOMEM;
	err = example_open(example, device);
	if (err) {
		kfree(example);
		return err;
	}
	ib_set_client_data(device, &example_client, example);
	return 0;
}

/* A CQ of cxib_alloc_cq() is freed as every other one. Afterwards cxib may be unloaded. */
static void example_remove(struct ib_device *device, void *client_data)
{
	struct example *example = client_data;

	ib_destroy_qp(example->qp);
	ib_free_cq(example->cq);
	ib_dealloc_pd(example->pd);
	kfree(example);
}

static struct ib_client example_client = {
	.name = "polling_context",
	.add = example_add,
	.remove = example_remove,
};

static int __init example_init(void)
{
	return ib_register_client(&example_client);
}
module_init(example_init);

static void __exit example_exit(void)
{
	ib_unregister_client(&example_client);
}
module_exit(example_exit);

MODULE_DESCRIPTION("Example of a ULP with a polling context of cxib");
MODULE_LICENSE("GPL");
