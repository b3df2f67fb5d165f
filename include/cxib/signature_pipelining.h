/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Signature pipelining: a ULP posts a transfer of data with protection information together with
 * the response that follows it. If the signature of the data is wrong, the device stops the send
 * queue before the response, which is then cancelled.
 *
 * A ULP finds the functions at run time, so its module does not depend on cxib:
 *
 *	const struct cxib_signature_pipelining *pipelining = cxib_signature_pipelining(device);
 *
 *	if (pipelining && !pipelining->enable(qp, CXIB_SIGNATURE_AUTOMATIC))
 *		(post transfer and response together with cxib_pipelined_wrs())
 *
 * Rules for the WRs of such a QP:
 *
 * - The transfer, an RDMA WRITE (without immediate) or an RDMA READ of an integrity MR, is
 *   unsignaled. Its response follows in the same ib_post_send(), is signaled, and has
 *   IB_SEND_FENCE. No other signaled WR is between the two. Other WRs have no integrity MR.
 * - A transfer may be signaled instead. Then the ULP checks the MR when the transfer completes, and
 *   posts the response afterwards: no WR with IB_SEND_FENCE follows in the same ib_post_send().
 * - With either policy, ib_post_send() posts all WRs of a list or none. If it refuses any of them,
 *   for whatever reason, bad_wr is the first WR of the list.
 * - With %CXIB_SIGNATURE_AUTOMATIC, ib_post_send() refuses a list that breaks these rules with
 *   -EINVAL.
 * - The device reports one signature error of a registration. Later transfers of the MR that are
 *   posted already are cancelled, too: their responses, and those of them that are signaled. With
 *   either policy, ib_post_send() refuses a WR with an MR that has failed since its registration
 *   with -EINVAL.
 * - Each signature error takes an entry of the send CQ: the CQ needs an entry for each signaled WR
 *   and one for each MR that is registered at a time. If the CQ overruns, or errors cannot be
 *   explained, errors of MRs that are in use may be lost: ib_check_mr_status() and the registration
 *   of such an MR return -EIO, and the MR must be deregistered.
 * - When a response is complete, successfully or not, ib_check_mr_status() must be called for each
 *   MR of its transfer before the MR is registered again. It must not be called before, and the MR
 *   must not be deregistered before. If the driver cannot find the MR of a signature error, the QP
 *   goes to ERR with IB_EVENT_QP_FATAL.
 *
 * ib_modify_qp() cannot resume a stopped QP:
 *
 * - With %CXIB_SIGNATURE_AUTOMATIC it handles the stop before it changes attributes or leaves SQD,
 *   also a stop that prevents the change. While it repeats the change, the device executes no WR
 *   that is posted meanwhile, so that stops come to an end. If all that takes more than 5 seconds,
 *   it returns -EBUSY, and the ULP may try again.
 * - With %CXIB_SIGNATURE_AUTOMATIC, ib_query_qp() does not show SQD because of a stop.
 * - With %CXIB_SIGNATURE_MANUAL it returns -EBUSY until @resume was called, unless the new state is
 *   SQD, ERR or RESET.
 * - SQD requested by the ULP ends only with ib_modify_qp() to RTS. IB_EVENT_SQ_DRAINED for it is
 *   raised when the WRs posted before are complete, also those behind a stop.
 *
 * A signature error that the driver cannot assign to a transfer, or a stop without a signature
 * error, moves the QP to ERR, and IB_EVENT_QP_FATAL is raised, with either policy. Both events are
 * raised in process context by a work item, never by the functions below or by ib_modify_qp().
 */
#ifndef CXIB_SIGNATURE_PIPELINING_H
#define CXIB_SIGNATURE_PIPELINING_H

#include <cxib/functions.h>
#include <rdma/ib_verbs.h>
#include <rdma/rw.h>

/* Increased with each incompatible change of struct cxib_signature_pipelining. */
#define CXIB_SIGNATURE_PIPELINING_ABI	1

/*
 * vendor_err of a cancelled WR. Its status is IB_WC_WR_FLUSH_ERR: a ULP that does not look at
 * vendor_err takes it for one that was not sent, which is right. Devices have only 8 bits.
 */
#define CXIB_VENDOR_ERR_CANCELLED	0x100

/**
 * enum cxib_signature_policy - who handles a stop of the send queue
 * @CXIB_SIGNATURE_AUTOMATIC: the driver cancels the response of each failed transfer and resumes
 *	the QP. The ULP gets a marked completion of the response, see cxib_wc_is_cancelled(), and
 *	no IB_EVENT_SQ_DRAINED.
 * @CXIB_SIGNATURE_MANUAL: the ULP cancels and resumes, after IB_EVENT_SQ_DRAINED. The event
 *	handler of the QP is called in process context, may sleep and call all functions below; it
 *	must not destroy the QP. All errors found before the stop can be fetched then.
 */
enum cxib_signature_policy {
	CXIB_SIGNATURE_AUTOMATIC,
	CXIB_SIGNATURE_MANUAL,
};

/**
 * struct cxib_signature_pipelining - functions for the QPs of a device
 * @abi: %CXIB_SIGNATURE_PIPELINING_ABI
 * @enable: let signature errors stop the send queue of a kernel QP of the device, until the QP is
 *	destroyed. Process context, may sleep. Returns 0;
 *	-EOPNOTSUPP: the device lacks signature pipelining, or is one of another driver,
 *	-EINVAL: not an RC QP with IB_QP_CREATE_INTEGRITY_EN, not in RESET or INIT, an unknown
 *	policy, or %CXIB_SIGNATURE_AUTOMATIC for a QP with IB_SIGNAL_ALL_WR,
 *	-EALREADY: enabled before; -ENOMEM; or an error of the device.
 * @next_failed: fetch the next MR with a signature error. %CXIB_SIGNATURE_MANUAL, QP stopped;
 *	any context. Returns the MR, and its error in @err; NULL if there is no further one, or if
 *	the QP is not stopped. ib_check_mr_status() reports the error again. The driver holds no
 *	reference to the MR: the ULP must not deregister an MR of the QP before it has fetched all
 *	failed MRs and has done with them.
 * @cancel: turn the posted WRs with this wr_cqe into ones that send nothing. They complete with
 *	the mark of cxib_wc_is_cancelled() if they are signaled. %CXIB_SIGNATURE_MANUAL, QP
 *	stopped; any context. Returns their number, 0 if none waits to be sent;
 *	-EINVAL: @cqe is NULL, or the policy is another one,
 *	-EBUSY: the QP is not stopped,
 *	-ENOTCONN: the QP is in ERR or RESET, also if only the device has moved it there, or the
 *	device is fatal,
 *	-EOPNOTSUPP: one of the WRs registers or invalidates an MR; then none is cancelled.
 * @resume: move a stopped QP back to RTS. %CXIB_SIGNATURE_MANUAL; process context, may sleep.
 *	Returns 0;
 *	-EBUSY: @next_failed has not returned NULL since the stop. The ULP cancels the response of
 *	each MR before it calls @next_failed again, so that a second thread cannot resume the QP
 *	in between,
 *	-EINVAL: the QP is not stopped, or the policy is another one,
 *	-ENOTCONN: the QP is in ERR or RESET, or the device is fatal,
 *	or another error: then the QP is in ERR, and IB_EVENT_QP_FATAL follows.
 */
struct cxib_signature_pipelining {
	u32 abi;
	int (*enable)(struct ib_qp *qp, enum cxib_signature_policy policy);
	struct ib_mr *(*next_failed)(struct ib_qp *qp, struct ib_sig_err *err);
	int (*cancel)(struct ib_qp *qp, struct ib_cqe *cqe);
	int (*resume)(struct ib_qp *qp);
};

/**
 * cxib_signature_pipelining() - find the functions
 * @device: RDMA device, registered by any driver
 *
 * No reference to cxib is kept: its module cannot be unloaded before the ULP's ib_client has
 * destroyed all QPs of @device.
 *
 * Context: any.
 * Return: the functions, valid as long as @device; NULL if it has no signature pipelining.
 */
static inline const struct cxib_signature_pipelining *
cxib_signature_pipelining(struct ib_device *device)
{
	const struct cxib_functions *functions = cxib_functions(device);
	const struct cxib_signature_pipelining *table;

	table = functions ? functions->signature_pipelining(device) : NULL;
	return table && table->abi == CXIB_SIGNATURE_PIPELINING_ABI ? table : NULL;
}

/**
 * cxib_pipelined_wrs() - the WRs of a transfer with the response behind it
 * @ctx: as for rdma_rw_ctx_wrs()
 * @qp: as for rdma_rw_ctx_wrs(), with signature pipelining
 * @port_num: as for rdma_rw_ctx_wrs()
 * @response: the response, signaled; IB_SEND_FENCE is added to its send_flags and stays there
 *
 * Return: the first WR, to be passed to ib_post_send().
 */
static inline struct ib_send_wr *cxib_pipelined_wrs(struct rdma_rw_ctx *ctx, struct ib_qp *qp,
						    u32 port_num, struct ib_send_wr *response)
{
	response->send_flags |= IB_SEND_FENCE;
	return rdma_rw_ctx_wrs(ctx, qp, port_num, NULL, response);
}

/**
 * cxib_wc_is_cancelled() - whether a WR was cancelled after a signature error
 * @wc: completion of a QP with signature pipelining
 *
 * Return: true if the WR has sent nothing although the QP works. A cancelled SEND with invalidate
 * has invalidated nothing.
 */
static inline bool cxib_wc_is_cancelled(const struct ib_wc *wc)
{
	return wc->status == IB_WC_WR_FLUSH_ERR && wc->vendor_err == CXIB_VENDOR_ERR_CANCELLED;
}

#endif
