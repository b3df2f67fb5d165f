/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page faults: transfers that wait for pages. The device tells of them in events
 * and goes on when it is answered.
 */
#ifndef CXIB_HW_PAGE_FAULTS_H
#define CXIB_HW_PAGE_FAULTS_H

#include <linux/sizes.h>
#include <linux/types.h>

#include "hw/events.h"

struct cxib_command_queue;

/* What faults that name the memory count, whatever the pages of the kernel. */
#define CXIB_FAULT_PAGE		SZ_4K

/**
 * struct cxib_page_fault - what waits for pages, as the device says
 * @subtype: whether a work request has led to them, or a request of the peer, or the
 *	device names the memory, whatever has led to it
 * @operation: HW_PAGE_FAULT_FLAGS_…: what meets them
 * @last: no further event belongs to the fault; before, only a failure is answered
 * @token: names the fault in the answer
 * @queue: number of the queue with the request; for a request of the peer the token
 * @bytes_committed: bytes of the message that are done
 * @packet_size: bytes of the packet
 * @wqe_index: of the work request in its queue
 * @key: memory key that the peer uses, or that lacks the pages
 * @length: bytes of the peer's request, or of the pages that are missing
 * @address: where they begin, or an address on the first page that is missing
 * @before: bytes before that page that may come in, too
 * @after: bytes behind the missing pages that may come in, too
 */
struct cxib_page_fault {
	enum hw_page_fault_subtype subtype;
	u8 operation;
	bool last;
	u64 token;
	u32 queue;
	u32 bytes_committed;
	u16 packet_size;
	u16 wqe_index;
	u32 key;
	u32 length;
	u64 address;
	u32 before;
	u32 after;
};

bool cxib_page_fault_decode(const struct hw_eqe *entry, struct cxib_page_fault *fault);
int cxib_cmd_page_fault_resume(struct cxib_command_queue *queue,
			       const struct cxib_page_fault *fault, bool failed);

#endif
