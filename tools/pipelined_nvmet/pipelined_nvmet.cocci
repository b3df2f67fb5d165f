// SPDX-License-Identifier: GPL-2.0-or-later
/// Lets nvmet-rdma post the data of a read with protection information together with its response.
///
/// Where the HCA finds a wrong block it cancels the response, which is then posted again with the error. Without
/// cxib, or on another HCA, the target works as before. Each rule depends on the one before: only sources that fit
/// all of them get the include of the last one.
// Options: --no-includes --include-headers

@r_queue@
@@
 struct nvmet_rdma_queue {
 	...
 	struct ib_qp *qp;
+	bool pipelined;
 	...
 };

@r_response depends on r_queue@
@@
 struct nvmet_rdma_rsp {
 	...
 	struct rdma_rw_ctx rw;
+	bool pipelined;
 	...
 };

@r_enable depends on r_response@
identifier queue, attr, ret, ndev;
@@
 static int nvmet_rdma_create_queue_ib(struct nvmet_rdma_queue *queue)
 {
 	...
 	ret = rdma_create_qp(queue->cm_id, ndev->pd, &attr);
 	...
 	queue->qp = queue->cm_id->qp;
+	queue->pipelined = attr.create_flags & IB_QP_CREATE_INTEGRITY_EN &&
+			   nvmet_rdma_enable_pipelining(queue->qp);
 	...
 }

@r_enable_function depends on r_enable@
@@
+/* The HCA stops the queue at a wrong block, and its driver cancels the response behind it. */
+static bool nvmet_rdma_enable_pipelining(struct ib_qp *qp)
+{
+	const struct cxib_signature_pipelining *pipelining = cxib_signature_pipelining(qp->device);
+
+	return pipelining && !pipelining->enable(qp, CXIB_SIGNATURE_AUTOMATIC);
+}
+
 static int nvmet_rdma_create_queue_ib(...) { ... }

@r_post depends on r_enable_function@
identifier req, rsp, first_wr;
statement S;
@@
 static void nvmet_rdma_queue_response(struct nvmet_req *req)
 {
 	...
+	rsp->pipelined = false;
+	rsp->send_wr.send_flags &= ~IB_SEND_FENCE;
 	if (nvmet_rdma_need_data_out(rsp)) {
-		if (rsp->req.metadata_len)
+		rsp->pipelined = rsp->req.metadata_len && rsp->queue->pipelined;
+		if (rsp->pipelined)
+			first_wr = cxib_pipelined_wrs(&rsp->rw, rsp->queue->qp, rsp->queue->cm_id->port_num,
+						      &rsp->send_wr);
+		else if (rsp->req.metadata_len)
 			first_wr = rdma_rw_ctx_wrs(...);
 		else S
 	} else { ... }
 	...
 }

@r_done depends on r_post@
identifier cq, wc, rsp;
@@
 static void nvmet_rdma_send_done(struct ib_cq *cq, struct ib_wc *wc)
 {
 	...
+	if (rsp->pipelined && nvmet_rdma_pipelined_done(rsp, wc))
+		return;
 	nvmet_rdma_release_rsp(rsp);
 	...
 }

@r_done_functions depends on r_done@
@@
+/* The data are on the initiator, but wrong: the response was cancelled and is posted with the error. */
+static void nvmet_rdma_respond_again(struct nvmet_rdma_rsp *rsp)
+{
+	struct nvmet_rdma_queue *queue = rsp->queue;
+	struct ib_device *device = queue->dev->device;
+	u16 status = nvmet_rdma_check_pi_status(rsp->rw.reg->mr);
+
+	nvmet_rdma_rw_ctx_destroy(rsp);
+	atomic_add(rsp->n_rdma, &queue->sq_wr_avail);
+	rsp->n_rdma = 0;
+	rsp->pipelined = false;
+	rsp->send_wr.send_flags &= ~IB_SEND_FENCE;
+	ib_dma_sync_single_for_cpu(device, rsp->send_sge.addr, rsp->send_sge.length, DMA_TO_DEVICE);
+	/* Whatever the HCA has reported, the response must not be a good one. */
+	rsp->req.cqe->status = cpu_to_le16((status ?: NVME_SC_INVALID_PI) << 1);
+	ib_dma_sync_single_for_device(device, rsp->send_sge.addr, rsp->send_sge.length, DMA_TO_DEVICE);
+	if (unlikely(ib_post_send(queue->qp, &rsp->send_wr, NULL))) {
+		pr_err("sending cmd response failed\n");
+		nvmet_rdma_release_rsp(rsp);
+	}
+}
+
+/* Returns whether the response is posted again. */
+static bool nvmet_rdma_pipelined_done(struct nvmet_rdma_rsp *rsp, const struct ib_wc *wc)
+{
+	if (cxib_wc_is_cancelled(wc)) {
+		nvmet_rdma_respond_again(rsp);
+		return true;
+	}
+	/* A good response for a wrong block has been sent: no later one can be trusted. */
+	if (wc->status == IB_WC_SUCCESS && unlikely(nvmet_rdma_check_pi_status(rsp->rw.reg->mr)))
+		nvmet_rdma_error_comp(rsp->queue);
+	return false;
+}
+
 static void nvmet_rdma_send_done(...) { ... }

@r_version depends on r_done_functions@
declarer name MODULE_LICENSE, MODULE_VERSION;
expression license;
@@
 MODULE_LICENSE(license);
+/* dkms of Debian 12 does not install a module of the same version as the kernel's, which has none. */
+MODULE_VERSION("cxib");

@r_header depends on r_version@
@@
 #include <rdma/rw.h>
+#include <cxib/signature_pipelining.h>
