/* SPDX-License-Identifier: GPL-2.0-only */
/* Trace event of completion events that are dropped. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM cxib

#if !defined(CXIB_VERBS_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define CXIB_VERBS_TRACE_H

#include <linux/tracepoint.h>

#include "hw/trace_string.h"
#include "verbs/ibdev.h"

/* A completion event was dropped: there is no such CQ, or it is not armed. */
TRACE_EVENT(cq_late,
	    TP_PROTO(const struct cxib_ibdev *ibdev, u32 cqn, bool known),
	    TP_ARGS(ibdev, cqn, known),
	    TP_STRUCT__entry(__string(device, dev_name(&ibdev->ib.dev))
			     __field(u32, cqn)
			     __field(bool, known)),
	    TP_fast_assign(cxib_assign_str(device, dev_name(&ibdev->ib.dev));
			   __entry->cqn = cqn;
			   __entry->known = known;),
	    TP_printk("%s CQ 0x%x known %u", __get_str(device), __entry->cqn, __entry->known)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH verbs
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
