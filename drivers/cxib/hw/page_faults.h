/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page faults: transfers that the device suspends until pages are faulted in.
 * An event reports the fault, and PAGE_FAULT_RESUME resumes the transfer.
 */
#ifndef CXIB_HW_PAGE_FAULTS_H
#define CXIB_HW_PAGE_FAULTS_H

#include <linux/sizes.h>
#include <linux/types.h>

#include "hw/events.h"

struct cxib_command_queue;

/* Unit of memory scheme faults, independent of the host's page size. */
#define CXIB_FAULT_PAGE		SZ_4K

/**
 * struct cxib_page_fault - a page fault, as the event reports it
 * @subtype: whether the event names a WQE, a request of the remote peer, or an
 *	mkey (memory scheme)
 * @operation: HW_PAGE_FAULT_FLAGS_… of the transfer
 * @last: last event of the fault; the driver resumes earlier events only if they fail
 * @token: identifies the fault in PAGE_FAULT_RESUME
 * @queue: number of the queue with the WQE; the token if the event names a request of the peer
 * @bytes_committed: bytes of the message that are done
 * @packet_size: bytes of the packet
 * @wqe_index: index of the WQE in its queue
 * @key: R_Key of the peer's request, or mkey in the memory scheme
 * @length: bytes of the peer's request, or of the missing pages
 * @address: start of the peer's request, or an address in the first missing page
 * @before: bytes before that page that may be prefetched
 * @after: bytes after the missing pages that may be prefetched
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
