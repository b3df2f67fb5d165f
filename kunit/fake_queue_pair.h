/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A UD QP with memory. Its device is passive: cases write the CQEs.
 */
#ifndef CXIB_KUNIT_FAKE_QUEUE_PAIR_H
#define CXIB_KUNIT_FAKE_QUEUE_PAIR_H

#include <linux/sizes.h>

#include "fake_hca.h"
#include "kernel_kunit.h"
#include "verbs/qp/qp.h"

#define FAKE_QPN		0x123456
#define FAKE_LOG_CQ		3
#define FAKE_LOG_BLOCKS		7
#define FAKE_LOG_RQ_SIZE	2
#define FAKE_RECV_SIZE		SZ_1M
#define FAKE_SEND_LKEY		5
#define FAKE_RECV_LKEY		6

/* wr_id of the first WR of fake_post_sq() and of fake_post_recvs(). */
#define FAKE_SEND_ID		100
#define FAKE_RECV_ID		200

/* A send with one SGE: control segment, AV of 3 DS, data segment. */
#define FAKE_SEND_DS		5
#define FAKE_SEND_WQEBBS	DIV_ROUND_UP(FAKE_SEND_DS, CXIB_DS_PER_WQEBB)

/* Capabilities of the device. */
#define FAKE_LOG_MAX_WQES	15
#define FAKE_MAX_SQ_WQE		1024
#define FAKE_MAX_RQ_WQE		512

/* SGEs of an RQ WQE, and log2 of its size in bytes. */
#define FAKE_RQ_SGE		2
#define FAKE_LOG_RQ_STRIDE	5
#define FAKE_DOORBELL_WORDS	512

/**
 * struct fake_queue_pair - a QP, its CQ and its device
 * @hca: device for DMA memory and commands
 * @hw: a device that was not brought up
 * @ibdev: its RDMA device, not registered
 * @cq: CQ of SQ and RQ, 8 CQEs
 * @qp: the QP: SQ of 128 WQEBBs, RQ of 4 WQEs with %FAKE_RQ_SGE SGEs
 * @doorbells: UAR page
 * @dbr: doorbell record of @qp
 * @cq_record: doorbell record of @cq
 * @written: CQEs that the cases have written
 */
struct fake_queue_pair {
	struct fake_hca *hca;
	struct cxib_hw hw;
	struct cxib_ibdev ibdev;
	struct cxib_cq cq;
	struct cxib_qp qp;
	u64 doorbells[FAKE_DOORBELL_WORDS];
	__be32 dbr[2];
	__be32 cq_record[2];
	u32 written;
};

struct fake_queue_pair *fake_queue_pair_create(struct kunit *test);
void fake_queue_pair_start(struct fake_queue_pair *fake, fake_script script, void *context);
struct hw_cqe64 *fake_completion(struct fake_queue_pair *fake, enum hw_cqe_opcode opcode);
void *fake_block(struct fake_queue_pair *fake, u32 block);
void fake_post_sq(struct kunit *test, struct fake_queue_pair *fake, unsigned int count);
void fake_post_recvs(struct kunit *test, struct fake_queue_pair *fake, unsigned int count);

/* The EQ of the CQ reports it. */
static inline void fake_completion_event(struct cxib_ibdev *ibdev, u32 cqn)
{
	const struct cxib_cq *cq = xa_load(&ibdev->cqs, cqn);

	cxib_completion_event(ibdev, cq ? cq->eq : NULL, cqn);
}

#endif
