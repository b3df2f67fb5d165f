/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CQ commands. Errors are those of cxib_cmd_exec() unless another is
 * named; all functions sleep.
 */
#ifndef CXIB_HW_CQ_H
#define CXIB_HW_CQ_H

#include <linux/types.h>

#include "hw/contexts.h"

struct cxib_buffer;
struct cxib_command_queue;

/**
 * struct cxib_cq_params - attributes of a CQ
 * @uid: owner uid; 0: kernel
 * @buffer: ring, initialized with invalid CQEs
 * @log_size: log2 of the number of CQEs
 * @entry_size: CQE size
 * @compress: enable CQE compression
 * @format: mini CQE format, if compressed
 * @ignore_overrun: the device may overwrite CQEs that were not polled
 * @uar: index of the UAR page with its doorbell
 * @eqn: EQN of the completion EQ
 * @dbr: DMA address of the doorbell record
 */
struct cxib_cq_params {
	u16 uid;
	const struct cxib_buffer *buffer;
	unsigned int log_size;
	enum hw_cqe_size entry_size;
	bool compress;
	enum hw_mini_cqe_format format;
	bool ignore_overrun;
	u32 uar;
	u32 eqn;
	dma_addr_t dbr;
};

int cxib_cmd_create_cq(struct cxib_command_queue *queue, const struct cxib_cq_params *params,
		       u32 *cqn);
int cxib_cmd_destroy_cq(struct cxib_command_queue *queue, u16 uid, u32 cqn);
int cxib_cmd_modify_cq_moderation(struct cxib_command_queue *queue, u16 uid, u32 cqn, u16 count,
				  u16 microseconds);
int cxib_cmd_resize_cq(struct cxib_command_queue *queue, u32 cqn,
		       const struct cxib_cq_params *params, u8 *status);

#endif
